/* What builders are seen to do on the map of the blocks worlds: whoever is nearest to a block that came or went swings a
   tool. The page does not say who it was; builders reach only what is near. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const SWINGS = 700; // milliseconds
  const REACH = 6; // cells

  /* the first cell of a chunk that has another block than before, or null */
  function changedCell(name, before, after, chunk) {
    const length = Math.max(before.length, after.length);
    let at = 0;
    while (at < length && before[at] === after[at]) at += 1;
    if (at === length) return null;
    const [east, south] = name.replace("chunk-", "").split("_").map(Number);
    return [east * chunk + (at % chunk), south * chunk + (Math.floor(at / chunk) % chunk)];
  }

  function nearest([x, z], builders) {
    const far = ({ at }) => Math.hypot(at[0] - x, at[2] - z);
    const [best] = [...builders].sort((one, other) => far(one) - far(other));
    return best && far(best) <= REACH ? best : null;
  }

  function show(cells, spots) {
    if (CALM.matches) return;
    const builders = spots.filter((one) => "seat" in one);
    for (const builder of new Set(cells.map((cell) => nearest(cell, builders)).filter(Boolean))) swing(play.mapSpots.button(builder.spot));
  }

  function swing(button) {
    const pose = button?.querySelector(".character use + use");
    if (!pose) return;
    pose.setAttribute("href", "#pose-chop");
    setTimeout(() => pose.setAttribute("href", button.dataset.holds ? "#pose-carry" : "#pose-stand"), SWINGS);
  }

  play.builderDeeds = { changedCell, show };
})();
