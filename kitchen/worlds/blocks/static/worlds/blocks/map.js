/* The map of the blocks worlds, from above or at an angle. The server sends chunks of blocks, animals, and spots: things
   that can be clicked (kitchen/worlds/blocks/map_panels.py). Each spot is a button (stage.js); the rest is drawn on a
   canvas, and a click there is one on the spot of what lies nearest. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const GLIDE = [240, 700]; // least and most milliseconds of a walk
  const PACE = 90; // milliseconds for a cell
  const CHUNK = 8;
  const LOOK = 420; // milliseconds in which the view follows
  const [FEWEST, MOST] = [7, 33]; // columns in sight; more where all of a site needs more
  const BUILDER = [64, 44]; // pixels of a builder at first, on a wide and on a narrow map
  const NARROW = 600; // pixels below which a map is narrow
  const ANGLED = "brigade.map.angled"; // where the browser keeps the choice
  const DRAG = 6; // pixels from which a press on the map is a drag
  const FINGER = 22; // pixels around a click in which something is meant
  const COLOURS = ["ground", "ground-line", "ground-tuft", "beyond", "fence", "leaf", "leaf-light", "leaf-dark", "bark", "print", "accent", "bad"];
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const [AHEAD, MOST_AHEAD] = [4, 120]; // cells and pixels around the view that are drawn ahead, for walks
  const ANGLE = { across: 0.6, along: 0.35, up: 0.6 }; // of a cell's side
  const { blockPictures: pictures, builderDeeds, cellActions, choosing, mapDepth, mapScenery, mapSpots } = play;
  const canvas = stage.querySelector("canvas");
  const front = canvas.getContext("2d");
  const still = document.createElement("canvas").getContext("2d"); // ground and blocks, until they change
  let pen = front;
  const tools = stage.parentElement;
  const chunks = new Map(); // by the id of their element
  const walks = new Map(); // by spot of a builder: from where to where, since when
  const view = { chosen: 0, zoomed: false, columns: 0, angled: true, colours: null, level: null, width: 0, height: 0, cell: 0, moved: [0, 0], dragged: [0, 0] };
  let [ground, now] = [null, null];
  let things = []; // what is drawn and can be clicked: its middle (before `view.moved`), cell, spot, kind, and words
  let picked = null; // the spot that was clicked, and where
  let pointer = null; // where the mouse is, while it is on the canvas
  let press = null; // the pointer that is down: where it began, how far the view was dragged then, whether it drags
  let look = null; // while the view glides: from where, since when
  let frame = 0;
  let changes = 0; // of ground and blocks
  const drawn = { ground: "", key: "", eyes: [0, 0, 0], things: [] }; // what `still` shows

  const data = (name) => document.getElementById(name)?.getAttribute("value") ?? "";
  const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  /* what the server said */

  /* returns a cell of each chunk that was known and has changed */
  function readChunks() {
    const here = new Set();
    const deeds = [];
    for (const element of document.getElementById("map-chunks").children) {
      const [text, name] = [element.getAttribute("value"), element.id];
      here.add(name);
      const known = chunks.get(name);
      if (known?.text === text) continue;
      const cells = cellsOf(JSON.parse(text));
      chunks.set(name, { text, cells });
      if (known) deeds.push(builderDeeds.changedCell(name, known.cells, cells, CHUNK));
      changes += 1;
    }
    for (const name of chunks.keys()) {
      if (here.has(name)) continue;
      chunks.delete(name);
      changes += 1;
    }
    return deeds.filter(Boolean);
  }

  /* the kinds of a chunk by the number of the cell, as BlockGrid.chunk counts */
  function cellsOf(kinds) {
    const cells = [];
    for (const [kind, runs] of Object.entries(kinds)) {
      for (let at = 0; at < runs.length; at += 2) cells.length = Math.max(cells.length, runs[at] + runs[at + 1]);
      for (let at = 0; at < runs.length; at += 2) cells.fill(kind, runs[at], runs[at] + runs[at + 1]);
    }
    return cells;
  }

  const part = (number) => Math.floor(number / CHUNK);

  function blockAt(x, y, z) {
    const chunk = chunks.get(`chunk-${part(x)}_${part(z)}`);
    return chunk?.cells[((y - ground.area[0][1]) * CHUNK + z - part(z) * CHUNK) * CHUNK + x - part(x) * CHUNK];
  }

  function wantedAt(x, y, z) {
    const letter = ground.blueprint?.levels[y]?.[z]?.[x];
    return letter && ground.blueprint.legend[letter];
  }

  function read() {
    if (drawn.ground !== data("map-ground")) changes += 1;
    drawn.ground = data("map-ground");
    ground = JSON.parse(drawn.ground);
    const before = now;
    now = JSON.parse(data("map-now"));
    const deeds = readChunks();
    const seen = before && view.height ? view.eyes : null;
    if (before?.at.join() !== now.at.join()) view.dragged = [0, 0];
    if (before?.level !== now.level) view.level = firstLevel();
    for (const spot of now.spots) if ("seat" in spot) walk(spot, before);
    if (seen && !CALM.matches && goal().some((value, axis) => Math.abs(value - seen[axis]) > 0.01)) look = { from: seen, since: performance.now() };
    if (stage.querySelector("[data-spot-menu]").hidden) picked = null;
    mapSpots.show(now, ground.names);
    builderDeeds.show(deeds, now.spots);
    showLevel();
    draw();
  }

  /* the lowest that is not as wanted; the highest if all are */
  function firstLevel() {
    if (!ground.box) return null;
    return now.level ?? (ground.blueprint ? ground.box[1][1] : 0);
  }

  /* so that builders are as large as they should be, or all of a site is in sight */
  function firstColumns() {
    const own = Math.round(view.width / BUILDER[Number(view.width < NARROW)]);
    if (!ground.box) return Math.max(FEWEST, own);
    const [wide, high, deep] = ground.box[1].map((last) => last + 1);
    const across = view.angled ? (wide + deep + 1) * ANGLE.across : wide + 3;
    const along = view.angled ? (wide + deep + 1) * ANGLE.along + (high + 1) * ANGLE.up : deep + 3;
    return Math.max(FEWEST, own, Math.min(MOST, Math.ceil(Math.max(across, (along * view.width) / view.height))));
  }

  /* walks */

  function walk({ spot, at }, before) {
    const walked = walks.get(spot);
    const last = walked?.to;
    const to = standing(at);
    if (last && last.every((value, axis) => value === to[axis])) return;
    const still = !walked || !before || CALM.matches;
    const from = still ? to : placeOf({ spot, at });
    const far = Math.hypot(to[0] - from[0], to[2] - from[2]);
    walks.set(spot, { from, to, since: performance.now(), lasts: Math.min(GLIDE[1], Math.max(GLIDE[0], far * PACE)) });
  }

  /* on top of the blocks in its cell */
  function standing([x, y, z]) {
    let up = y;
    while (up < ground.area[1][1] + 1 && blockAt(x, up, z)) up += 1;
    return [x, up, z];
  }

  function placeOf({ spot, at }) {
    const walked = walks.get(spot);
    if (!walked) return at;
    const share = Math.min(1, (performance.now() - walked.since) / walked.lasts);
    return walked.from.map((value, axis) => value + (walked.to[axis] - value) * share);
  }

  const isWalking = () => [...walks.values()].some(({ from, to, since, lasts }) => from !== to && performance.now() - since < lasts);

  /* from cells to pixels */

  /* where one looks; a step moves the view slowly there */
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

  /* in the middle is the own builder, or a site that fits */
  function usualEyes() {
    const own = now.spots.find(({ spot }) => spot === "you");
    const [x, y, z] = own ? walks.get(own.spot)?.to ?? own.at : now.at;
    if (!ground.box && view.angled) return [inArea(x, 0, 4), y, inArea(z, 2, 4)];
    if (!ground.box) return [inArea(x, 0, view.columns / 2), y, inArea(z, 2, view.height / view.cell / 2)];
    const [wide, high, deep] = ground.box[1]; // all of the site, if it fits
    const isNear = Math.max(Math.abs(x - wide / 2), Math.abs(z - deep / 2)) < view.columns / 2;
    if (!isNear || wide + 3 > view.columns) return [x, y, z];
    return [wide / 2, view.angled ? high / 2 : y, deep / 2];
  }

  /* the middle of the view along an axis: only one cell beyond the area is in sight, or all of a small area */
  function inArea(middle, axis, half) {
    const [least, most] = [ground.area[0][axis] - 1.5 + half, ground.area[1][axis] + 1.5 - half];
    return least > most ? (least + most) / 2 : Math.max(least, Math.min(most, middle));
  }

  function pixels([x, y, z]) {
    const [east, south] = [(x - view.eyes[0]) * view.cell, (z - view.eyes[2]) * view.cell];
    const middle = [view.width / 2, view.height / 2];
    if (!view.angled) return [middle[0] + east, middle[1] + south];
    const up = (y - view.eyes[1]) * view.cell * ANGLE.up;
    return [middle[0] + (east - south) * ANGLE.across, middle[1] + (east + south) * ANGLE.along - up];
  }

  /* so many pixels on the ground, in cells */
  function groundCells(right, below) {
    if (!view.angled) return [right / view.cell, below / view.cell];
    const [across, along] = [right / view.cell / ANGLE.across, below / view.cell / ANGLE.along];
    return [(along + across) / 2, (along - across) / 2];
  }

  /* the cell of the shown level on whose floor this pixel is, if it is in the site */
  function cellAt(x, y) {
    if (!ground.box) return null;
    const raised = view.angled ? (view.level - 0.5 - view.eyes[1]) * ANGLE.up * view.cell : 0;
    const [east, south] = groundCells(x - view.width / 2, y - view.height / 2 + raised);
    const at = [Math.round(view.eyes[0] + east), view.level, Math.round(view.eyes[2] + south)];
    return inSite(at) ? at : null;
  }

  /* drawing */

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  }

  /* not asked for in each frame, which would lay the page out */
  function resize() {
    [view.width, view.height] = [stage.clientWidth, stage.clientHeight];
    if (now) draw();
  }

  function measure() {
    const ratio = Math.min(2, devicePixelRatio);
    if (!view.zoomed) view.chosen = firstColumns();
    view.columns = Math.max(view.chosen, columnsAtTheEnd());
    view.cell = Math.max(4, Math.round((view.width * ratio) / view.columns) / ratio);
    if (canvas.width !== Math.round(view.width * ratio)) canvas.width = Math.round(view.width * ratio);
    if (canvas.height !== Math.round(view.height * ratio)) canvas.height = Math.round(view.height * ratio);
    view.ratio = ratio;
    view.sprite = Math.round(view.cell * ratio);
    view.eyes = eyes();
    stage.classList.toggle("is-larger", Boolean(ground.box) && columnsOfSite() > view.columns);
    view.colours ??= readColours();
  }

  function readColours() {
    const style = getComputedStyle(stage);
    return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`)]));
  }

  /* the number of columns with which all rows of the site are in sight after the end, when the map is wide and low */
  function columnsAtTheEnd() {
    if (view.zoomed || !ground.box || !document.querySelector("#over.is-over")) return 0;
    return Math.min(MOST, columnsOfSite());
  }

  const columnsOfSite = () => Math.max(ground.box[1][0] + 3, Math.ceil((view.width * (ground.box[1][2] + 3)) / view.height));
  const mostColumns = () => Math.max(MOST, ground.box && view.height ? columnsOfSite() : 0);

  function paint() {
    if (!view.width || !now) return;
    measure();
    paintStill();
    for (const [kind, ...at] of now.animals) paintAnimal(kind, at);
    for (const one of now.spots) if ("seat" in one) noteBuilder(one);
    const builders = now.spots.filter((one) => "seat" in one).map(placeOf);
    mapDepth.show(builders, view, { top, blockAt, angle: ANGLE }, paintOver);
    mapSpots.place(now.spots, (spot) => (picked?.spot === spot.spot ? picked.at : placeOf(spot)), pixels, view);
    stage.dataset.cell = view.cell;
    showPointed();
    if (isWalking() || look) draw();
  }

  function paintOver(over, at, kind, share) {
    pen = over;
    const known = things.length;
    paintCube(at, kind, share);
    things.length = known;
    pen = front;
  }

  /* ground and blocks: drawn only if they have changed or one has walked too far, else moved */
  function paintStill() {
    const ahead = Math.min(MOST_AHEAD, Math.round(AHEAD * view.cell));
    const { columns, angled, level, width, height, sprite, ratio, colours } = view;
    const key = JSON.stringify([changes, columns, angled, level, width, height, sprite, ratio, colours]);
    view.moved = movedBy(drawn.eyes);
    if (drawn.key !== key || Math.max(...view.moved.map(Math.abs)) > ahead) drawStill(key, ahead);
    pen = front;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(still.canvas, ...view.moved.map((pixel) => Math.round((pixel - ahead) * ratio)));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    things = [...drawn.things];
  }

  function drawStill(key, ahead) {
    [view.moved, things, pen] = [[0, 0], [], still];
    Object.assign(still.canvas, { width: Math.round((view.width + 2 * ahead) * view.ratio), height: Math.round((view.height + 2 * ahead) * view.ratio) });
    pen.setTransform(view.ratio, 0, 0, view.ratio, Math.round(ahead * view.ratio), Math.round(ahead * view.ratio));
    const cells = columnsInSight(Math.ceil(ahead / view.cell));
    paintGround(ahead, cells);
    for (const [x, z] of cells) view.angled ? paintColumn(x, z) : paintTop(x, z);
    Object.assign(drawn, { key, eyes: view.eyes, things });
  }

  /* how far what was drawn for these eyes is from its place, in pixels */
  function movedBy(eyes) {
    const [x, y] = pixels(eyes);
    return [x - view.width / 2, y - view.height / 2];
  }

  function paintGround(ahead, cells) {
    const frame = [-ahead, -ahead, view.width + 2 * ahead, view.height + 2 * ahead];
    mapScenery.paint(pen, { area: ground.area, box: ground.box, y: ground.area[0][1] - 0.5, view, at: pixels, cells, frame });
    if (ground.box) paintOutline();
  }

  /* where can be built */
  function paintOutline() {
    const [low, high] = ground.box;
    const corners = [[low[0], low[2]], [high[0] + 1, low[2]], [high[0] + 1, high[2] + 1], [low[0], high[2] + 1]];
    pen.strokeStyle = view.colours.accent;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [x, z] of corners) pen.lineTo(...pixels([x - 0.5, view.level - 0.5, z - 0.5]));
    pen.closePath();
    pen.stroke();
  }

  /* from the back to the front */
  function columnsInSight(more) {
    const reach = Math.ceil(view.angled ? view.columns * 0.9 : view.columns / 2) + 1 + more;
    const down = Math.ceil(view.height / view.cell / 2) + 1 + more;
    const deep = view.angled ? reach : Math.min(down, 60);
    const [x, , z] = view.eyes.map(Math.round);
    const found = [];
    for (let south = -deep; south <= deep; south += 1) for (let east = -reach; east <= reach; east += 1) found.push([x + east, z + south]);
    return view.angled ? found.sort((one, other) => one[0] + one[1] - other[0] - other[1]) : found;
  }

  const inSite = ([x, y, z]) => Boolean(ground.box) && [x, y, z].every((each, axis) => each >= ground.box[0][axis] && each <= ground.box[1][axis]);
  const top = (x, z) => (inSite([x, 0, z]) ? view.level : ground.area[1][1]);

  function paintTop(x, z) {
    let y = top(x, z);
    const site = inSite([x, y, z]);
    const wanted = site && wantedAt(x, y, z);
    while (y >= ground.area[0][1] && !blockAt(x, y, z)) y -= 1;
    const kind = y >= ground.area[0][1] && blockAt(x, y, z);
    const below = site && y < view.level;
    if (kind) paintTile([x, y, z], kind, below ? 0.3 : 1);
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

  function paintColumn(x, z) {
    const highest = top(x, z);
    for (let y = ground.area[0][1]; y <= highest; y += 1) {
      const kind = blockAt(x, y, z);
      const shown = y === highest && inSite([x, y, z]);
      const wanted = shown && wantedAt(x, y, z);
      if (kind && !isHidden(x, y, z)) paintCube([x, y, z], kind, 1);
      if (!kind && wanted) paintPrint([x, y, z], wanted);
      if (shown) paintWanted([x, y, z], kind, wanted);
    }
  }

  const isHidden = (x, y, z) => y < top(x, z) && y < top(x + 1, z) && y < top(x, z + 1) && blockAt(x + 1, y, z) && blockAt(x, y, z + 1) && blockAt(x, y + 1, z);

  function paintCube(at, kind, share) {
    const [x, y] = pixels(at);
    pen.globalAlpha = share;
    const [wide, high] = [view.cell * 1.2, view.cell * 1.3];
    pen.drawImage(pictures.cube(kind, view.sprite), x - wide / 2, y - view.cell * 0.65, wide, high);
    pen.globalAlpha = 1;
    if (share === 1) note(x, y - view.cell * 0.3, kind, at);
  }

  /* what is to stand here, as if printed on what is below */
  function paintPrint(at, kind) {
    const [x, y] = pixels([at[0], at[1] - 0.5, at[2]]);
    const [wide, high] = [view.cell * 1.08, view.cell * 0.63];
    pen.globalAlpha = 0.6;
    pen.drawImage(pictures.slab(kind, view.sprite), x - wide / 2, y - high / 2, wide, high);
    pen.globalAlpha = 1;
    pen.strokeStyle = view.colours.print;
    pen.lineWidth = Math.max(1.5, view.cell / 24);
    pen.beginPath();
    for (const [east, south] of [[-0.45, -0.45], [0.45, -0.45], [0.45, 0.45], [-0.45, 0.45]]) pen.lineTo(...pixels([at[0] + east, at[1] - 0.5, at[2] + south]));
    pen.closePath();
    pen.stroke();
  }

  /* what the blueprint wants and does not stand there, and what should not stand there */
  function paintWanted(at, kind, wanted) {
    if (!ground.blueprint || kind === wanted || (!kind && !wanted)) return;
    const [x, y] = pixels(at);
    const half = view.cell * 0.4;
    if (!kind && !view.angled) paintGhost(wanted, x, y);
    pen.lineWidth = Math.max(1.5, view.cell / 12);
    pen.strokeStyle = kind ? view.colours.bad : view.colours.accent;
    pen.setLineDash(kind ? [] : [3, 3]);
    pen.beginPath();
    if (kind) {
      pen.moveTo(x - half, y - half);
      pen.lineTo(x + half, y + half);
      pen.moveTo(x + half, y - half);
      pen.lineTo(x - half, y + half);
    } else if (!view.angled) pen.rect(x - half, y - half, 2 * half, 2 * half);
    pen.stroke();
    pen.setLineDash([]);
    things.push({ x, y, at, spot: "site", kind: kind || wanted, print: !kind, words: kind ? stage.dataset.wrong : stage.dataset.missing });
  }

  function paintGhost(kind, x, y) {
    pen.globalAlpha = 0.45;
    pen.drawImage(pictures.tile(kind, view.sprite), x - view.cell * 0.36, y - view.cell * 0.36, view.cell * 0.72, view.cell * 0.72);
    pen.globalAlpha = 1;
  }

  function paintAnimal(kind, at) {
    const [x, y] = pixels(at);
    const size = Math.max(18, view.cell * 1.15);
    pen.drawImage(pictures.animal(kind, Math.round(size * 2)), x - size / 2, y - size / 2, size, size);
    note(x, y, kind, at, 4);
  }

  /* its button is smaller than a finger */
  function noteBuilder(builder) {
    const [x, y] = pixels(placeOf(builder));
    things.push({ x: x - view.moved[0], y: y - view.moved[1], at: builder.at, ahead: 4, spot: builder.spot, kind: "", words: builder.name });
  }

  const nameOf = (kind) => now.spots.find((one) => one.kind === kind)?.name ?? ground.names[kind] ?? kind.replaceAll("_", " ");

  function note(x, y, kind, at, ahead = 0) {
    things.push({ x: x - view.moved[0], y: y - view.moved[1], at, ahead, spot: inSite(at) ? "site" : kind, kind, words: "{name}" });
  }
  /* clicks */

  function thingAt({ clientX, clientY }) {
    const frame = canvas.getBoundingClientRect();
    const [x, y] = [clientX - frame.left, clientY - frame.top];
    const cell = cellAt(x, y);
    const wanted = cell && siteThing(cell);
    if (cell && (!view.angled || wanted.print)) return wanted;
    const [left, up] = view.moved;
    const far = (one) => Math.hypot(one.x + left - x, one.y + up - y) - (one.ahead ?? 0);
    const near = things.filter((one) => (!cell || one.spot === "site") && far(one) < Math.max(FINGER, view.cell * 0.6));
    return near.reduce((best, one) => (best && far(best) < far(one) ? best : one), null) ?? wanted;
  }

  const siteThing = (at) => things.find((one) => one.spot === "site" && one.at.join() === at.join()) ?? { at, spot: "site", kind: "", words: "" };

  function pick(event) {
    if (wasDrag()) return;
    const thing = thingAt(event);
    const button = thing && mapSpots.button(thing.spot);
    if (!button || choosing.twice || now.you < 0) return;
    event.stopPropagation();
    pickAt(thing, button);
    button.click();
  }

  function pickAt({ spot, at }, button) {
    picked = { spot, at };
    if (spot === "site") {
      cellActions.offer(at, cellCommands(at));
      button.dataset.spot = siteSpot(at);
      button.querySelector(".station-name").textContent = cellWords(at);
    }
    cancelAnimationFrame(frame);
    paint();
  }

  const cellWords = ([x, y, z]) => filled(stage.dataset.cellWords, { level: y + 1, column: x + 1, row: z + 1 });

  /* the very cell, if something can be done there; else all of the site */
  function siteSpot(at) {
    const cell = `cell-${at.join("_")}`;
    return choosing.at(cell).length ? cell : "site";
  }

  /* who knows the blueprint places what it wants; who does not, anything */
  function cellCommands(at) {
    const wanted = wantedAt(...at);
    if (blockAt(...at)) return [[stage.dataset.removeWords, "remove", ...at]];
    const fitting = now.placeable.filter(([item]) => !ground.blueprint || item === wanted);
    return fitting.map(([item, name]) => [filled(stage.dataset.placeWords, { item: name }), "place", item, ...at]);
  }

  /* drags: the view moves with the pointer, and stays until the own builder walks */

  function beginPress({ button, isPrimary, pointerId, clientX, clientY }) {
    press = !button && isPrimary ? { pointerId, from: [clientX, clientY], dragged: view.dragged, drags: false } : null;
  }

  function drag({ pointerId, clientX, clientY }) {
    if (press?.pointerId !== pointerId || press.ended) return;
    const [right, below] = [press.from[0] - clientX, press.from[1] - clientY];
    if (!press.drags && Math.hypot(right, below) < DRAG) return;
    if (!press.drags) canvas.setPointerCapture(pointerId);
    press.drags = true;
    const [[x, , z], [east, south]] = [usualEyes(), groundCells(right, below)];
    const within = (value, axis) => Math.max(ground.area[0][axis], Math.min(ground.area[1][axis], value));
    look = null;
    view.dragged = [within(x + press.dragged[0] + east, 0) - x, within(z + press.dragged[1] + south, 2) - z];
    draw();
  }

  /* the click that ends a drag chooses nothing */
  function endPress() {
    if (press) press.ended = true;
  }

  function wasDrag() {
    const drags = Boolean(press?.drags);
    press = null;
    return drags;
  }

  function point({ type, clientX, clientY }) {
    pointer = type === "pointerleave" ? null : { clientX, clientY };
    showPointed();
  }

  /* again after each change: what was missing there may stand now */
  function showPointed() {
    const thing = pointer && thingAt(pointer);
    tools.querySelector("[data-pointed]").textContent = thing ? saidOf(thing) : "";
    canvas.classList.toggle("is-apt", Boolean(thing && mapSpots.button(thing.spot)));
  }

  function saidOf({ kind, words, at, spot }) {
    const place = spot === "site" ? cellWords(at) : `(${at.join(", ")})`;
    return `${filled(words, { name: nameOf(kind) })} ${place}`.trim();
  }

  /* the view */

  function showLevel() {
    const levels = tools.querySelector("[data-levels]");
    levels.hidden = view.level === null;
    if (levels.hidden) return;
    const words = filled(stage.dataset.levelWords, { level: view.level + 1, levels: ground.box[1][1] + 1 });
    levels.querySelector("output").textContent = words;
  }

  function goLevel(by) {
    if (view.level === null) return;
    view.level = Math.max(0, Math.min(ground.box[1][1], view.level + by));
    showLevel();
    draw();
  }

  function zoom(by) {
    const step = view.columns - by >= MOST ? 12 : 4;
    view.chosen = Math.max(FEWEST, Math.min(mostColumns(), view.columns - step * by));
    view.zoomed = true;
    look = null;
    if (ground.box && view.chosen >= columnsOfSite()) view.dragged = [0, 0]; // all of the site is in sight
    draw();
  }

  function onTool({ target }) {
    const button = target.closest("button");
    if (!button) return;
    if (button.dataset.level) goLevel(Number(button.dataset.level));
    if (button.dataset.zoom) zoom(Number(button.dataset.zoom));
    if (!("angle" in button.dataset)) return;
    setAngle(!view.angled);
    keepAngle();
    draw();
  }

  function setAngle(angled) {
    view.angled = angled;
    stage.toggleAttribute("data-angled", angled);
    tools.querySelector("[data-angle]").setAttribute("aria-pressed", String(angled));
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

  /* the button of the site, from cell to cell */
  function moveCell(button, [east, south]) {
    const from = picked?.spot === "site" ? picked.at : now.spots.find(({ spot }) => spot === "site").at;
    const within = (value, axis) => Math.max(ground.box[0][axis], Math.min(ground.box[1][axis], value));
    pickAt({ spot: "site", at: [within(from[0] + east, 0), view.level, within(from[2] + south, 2)] }, button);
    document.getElementById("stage-said").textContent = button.textContent;
  }

  function onKey(event) {
    if (event.shiftKey && event.key in ARROWS && event.target === mapSpots.button("site")) {
      event.preventDefault();
      event.stopPropagation();
      moveCell(event.target, ARROWS[event.key]);
      return;
    }
    const by = { PageUp: 1, PageDown: -1 }[event.key];
    if (!by || view.level === null || !tools.contains(event.target)) return;
    event.preventDefault();
    goLevel(by);
  }

  canvas.addEventListener("click", pick);
  canvas.addEventListener("pointerdown", beginPress);
  canvas.addEventListener("pointermove", drag);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, endPress);
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerleave", point);
  tools.querySelector(".map-tools").addEventListener("click", onTool);
  tools.addEventListener("keydown", onKey);
  play.addEventListener("brigade:panels", read);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    view.colours = null;
    draw();
  });
  setAngle(keptAngle());
  new ResizeObserver(resize).observe(stage);
  resize();
  read();
})();
