/* What lies over the drawn kitchen, or keeps it out of sight, whichever panel of the page is shown; a line for each. */
() => {
  const play = document.querySelector("[data-play]");
  const OTHERS = ".topbar, .hint, #menu, #plan-fold, #requests, #ask, #asked, #score, .talk, .collab-tabs, .cook-queues";

  /* of an element what its scrolling ancestors and the window show */
  function seen(one) {
    let { top, bottom, left, right } = one.getBoundingClientRect();
    for (let parent = one.parentElement; parent; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflowY === "visible") continue;
      const box = parent.getBoundingClientRect();
      [top, left] = [Math.max(top, box.top), Math.max(left, box.left)];
      [bottom, right] = [Math.min(bottom, box.bottom), Math.min(right, box.right)];
    }
    return { top: Math.max(top, 0), left: Math.max(left, 0), bottom: Math.min(bottom, innerHeight), right: Math.min(right, innerWidth) };
  }

  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;

  function look(name) {
    const frame = play.querySelector(".board-frame");
    const [board, whole] = [seen(frame), frame.getBoundingClientRect()];
    const cut = whole.width < 150 || board.bottom - board.top < whole.height - 1 || board.right - board.left < whole.width - 1;
    const covers = [...play.querySelectorAll(OTHERS)].filter((one) => one.checkVisibility() && overlap(board, seen(one)));
    const wide = document.documentElement.scrollWidth > innerWidth;
    return [...covers.map((one) => one.id || one.className), ...(cut ? ["cut"] : []), ...(wide ? ["too wide"] : [])].map((what) => `${name}: ${what}`);
  }

  const tabs = [...play.querySelectorAll("[data-panel-tab]")].filter((tab) => tab.checkVisibility());
  const found = tabs.flatMap((tab) => {
    tab.click();
    return look(tab.dataset.panelTab);
  });
  tabs[0]?.click();
  return tabs.length ? found : look("all");
};
