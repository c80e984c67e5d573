/* Paints the map: the meadow and the blocks, which are drawn only when they change, and what moves over them.
   `mapPainting` of [data-play] also has what can be pointed at outside of a building site: `things`. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const [AHEAD, MOST_AHEAD] = [4, 120]; // cells and pixels around the view that are drawn ahead, for walks
  const COLOURS = ["ground", "ground-line", "ground-tuft", "beyond", "fence", "leaf", "leaf-light", "leaf-dark", "bark", "print", "soil", "number", "dusk", "accent", "bad", ...[1, 2, 3, 4, 5, 6, 7, 8].map((seat) => `seat-${seat}`)];
  const SHADOW = "rgb(24 36 12 / 30%)";
  const GROUND = [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]]; // the corners of a cell's floor
  const DARKEST = 0.75; // of the light that the evening takes before the time is over
  const ABOVE = 0.45; // how much a block covers through which one sees
  const { blockPictures: pictures, ghostBuilding, mapBlocks, mapCamera, mapScenery } = play;
  const { world, blockAt, wantedAt, inSite } = mapBlocks;
  const { view, ANGLE, USUAL, pixels } = mapCamera;
  const canvas = stage.querySelector("canvas");
  const front = canvas.getContext("2d");
  const still = document.createElement("canvas").getContext("2d"); // ground and blocks, until they change
  const drawn = { key: "", eyes: [0, 0, 0], things: [] }; // what `still` shows
  const painting = { things: [] }; // what can be pointed at: its middle (before `view.moved`), cell, spot, kind, and words
  let pen = front;

  function readColours() {
    const style = getComputedStyle(stage);
    view.font = style.fontFamily;
    return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`)]));
  }

  /* ground and blocks, and animals */
  function paint() {
    view.colours ??= readColours();
    fitCanvas();
    if (!view.angled || (view.yaw === USUAL && !view.staged)) paintStill();
    else play.buildingFinish.paintTurned(front, columnsInSight(0));
    pen = front;
    for (const [kind, ...at] of world.now.animals) paintAnimal(kind, at);
  }

  function fitCanvas() {
    const [width, height] = [view.width, view.height].map((size) => Math.round(size * view.ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
  }

  /* drawn only if it has changed or one has walked too far, else moved */
  function paintStill() {
    const ahead = Math.min(MOST_AHEAD, Math.round(AHEAD * view.cell));
    const { columns, angled, level, width, height, sprite, ratio, colours, dusk, evening, inset } = view;
    const held = world.now.placeable.map(([item]) => item);
    const key = JSON.stringify([play.blockLanding.changes(), columns, angled, level, width, height, sprite, ratio, colours, dusk, evening, inset, held]);
    view.moved = movedBy(drawn.eyes);
    if (drawn.key !== key || Math.max(...view.moved.map(Math.abs)) > ahead) drawStill(key, ahead);
    pen = front;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(still.canvas, ...view.moved.map((pixel) => Math.round((pixel - ahead) * ratio)));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    painting.things = [...drawn.things];
  }

  function drawStill(key, ahead) {
    [view.moved, painting.things, pen] = [[0, 0], [], still];
    Object.assign(still.canvas, { width: Math.round((view.width + 2 * ahead) * view.ratio), height: Math.round((view.height + 2 * ahead) * view.ratio) });
    pen.setTransform(view.ratio, 0, 0, view.ratio, Math.round(ahead * view.ratio), Math.round(ahead * view.ratio));
    const cells = columnsInSight(Math.ceil(ahead / view.cell));
    paintGround(pen, cells, [-ahead, -ahead, view.width + 2 * ahead, view.height + 2 * ahead]);
    if (view.angled) paintShadows();
    if (view.angled) paintPale(cells);
    for (const [x, z] of cells) view.angled ? paintColumn(x, z) : paintTop(x, z);
    if (view.dusk && view.angled) play.buildingFinish.paintLights(pen);
    Object.assign(drawn, { key, eyes: view.eyes, things: painting.things });
  }

  /* how far what was drawn for these eyes is from its place, in pixels */
  function movedBy(eyes) {
    const [x, y] = pixels(eyes);
    return [x - view.width / 2, y - view.height / 2];
  }

  function paintGround(on, cells, frame) {
    const { area, box } = world.ground;
    mapScenery.paint(on, { area, box, y: area[0][1] - 0.5, view, at: pixels, cells, frame });
    const dark = Math.max(view.dusk, view.evening * DARKEST);
    if (dark) {
      Object.assign(on, { globalAlpha: dark, globalCompositeOperation: "multiply", fillStyle: view.colours.dusk });
      on.fillRect(...frame);
      Object.assign(on, { globalAlpha: 1, globalCompositeOperation: "source-over" });
    }
    if (box && !view.dusk) ghostBuilding.paintGround(on);
  }

  /* from the back to the front */
  function columnsInSight(more) {
    const reach = Math.ceil(view.angled ? view.columns * 0.9 : view.columns / 2) + 1 + more;
    const down = Math.ceil(view.height / view.cell / 2) + 1 + more;
    const deep = view.angled ? Math.max(reach, Math.ceil(down / (2 * ANGLE.along))) : Math.min(down, 60);
    const [x, , z] = view.eyes.map(Math.round);
    const aside = view.angled ? deep : reach;
    const found = [];
    for (let south = -deep; south <= deep; south += 1) for (let east = -aside; east <= aside; east += 1) found.push([x + east, z + south]);
    return view.angled ? found.sort((one, other) => one[0] + one[1] - other[0] - other[1]) : found;
  }

  /* from above: the level at work of a site, else the highest block */

  const top = (x, z) => (inSite([x, 0, z]) ? view.level : world.ground.area[1][1]);

  function paintTop(x, z) {
    let y = top(x, z);
    const site = inSite([x, y, z]);
    const wanted = site && wantedAt(x, y, z);
    while (y >= world.ground.area[0][1] && !blockAt(x, y, z)) y -= 1;
    const kind = y >= world.ground.area[0][1] && blockAt(x, y, z);
    const below = site && y < view.level;
    if (kind) paintTile([x, y, z], shownKind(kind), below ? 0.3 : 1);
    if (site) paintWanted([x, view.level, z], below ? "" : kind, wanted);
  }

  function paintTile(at, kind, share) {
    const [x, y] = pixels(at);
    const half = view.cell / 2;
    pen.globalAlpha = share;
    pen.drawImage(pictures.tile(kind, view.sprite), x - half, y - half, view.cell, view.cell);
    pen.globalAlpha = 1;
    if (share === 1) note(x, y, kind, at);
  }

  /* what the blueprint wants and does not stand there, and what should not stand there */
  function paintWanted(at, kind, wanted) {
    if (!world.ground.blueprint || kind === wanted || (!kind && !wanted)) return;
    const [x, y] = pixels(at);
    if (kind) {
      paintCross(x, y);
      return;
    }
    const half = view.cell * 0.4;
    pen.globalAlpha = mapBlocks.holds(wanted) ? 0.6 : 0.35;
    pen.drawImage(pictures.tile(wanted, view.sprite), x - half, y - half, 2 * half, 2 * half);
    pen.globalAlpha = 1;
    pen.lineWidth = Math.max(1.5, view.cell / 24);
    pen.strokeStyle = view.colours.print;
    pen.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }

  function paintCross(x, y) {
    const half = view.cell * 0.34;
    pen.lineWidth = Math.max(2, view.cell / 12);
    pen.strokeStyle = view.colours.bad;
    pen.beginPath();
    pen.moveTo(x - half, y - half);
    pen.lineTo(x + half, y + half);
    pen.moveTo(x + half, y - half);
    pen.lineTo(x - half, y + half);
    pen.stroke();
  }

  /* at an angle */

  /* on the lawn, below blocks of a site that have nothing under them: without it one does not see where they are */
  function paintShadows() {
    if (!world.ground.box) return;
    const [low, high] = world.ground.box;
    pen.fillStyle = SHADOW;
    pen.beginPath();
    for (let x = low[0]; x <= high[0]; x += 1) for (let z = low[2]; z <= high[2]; z += 1) if (hangs(x, z, low[1], high[1])) GROUND.forEach((way, index) => pen[index ? "lineTo" : "moveTo"](...ghostBuilding.corner([x, low[1], z], way)));
    pen.fill();
  }

  function hangs(x, z, low, high) {
    if (blockAt(x, low, z)) return false;
    for (let y = low + 1; y <= high; y += 1) if (blockAt(x, y, z)) return true;
    return false;
  }

  /* behind all that stands: what is to come later */
  function paintPale(cells) {
    if (!world.ground.blueprint || view.dusk) return;
    for (const [x, z] of cells.filter(([east, south]) => inSite([east, view.level, south]))) {
      for (let y = view.level + 1; y <= mapBlocks.highest(); y += 1) if (wantedAt(x, y, z) && !blockAt(x, y, z)) ghostBuilding.paint(pen, [x, y, z], wantedAt(x, y, z));
    }
  }

  function paintColumn(x, z) {
    const [low, high] = [world.ground.area[0][1], world.ground.area[1][1]];
    for (let y = low; y <= high; y += 1) {
      const kind = blockAt(x, y, z);
      const site = inSite([x, y, z]);
      const wanted = site && wantedAt(x, y, z);
      if (kind && !isHidden(x, y, z)) paintCube([x, y, z], shownKind(kind), ghostBuilding.isSeeThrough([x, y, z]) ? ABOVE : 1);
      else if (!kind && wanted && y <= view.level) ghostBuilding.paint(pen, [x, y, z], wanted);
      if (site && kind && world.ground.blueprint && kind !== wanted) paintCross(...pixels([x, y + 0.4, z]));
    }
  }

  const isSolid = (x, y, z) => Boolean(blockAt(x, y, z)) && !(y > view.level && inSite([x, y, z]));
  const isHidden = (x, y, z) => isSolid(x + 1, y, z) && isSolid(x, y, z + 1) && isSolid(x, y + 1, z);
  const shownKind = (kind) => (view.dusk && kind.includes("glass") ? "lit_glass" : kind);

  function paintCube(at, kind, share) {
    const [x, y] = pixels(at);
    pen.globalAlpha = share;
    pen.drawImage(pictures.cube(kind, view.sprite), x - view.cell * ANGLE.across, y - view.cell * (ANGLE.along + ANGLE.up / 2), view.cell * 1.2, view.cell * 1.3);
    pen.globalAlpha = 1;
    if (share === 1) note(x, y - view.cell * 0.3, kind, at);
  }

  /* on another canvas: what covers a builder */
  function paintOver(over, at, kind, share) {
    pen = over;
    const known = painting.things.length;
    paintCube(at, shownKind(kind), share);
    painting.things.length = known;
    pen = front;
  }

  function paintAnimal(kind, at) {
    const [x, y] = pixels(at);
    const size = Math.max(18, view.cell * 1.15);
    pen.drawImage(pictures.animal(kind, Math.round(size * 2)), x - size / 2, y - size / 2, size, size);
    note(x, y, kind, at, 4);
  }

  /* cells of a site are found by their place (map_pointing.js) */
  function note(x, y, kind, at, ahead = 0) {
    if (!inSite(at)) painting.things.push({ x: x - view.moved[0], y: y - view.moved[1], at, ahead, spot: kind, kind });
  }

  /* its button is smaller than a finger */
  function noteBuilder({ at, spot, name }, place) {
    const [x, y] = pixels(place);
    painting.things.push({ x: x - view.moved[0], y: y - view.moved[1], at, ahead: 4, spot, kind: "", name, body: true });
  }

  Object.assign(painting, { front, paint, paintGround, paintOver, noteBuilder, shownKind, top, canvas });
  play.mapPainting = painting;
})();
