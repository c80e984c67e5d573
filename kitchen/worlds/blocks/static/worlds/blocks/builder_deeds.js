/* What builders are seen to do on the map of the blocks worlds: the builder nearest to a block that came or went swings a
   tool, and all are glad when a part is done. The page does not say who it was; builders reach only what is near. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const [SWINGS, CHEERS] = [700, 1200]; // milliseconds
  const REACH = 6; // cells

  function nearest([x, , z], builders) {
    const far = ({ at }) => Math.hypot(at[0] - x, at[2] - z);
    const [best] = [...builders].sort((one, other) => far(one) - far(other));
    return best && far(best) <= REACH ? best : null;
  }

  const buildersOf = (spots) => spots.filter((one) => "seat" in one);

  function show(cells, spots) {
    if (CALM.matches) return;
    const builders = buildersOf(spots);
    for (const builder of new Set(cells.map((cell) => nearest(cell, builders)).filter(Boolean))) pose(builder, "chop", SWINGS);
  }

  function cheer(spots) {
    for (const builder of buildersOf(spots)) pose(builder, "cheer", CHEERS);
  }

  function pose({ spot }, name, lasts) {
    const button = play.mapSpots.button(spot);
    const shown = button?.querySelector(".character use + use");
    if (!shown) return;
    shown.setAttribute("href", `#pose-${name}`);
    setTimeout(() => {
      if (shown.getAttribute("href") === `#pose-${name}`) shown.setAttribute("href", restOf(button));
    }, lasts);
  }

  /* who has reached the goal stays glad */
  function restOf(button) {
    if (document.querySelector("#over.is-over[data-reached]")) return "#pose-cheer";
    return button.dataset.holds ? "#pose-carry" : "#pose-stand";
  }

  play.builderDeeds = { show, cheer };
})();
