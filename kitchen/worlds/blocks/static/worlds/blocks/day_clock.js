/* The time that is left, as a day: the sun moves along the upper edge of the map, and the meadow darkens towards the end.
   `dayClock` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const clock = play?.querySelector("[data-day]");
  if (!clock) return;

  const NOON = 0.4; // of the time, until which it does not darken
  const PARTS = 12; // of the evening: the picture is drawn anew for each
  const { world } = play.mapBlocks;
  const { view } = play.mapCamera;
  view.evening = 0; // how late it is: 0 to 1

  function show() {
    const [left, most] = world.now.day;
    const share = most ? 1 - left / most : 0;
    clock.hidden = !most;
    clock.style.setProperty("--day", share.toFixed(3));
    clock.classList.toggle("is-late", share > 0.85);
    clock.querySelector("b").textContent = String(left);
    view.evening = world.ground.box ? Math.round(PARTS * Math.max(0, (share - NOON) / (1 - NOON))) / PARTS : 0;
  }

  play.dayClock = { show };
})();
