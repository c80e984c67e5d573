/* The buttons and keys of the map: angle, zoom, levels of a building site, and the cell that the keyboard points at. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const PAGES = { PageUp: 1, PageDown: -1 };
  const { mapBlocks, mapCamera, mapPointing, mapSpots } = play;
  const { world } = mapBlocks;
  const { view } = mapCamera;
  const { filled } = play.cellWords;
  const tools = stage.parentElement;

  /* the lowest to which one can add a block; else the lowest that is not as wanted, or the highest if all are */
  function firstLevel() {
    if (!world.ground.box) return null;
    const own = mapBlocks.wanted().find(([x, y, z, kind]) => !mapBlocks.blockAt(x, y, z) && mapBlocks.holds(kind));
    if (own && world.now.you >= 0) return own[1];
    return world.now.level ?? (world.ground.blueprint ? mapBlocks.highest() : 0);
  }

  function showLevel() {
    const levels = tools.querySelector("[data-levels]");
    levels.hidden = view.level === null;
    if (levels.hidden) return;
    const [level, all] = [view.level + 1, mapBlocks.highest() + 1];
    levels.querySelector("[data-level-short]").textContent = `${level}/${all}`;
    levels.querySelector("[data-level-words]").textContent = filled(stage.dataset.levelWords, { level, levels: all });
    for (const button of levels.querySelectorAll("[data-level]")) {
      const to = view.level + Number(button.dataset.level);
      button.setAttribute("aria-disabled", String(to < 0 || to > mapBlocks.highest()));
    }
  }

  function goLevel(by) {
    if (view.level === null) return;
    view.level = Math.max(0, Math.min(mapBlocks.highest(), view.level + by));
    showLevel();
    const site = mapSpots.button("site");
    if (site && document.activeElement === site) mapPointing.moveCell(site, [0, 0]);
    play.mapView.draw();
  }

  function onTool({ target }) {
    const button = target.closest("[data-level], [data-zoom], [data-angle]");
    if (!button) return;
    if (button.dataset.level) goLevel(Number(button.dataset.level));
    if (button.dataset.zoom) mapCamera.zoom(Number(button.dataset.zoom));
    if ("angle" in button.dataset) setAngle(!view.angled);
    if ("angle" in button.dataset) mapCamera.keepAngle();
    play.mapView.draw();
  }

  function setAngle(angled) {
    mapCamera.setAngle(angled);
    tools.querySelector("[data-angle]").setAttribute("aria-pressed", String(angled));
  }

  /* arrows lead from cell to cell of the site, and at its edge to the next thing (stage.js) */
  function onKey(event) {
    const site = mapSpots.button("site");
    const moves = event.key in ARROWS && site && event.target === site && mapPointing.moveCell(site, ARROWS[event.key]);
    if (moves) event.stopPropagation();
    if (moves || (event.shiftKey && event.key in ARROWS && event.target === site)) event.preventDefault();
    if (!(event.key in PAGES) || view.level === null || !tools.contains(event.target)) return;
    event.preventDefault();
    goLevel(PAGES[event.key]);
  }

  tools.addEventListener("click", onTool);
  tools.addEventListener("keydown", onKey);
  setAngle(mapCamera.keptAngle());
  play.mapTools = { firstLevel, showLevel };
})();
