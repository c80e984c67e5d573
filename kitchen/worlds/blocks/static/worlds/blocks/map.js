/* The map of the blocks worlds, from above or at an angle. The server sends chunks of blocks, animals, and spots: things
   that can be clicked (kitchen/worlds/blocks/map_panels.py). Each spot is a button (stage.js); the rest is drawn on a
   canvas, and a click there is one on the spot of what lies there (map_pointing.js). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const GLIDE = [240, 700]; // least and most milliseconds of a walk
  const PACE = 90; // milliseconds for a cell
  const BESIDE = 1.8; // times as wide as high
  const { blockLanding, blockOwners, builderDeeds, buildingFinish, dayClock, hotbar, mapBlocks, mapCamera, mapDepth, mapPainting, mapPointing, mapSpots, mapTools } = play;
  const { world, standing } = mapBlocks;
  const { view, ANGLE, USUAL, CALM } = mapCamera;
  const progress = () => document.getElementById("progress");
  const walks = new Map(); // by spot of a builder: from where to where, since when
  let frame = 0;
  let first = null; // the level that was first to be worked at

  function read() {
    const before = world.now;
    const changed = mapBlocks.read();
    blockOwners.read(changed);
    const seen = before && view.height ? view.eyes : null;
    const own = world.now.spots.find(({ spot }) => spot === "you");
    view.place = own ? standing(own.at) : world.now.at;
    if (before?.at.join() !== world.now.at.join() && !world.ground.box) view.dragged = [0, 0];
    const level = mapTools.firstLevel();
    if (!before || (level > first && view.level === first)) view.level = level; // who looks at another level goes on looking at it
    first = level;
    stage.toggleAttribute("data-site", Boolean(world.ground.box));
    buildingFinish.look(changed, before);
    for (const spot of world.now.spots) if ("seat" in spot) walk(spot, before);
    if (buildingFinish.isOver() && world.ground.box) view.level = mapBlocks.highest();
    mapPointing.forget();
    mapSpots.show(world.now, world.ground.names);
    if (before) builderDeeds.show(changed.map(({ at }) => at), world.now.spots);
    mapTools.showLevel();
    hotbar.show();
    dayClock.show();
    reserve();
    if (view.height && view.cell) mapCamera.follow(seen);
    draw();
  }

  /* walks */

  function walk({ spot, seat, at }, before) {
    const walked = walks.get(spot);
    const last = walked?.to;
    const to = buildingFinish.stageOf(seat) ?? standing(at);
    if (last && last.every((value, axis) => value === to[axis])) return;
    const still = !walked || !before || CALM.matches;
    const from = still ? to : placeOf({ spot, at });
    const far = Math.hypot(to[0] - from[0], to[2] - from[2]);
    walks.set(spot, { from, to, since: performance.now(), lasts: Math.min(GLIDE[1], Math.max(GLIDE[0], far * PACE)) });
  }

  function placeOf({ spot, at }) {
    const walked = walks.get(spot);
    if (!walked) return at;
    const share = Math.min(1, (performance.now() - walked.since) / walked.lasts);
    return walked.from.map((value, axis) => value + (walked.to[axis] - value) * share);
  }

  const isWalking = () => [...walks.values()].some(({ from, to, since, lasts }) => from !== to && performance.now() - since < lasts);

  /* drawing */

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  }

  /* not asked for in each frame, which would lay the page out */
  function resize() {
    [view.width, view.height] = [stage.clientWidth, stage.clientHeight];
    reserve();
    if (world.now) draw();
  }

  /* what stands in the picture covers nothing of the site: it is above it, or beside it in a wide and low picture */
  function reserve() {
    const isBeside = view.width > BESIDE * view.height;
    view.inset = world.ground?.box && progress()?.childElementCount && !isBeside ? progress().offsetTop + progress().offsetHeight : 0;
    stage.classList.toggle("is-low", isBeside);
  }

  function paint() {
    if (!view.width || !world.now) return;
    buildingFinish.turn();
    mapCamera.measure();
    mapPainting.paint();
    const builders = world.now.spots.filter((one) => "seat" in one);
    for (const one of builders) mapPainting.noteBuilder(one, placeOf(one));
    const isUsual = view.yaw === USUAL;
    mapDepth.show(isUsual ? builders.map(placeOf) : [], view, { top: mapPainting.top, blockAt: mapBlocks.blockAt, angle: ANGLE }, mapPainting.paintOver);
    blockLanding.paint(mapPainting.front);
    buildingFinish.paintParty(mapPainting.front);
    const picked = mapPointing.picked();
    mapSpots.place(world.now.spots, (spot) => (picked?.spot === spot.spot && !("seat" in spot) ? picked.at : placeOf(spot)), mapCamera.pixels, view);
    stage.dataset.cell = view.cell;
    mapPointing.show();
    if (isWalking() || mapCamera.isGliding() || buildingFinish.isBusy() || blockLanding.isBusy()) draw();
  }

  function paintNow() {
    cancelAnimationFrame(frame);
    paint();
  }

  play.mapView = { draw, paintNow };
  play.addEventListener("brigade:panels", read);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.colours = null;
    draw();
  });
  new ResizeObserver(resize).observe(stage);
  resize();
  read();
})();
