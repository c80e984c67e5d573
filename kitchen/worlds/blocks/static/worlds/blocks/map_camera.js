/* From where one looks at the map: at an angle or from above, how near, and where a cell is on the canvas. A building site
   fills the picture, and the view stays; elsewhere it follows the own builder. `mapCamera` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const LOOK = 420; // milliseconds in which the view follows
  const [FEWEST, MOST] = [7, 33]; // columns in sight
  const BUILDER = [64, 44]; // pixels of a builder at first, on a wide and on a narrow map
  const NARROW = 600; // pixels below which a map is narrow
  const USUAL = Math.PI / 4; // radians: the side from which one looks
  const ANGLE = { across: 0.6, along: 0.35, up: 0.6 }; // of a cell's side, from the usual side
  const LARGEST = [112, 72]; // pixels of a cell of a site, on a wide and on a narrow map
  const SMALLEST = 13; // pixels of a cell below which a site is too large to be shown whole
  const MARGIN = 14; // pixels around a site
  const HEAD = 0.9; // cells above a site, for builders on its roof
  const ANGLED = "brigade.map.angled"; // where the browser keeps the choice
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const { mapBlocks } = play;
  const { world } = mapBlocks;
  const view = { chosen: 0, zoomed: false, columns: 0, angled: true, yaw: USUAL, level: null, width: 0, height: 0, cell: 0, ratio: 1, sprite: 0, inset: 0, eyes: [0, 0, 0], moved: [0, 0], dragged: [0, 0] };
  let look = null; // while the view glides: from where, since when

  /* the site */

  const cells = () => world.ground.box[1].map((last, axis) => last - world.ground.box[0][axis] + 1);

  /* the site in cells of the picture: how wide, how high, and where its middle is below the middle of its ground */
  function extent() {
    const [wide, high, deep] = cells();
    if (!view.angled) return [wide + 1.6, deep + 1.6, 0];
    const ground = (wide + deep) * ANGLE.along;
    return [(wide + deep) * ANGLE.across + 0.5, ground + high * ANGLE.up + HEAD, -(high * ANGLE.up + HEAD - 0.6) / 2];
  }

  function cellOfSite() {
    const [wide, high] = extent();
    const free = [view.width - 2 * MARGIN, view.height - view.inset - 2 * MARGIN];
    return Math.min(free[0] / wide, free[1] / high, LARGEST[Number(view.width < NARROW)]);
  }

  /* whether all of a site is shown: where it is all that there is, unless it is too large */
  function framesSite() {
    const { box, area } = world.ground;
    if (!box || cellOfSite() < SMALLEST) return false;
    const spare = [0, 2].map((axis) => Math.max(box[0][axis] - area[0][axis], area[1][axis] - box[1][axis]));
    return Math.max(...spare) <= 20;
  }

  function eyesOfSite() {
    const { box } = world.ground;
    const [x, y, z] = [0, 1, 2].map((axis) => (box[0][axis] + box[1][axis]) / 2);
    const down = view.inset / 2 / view.cell;
    if (!view.angled) return [x, y, z - down];
    return [x, box[0][1] + (down - extent()[2]) / ANGLE.up, z];
  }

  /* how much is in sight */

  /* so that builders are as large as they should be, or all of a site is in sight */
  function firstColumns() {
    if (framesSite()) return view.width / cellOfSite();
    const own = Math.round(view.width / BUILDER[Number(view.width < NARROW)]);
    if (!world.ground.box) return Math.max(FEWEST, own);
    const [wide, high] = extent();
    return Math.max(FEWEST, own, Math.min(MOST, Math.ceil(Math.max(wide, (high * view.width) / view.height))));
  }

  const columnsOfSite = () => view.width / Math.max(1, cellOfSite());
  const mostColumns = () => Math.max(MOST, world.ground.box && view.height ? columnsOfSite() * 1.3 : 0);

  function measure() {
    const ratio = Math.min(2, devicePixelRatio);
    if (!view.zoomed) view.chosen = firstColumns();
    view.columns = view.chosen;
    view.cell = Math.max(4, Math.floor((view.width * ratio) / view.columns) / ratio);
    view.ratio = ratio;
    view.sprite = Math.round(view.cell * ratio);
    view.eyes = eyes();
    stage.classList.toggle("is-larger", Boolean(world.ground.box) && columnsOfSite() > view.columns + 0.5);
  }

  function zoom(by) {
    const step = view.columns - by >= MOST ? 12 : 4;
    const least = world.ground.box ? Math.min(FEWEST, firstColumns() / 2) : FEWEST;
    view.chosen = Math.max(least, Math.min(mostColumns(), view.columns - Math.min(step, view.columns / 3) * by));
    view.zoomed = true;
    look = null;
    if (world.ground.box && view.chosen >= columnsOfSite()) view.dragged = [0, 0]; // all of the site is in sight
  }

  function resetZoom() {
    Object.assign(view, { zoomed: false, dragged: [0, 0] });
  }

  /* where one looks */

  /* a step moves the view slowly there */
  function eyes() {
    const share = look ? Math.min(1, (performance.now() - look.since) / LOOK) : 1;
    if (share === 1) look = null;
    const slow = share * share * (3 - 2 * share);
    return goal().map((value, axis) => (look ? look.from[axis] + (value - look.from[axis]) * slow : value));
  }

  function goal() {
    const [x, y, z] = usualEyes();
    return [x + view.dragged[0], y, z + view.dragged[1]];
  }

  /* in the middle is a site that fits, or the own builder */
  function usualEyes() {
    if (world.ground.box && framesSite() && view.columns >= columnsOfSite() - 0.5) return eyesOfSite();
    const [x, y, z] = view.place;
    if (!world.ground.box && view.angled) return [inArea(x, 0, 4), y, inArea(z, 2, 4)];
    if (!world.ground.box) return [inArea(x, 0, view.columns / 2), y, inArea(z, 2, view.height / view.cell / 2)];
    const [wide, high, deep] = world.ground.box[1];
    const isNear = Math.max(Math.abs(x - wide / 2), Math.abs(z - deep / 2)) < view.columns / 2;
    if (!isNear || wide + 3 > view.columns) return [x, y, z];
    return [wide / 2, view.angled ? high / 2 : y, deep / 2];
  }

  /* the middle of the view along an axis: only one cell beyond the area is in sight, or all of a small area */
  function inArea(middle, axis, half) {
    const { area } = world.ground;
    const [least, most] = [area[0][axis] - 1.5 + half, area[1][axis] + 1.5 - half];
    return least > most ? (least + most) / 2 : Math.max(least, Math.min(most, middle));
  }

  /* from now on it glides from where it was */
  function follow(seen) {
    if (seen && !CALM.matches && goal().some((value, axis) => Math.abs(value - seen[axis]) > 0.01)) look = { from: seen, since: performance.now() };
  }

  /* from cells to pixels, and back */

  function pixels([x, y, z]) {
    const [east, south] = [(x - view.eyes[0]) * view.cell, (z - view.eyes[2]) * view.cell];
    const middle = [view.width / 2, view.height / 2];
    if (!view.angled) return [middle[0] + east, middle[1] + south];
    const [c, s] = view.yaw === USUAL ? [1, 1] : [Math.cos(view.yaw) * Math.SQRT2, Math.sin(view.yaw) * Math.SQRT2];
    const up = (y - view.eyes[1]) * view.cell * ANGLE.up;
    return [middle[0] + (east * c - south * s) * ANGLE.across, middle[1] + (east * s + south * c) * ANGLE.along - up];
  }

  /* so many pixels on the ground, in cells */
  function groundCells(right, below) {
    if (!view.angled) return [right / view.cell, below / view.cell];
    const [across, along] = [right / view.cell / ANGLE.across, below / view.cell / ANGLE.along];
    return [(along + across) / 2, (along - across) / 2];
  }

  /* the cell at this height whose middle, or the floor below it, is nearest to this pixel */
  function cellAt(x, y, height, down = 0) {
    const raised = view.angled ? (height - down - view.eyes[1]) * ANGLE.up * view.cell : 0;
    const [east, south] = groundCells(x - view.width / 2, y - view.height / 2 + raised);
    return [Math.round(view.eyes[0] + east), height, Math.round(view.eyes[2] + south)];
  }

  /* whether this pixel is on the picture of the cube in this cell, from the usual side */
  function isOnCube([x, y], at) {
    const [middle, down] = pixels(at);
    const aside = Math.abs(x - middle) / view.cell / ANGLE.across;
    return aside <= 1 && Math.abs(y - down) / view.cell <= ANGLE.up / 2 + ANGLE.along * (1 - aside);
  }

  /* the angle, as the browser keeps it */

  function setAngle(angled) {
    view.angled = angled;
    stage.toggleAttribute("data-angled", angled);
  }

  function keepAngle() {
    try {
      localStorage.setItem(ANGLED, String(view.angled));
    } catch {
      /* not kept then */
    }
  }

  function keptAngle() {
    try {
      return localStorage.getItem(ANGLED) !== "false";
    } catch {
      return true;
    }
  }

  play.mapCamera = {
    view, ANGLE, USUAL, CALM, measure, zoom, resetZoom, goal, usualEyes, follow, pixels, groundCells, cellAt, isOnCube, setAngle, keepAngle, keptAngle,
    stopGliding: () => {
      look = null;
    },
    isGliding: () => look !== null,
  };
})();
