/* Return one line for each fault of a page of play, such as a panel that covers another one. `uncovered.py` runs
 * this function in the page. */
() => {
  const play = document.querySelector("[data-play]");
  const seen = (selector) => [...play.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const box = (one) => one.getBoundingClientRect();
  const name = (one) => one.id || one.className;
  const sheet = seen("[data-play-area]").find((one) => getComputedStyle(one).position === "fixed");
  const panels = seen(".topbar, .col-orders, .col-kitchen, .col-state, .col-scene, .collab-kitchen, .talk, #menu").filter(
    (one) => !sheet?.contains(one) && getComputedStyle(one).display !== "contents",
  );
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const apart = (one, other) => !one.contains(other) && !other.contains(one);

  function atScroll(place, look) {
    const before = scrollY;
    scrollTo(0, place);
    const found = look();
    scrollTo(0, before);
    return found;
  }

  const overEachOther = () =>
    panels.flatMap((one, at) =>
      panels.slice(at + 1).filter((other) => apart(one, other) && over(box(one), box(other))).map((other) => `${name(one)} and ${name(other)}`),
    );

  /* the drawing that one plays with: all of it between the bar and the sheet, or as much as there is room for */
  function behindSheet() {
    const top = box(sheet).top;
    const bar = box(play.querySelector(".topbar")).bottom;
    const drawn = seen("[data-stage], [data-board]");
    const hidden = drawn.filter((one) => box(one).bottom > top + 1 || box(one).top < bar - 1).map((one) => {
      return `${name(one)} from ${box(one).top.toFixed()} to ${box(one).bottom.toFixed()}, bar to ${bar}, sheet from ${top.toFixed()}`;
    });
    return top - bar < innerHeight / 3 ? [...hidden, `the sheet leaves ${(top - bar).toFixed()} of ${innerHeight} px`] : hidden;
  }

  /* at the end of the page nothing is behind the sheet, so that all of it can be read */
  const behindAtEnd = () => panels.filter((one) => box(one).bottom > box(sheet).top + 1).map((one) => `${name(one)} stays behind the sheet`);

  const wide = document.documentElement.scrollWidth > innerWidth ? ["too wide"] : [];
  const few = panels.length < 2 ? ["no panels"] : [];
  const behind = sheet ? [...behindSheet(), ...atScroll(document.documentElement.scrollHeight, behindAtEnd)] : [];
  /* who has no actions, such as a leader, has no sheet; nor has the kitchen of two rooms */
  const needed = innerWidth <= 640 && play.querySelector("#menu") && !play.querySelector(".is-collab, #over.is-over");
  const none = needed && !sheet ? ["no sheet at the foot"] : [];
  return [...atScroll(0, overEachOther), ...behind, ...none, ...wide, ...few];
};
