/* What is celebrated on a building site: a level that is done, and the finished building, which is turned once in the evening light with its windows lit. With less motion, it stands lit and still. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const TURNS = 4200; // milliseconds of one turn
  const LANDED = 200; // milliseconds until the last block of a level has landed
  const SHOWN = 2400; // milliseconds of the words about a level
  const FULL = 0.8; // of its cells that a floor fills at least
  const MOST = 1500; // blocks of a building that is turned
  const [SHADE, SIDE] = [0.24, 0.11]; // of the sides of a turned block
  const { blockLanding, blockPictures: pictures, builderDeeds, buildingParty, ghostBuilding, mapBlocks, mapCamera } = play;
  const { world, blockAt } = mapBlocks;
  const { view, USUAL, CALM, pixels } = mapCamera;
  const { filled } = play.cellWords;
  const toast = stage.querySelector("[data-toast]");
  let turning = 0; // since when the finished building is turned
  let isFinished = false;
  let side = 0; // from which the finished building is seen in the end, in radians from the usual one
  let blocks = []; // of the finished building
  view.dusk = 0; // how much of the evening there is: 0 to 1
  view.staged = false; // whether the finished building is shown with all that celebrates it

  const isOver = () => Boolean(document.querySelector("#over.is-over"));
  const isReached = () => isOver() && Boolean(document.querySelector("#over[data-reached]"));
  const cue = (name) => play.dispatchEvent(new CustomEvent("brigade:cue", { detail: name }));

  /* what has happened since the last look; `before` is what the server said then, or null at first */
  function look(changed, before) {
    if (before && !isOver()) blockLanding.land(changed);
    const done = before?.left && world.now.left ? before.left.flatMap((left, level) => (left && !world.now.left[level] ? [level] : [])) : [];
    for (const level of done) if (!isOver()) celebrateLevel(level);
    finish(before);
  }

  function celebrateLevel(level) {
    const cells = mapBlocks.wanted().filter(([, y]) => y === level);
    say(filled(stage.dataset[`${partOf(level, cells.length)}Done`], { level: level + 1 }));
    cue("ready");
    builderDeeds.cheer(world.now.spots);
    blockLanding.glow(cells, LANDED);
  }

  /* the lowest level is a floor, and the highest one a roof, if it is hardly open */
  function partOf(level, blocks) {
    const [low, high] = world.ground.box;
    const isOpen = blocks < FULL * (high[0] - low[0] + 1) * (high[2] - low[2] + 1);
    if (isOpen || level % high[1]) return "level";
    return level ? "roof" : "floor";
  }

  /* says it without a word over what is celebrated now */
  function note(words) {
    const isCelebrating = !toast.hidden && !toast.classList.contains("is-note");
    if (!isCelebrating) return say(words, true);
    document.getElementById("stage-said").textContent += ` ${words}`;
    return undefined;
  }

  function say(words, isNote = false) {
    toast.textContent = words;
    toast.classList.toggle("is-note", isNote);
    toast.hidden = false;
    document.getElementById("stage-said").textContent = words;
    setTimeout(() => {
      if (toast.textContent === words) toast.hidden = true;
    }, SHOWN);
  }

  function finish(before) {
    if (!world.ground.box || isFinished || !isReached()) return;
    isFinished = true;
    toast.hidden = true;
    if (before) cue("served");
    builderDeeds.cheer(world.now.spots);
    mapCamera.resetZoom();
    blocks = mapBlocks.built();
    buildingParty.begin();
    view.staged = blocks.length <= MOST;
    if (view.angled && view.staged) side = brightestSide();
    if (!before || CALM.matches || !view.angled || blocks.length > MOST) Object.assign(view, { dusk: 1, yaw: USUAL + side });
    else turning = performance.now();
  }

  /* the side on which most doors and windows are seen, in radians from the usual one */
  function brightestSide() {
    const seen = [0, 1, 2, 3].map((quarter) => {
      view.yaw = USUAL + (quarter * Math.PI) / 2;
      return openings().length;
    });
    view.yaw = USUAL;
    return (seen.indexOf(Math.max(...seen)) * Math.PI) / 2;
  }

  /* the walls that one sees in the end, the left one first */
  function finalWalls() {
    const [c, s] = [Math.cos(USUAL + side), Math.sin(USUAL + side)];
    const aside = ([east, south]) => east * c - south * s;
    return WAYS.filter(([east, south]) => east * s + south * c > 0.01).sort((one, other) => aside(one) - aside(other));
  }

  /* where a builder celebrates: before the front wall, where nothing covers it; null before the end */
  function stageOf(seat) {
    if (!isFinished) return null;
    const [low, high] = world.ground.box;
    const [[east, south]] = finalWalls();
    const along = 0.6 + 1.5 * seat;
    if (east) return [east > 0 ? high[0] + 1.3 : low[0] - 1.3, low[1], low[2] + along];
    return [low[0] + along, low[1], south > 0 ? high[2] + 1.3 : low[2] - 1.3];
  }

  /* before each frame: where one looks from now */
  function turn() {
    if (!turning) return;
    const share = Math.min(1, (performance.now() - turning) / TURNS);
    const slow = share * share * (3 - 2 * share);
    view.yaw = USUAL + (share < 1 ? (2 * Math.PI + side) * slow : side);
    view.dusk = Math.round(20 * Math.min(1, share * 2)) / 20;
    if (share === 1) turning = 0;
  }

  const isBusy = () => turning > 0 || buildingParty.isBusy();

  /* the building from any side */

  const WAYS = [[1, 0], [-1, 0], [0, 1], [0, -1]]; // of the four walls of a block

  function paintTurned(pen, cells) {
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    view.moved = [0, 0];
    play.mapPainting.paintGround(pen, cells, [0, 0, view.width, view.height]);
    const [c, s] = [Math.cos(view.yaw), Math.sin(view.yaw)];
    const near = ([x, y, z]) => x * s + z * c + y / 100;
    const seen = WAYS.filter(([east, south]) => east * s + south * c > 0.01);
    buildingParty.paintLanterns(pen, false);
    for (const [x, y, z, kind] of [...blocks].sort((one, other) => near(one) - near(other))) {
      const face = pictures.tile(play.mapPainting.shownKind(kind), view.sprite);
      for (const way of seen) if (!blockAt(x + way[0], y, z + way[1])) paintWall(pen, face, [x, y, z], way, [c, s]);
      if (!blockAt(x, y + 1, z)) paintSide(pen, face, ghostBuilding.TOP.map((each) => ghostBuilding.corner([x, y, z], each)), 0);
    }
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    paintLights(pen);
  }

  /* what stands and flies before it, once it is no longer turned */
  function paintParty(pen) {
    if (!isFinished || !view.angled) return;
    buildingParty.paintLanterns(pen, true);
    if (!turning) buildingParty.paintGuests(pen, finalWalls().at(-1));
    buildingParty.paintFireworks(pen);
  }

  function paintWall(pen, face, at, [east, south], [c, s]) {
    const corners = [[-1, 1], [1, 1], [1, -1]].map(([along, up]) => ghostBuilding.corner(at, [east || along, up, south || along]));
    paintSide(pen, face, corners, SHADE + SIDE * (east * c - south * s));
  }

  /* a face between three of its corners */
  function paintSide(pen, face, [from, right, down], shade) {
    const low = [from[0] + down[0] - right[0], from[1] + down[1] - right[1]];
    const scale = view.ratio / face.width;
    pen.setTransform((right[0] - from[0]) * scale, (right[1] - from[1]) * scale, (low[0] - from[0]) * scale, (low[1] - from[1]) * scale, from[0] * view.ratio, from[1] * view.ratio);
    pen.drawImage(face, 0, 0);
    if (!shade) return;
    pen.fillStyle = `rgb(0 0 0 / ${shade})`;
    pen.fillRect(0, 0, face.width, face.width);
  }

  /* warm light at doors and windows, and a flag on the roof */
  function paintLights(pen) {
    for (const at of openings()) {
      const [x, y] = pixels(at);
      const glow = pen.createRadialGradient(x, y, 0, x, y, view.cell * 1.3);
      glow.addColorStop(0, "rgb(255 205 96 / 0.75)");
      glow.addColorStop(0.35, "rgb(255 190 80 / 0.32)");
      glow.addColorStop(1, "rgb(255 180 70 / 0)");
      pen.globalAlpha = view.dusk;
      pen.fillStyle = glow;
      pen.fillRect(x - view.cell * 1.3, y - view.cell * 1.3, view.cell * 2.6, view.cell * 2.6);
    }
    pen.globalAlpha = 1;
    if (view.dusk) paintFlag(pen);
  }

  /* windows and gaps in the outer walls that are on a side that one sees */
  function openings() {
    const [low, high] = world.ground.box;
    const [c, s] = [Math.cos(view.yaw), Math.sin(view.yaw)];
    const found = [];
    for (let y = low[1]; y <= high[1]; y += 1) for (let x = low[0]; x <= high[0]; x += 1) for (let z = low[2]; z <= high[2]; z += 1) {
      const way = [x === high[0] ? 1 : x === low[0] ? -1 : 0, z === high[2] ? 1 : z === low[2] ? -1 : 0];
      if (!way[0] === !way[1] || way[0] * s + way[1] * c < 0.1) continue; // inside, at a corner, or behind
      const kind = blockAt(x, y, z);
      const along = way[0] ? [0, 1] : [1, 0];
      const isGap = !kind && blockAt(x + along[0], y, z + along[1]) && blockAt(x - along[0], y, z - along[1]);
      if (isGap || kind?.includes("glass")) found.push([x, y, z]);
    }
    return found;
  }

  function paintFlag(pen) {
    const level = Math.max(...blocks.map(([, up]) => up));
    const tops = blocks.filter(([, up]) => up === level);
    const [x, y, z] = tops.reduce((best, cell) => (cell[0] - cell[2] > best[0] - best[2] ? cell : best)); // the right corner, where nobody begins
    const [left, foot] = pixels([x, y + 0.5, z]);
    const tall = view.cell * 1.05;
    pen.strokeStyle = "#6f4a2a";
    pen.lineCap = "round";
    pen.lineWidth = Math.max(2, view.cell / 16);
    pen.beginPath();
    pen.moveTo(left, foot);
    pen.lineTo(left, foot - tall);
    pen.stroke();
    pen.fillStyle = "#e2574c";
    pen.beginPath();
    for (const [east, up] of [[0, 1], [0.62, 0.8], [0, 0.58]]) pen.lineTo(left + east * view.cell, foot - up * tall);
    pen.closePath();
    pen.fill();
  }

  play.buildingFinish = { look, say, note, stageOf, turn, isBusy, paintParty, paintTurned, paintLights, isOver };
})();
