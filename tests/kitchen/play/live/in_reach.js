/* Return a line for each element that a person cannot see and press in full, however they scroll. Of each element, the
   middle and four points near its corners must be met. */
(selectors) => {
  const name = (one) => `${one.id || one.dataset.spot || one.className} ${one.textContent.trim().slice(0, 30)}`;
  const points = [[0.5, 0.5], [0.12, 0.2], [0.88, 0.2], [0.12, 0.8], [0.88, 0.8]];

  function meets(one, [x, y]) {
    const { left, top, width, height } = one.getBoundingClientRect();
    const there = document.elementFromPoint(left + x * width, top + y * height);
    return Boolean(there) && (one.contains(there) || there.contains(one) && there.closest("label, button") === one.closest("label, button"));
  }

  /* by wheel or finger: to an edge of what is free, or its middle */
  function hidden(one) {
    const left = new Set(points);
    for (const block of ["nearest", "center", "start", "end"]) {
      one.scrollIntoView({ block, inline: "nearest", behavior: "instant" });
      for (const point of left) if (meets(one, point)) left.delete(point);
      if (!left.size) return [];
    }
    return [`${name(one)}: ${left.size} of 5 points`];
  }

  const wrong = document.documentElement.scrollWidth > innerWidth ? ["too wide"] : [];
  for (const selector of selectors) {
    const all = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility({ visibilityProperty: true }));
    if (!all.length) wrong.push(`none: ${selector}`);
    wrong.push(...all.flatMap(hidden));
  }
  scrollTo(0, 0);
  return wrong;
}
