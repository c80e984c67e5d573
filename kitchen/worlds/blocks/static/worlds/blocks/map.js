/* The map of the blocks worlds, from above or at an angle. The server sends chunks of blocks, animals, and spots: things
   that can be clicked (kitchen/worlds/blocks/map_panels.py). Each spot is a button (stage.js); the rest is drawn on a
   canvas, and a click there is one on the spot of what lies nearest. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const GLIDE = 240; // milliseconds of a walk
  const CHUNK = 8;
  const [FEWEST, MOST] = [9, 33]; // columns in sight; more where all of a site needs more
  const DRAG = 6; // pixels from which a press on the map is a drag
  const FINGER = 22; // pixels around a click in which something is meant
  const COLOURS = ["ground", "ground-line", "ground-tuft", "beyond", "accent", "bad"];
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const [AHEAD, MOST_AHEAD] = [4, 120]; // cells and pixels around the view that are drawn ahead, for walks
  const ANGLE = { across: 0.6, along: 0.35, up: 0.6 }; // of a cell's side
  const { blockPictures: pictures, builderDeeds, cellActions, choosing, mapSpots } = play;
  const canvas = stage.querySelector("canvas");
  const front = canvas.getContext("2d");
  const still = document.createElement("canvas").getContext("2d"); // ground and blocks, until they change
  let pen = front;
  const tools = stage.parentElement;
  const chunks = new Map(); // by the id of their element
  const walks = new Map(); // by spot of a builder: from where to where, since when
  const view = { chosen: 0, zoomed: false, columns: 0, angled: false, level: null, width: 0, height: 0, cell: 0, moved: [0, 0], dragged: [0, 0] };
  let [ground, now] = [null, null];
  let things = []; // what is drawn and can be clicked: its middle (before `view.moved`), cell, spot, kind, and words
  let picked = null; // the spot that was clicked, and where
  let pointer = null; // where the mouse is, while it is on the canvas
  let press = null; // the pointer that is down: where it began, how far the view was dragged then, whether it drags
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
    if (before?.at.join() !== now.at.join()) view.dragged = [0, 0];
    if (before?.level !== now.level) view.level = firstLevel();
    for (const spot of now.spots) if ("seat" in spot) walk(spot, before);
    view.chosen ||= firstColumns();
    view.columns ||= view.chosen;
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

  /* so that what is near can be seen */
  function firstColumns() {
    const far = now.spots.map(({ at }) => Math.max(Math.abs(at[0] - now.at[0]), Math.abs(at[2] - now.at[2])));
    const site = ground.box ? Math.max(ground.box[1][0], ground.box[1][2]) + 5 : 0;
    return Math.max(FEWEST, site, Math.min(25, 2 * Math.max(...far) + 3));
  }

  /* walks */

  function walk({ spot, at }, before) {
    const walked = walks.get(spot);
    const last = before?.spots.find((one) => one.spot === spot)?.at;
    if (last && last.every((value, axis) => value === at[axis])) return;
    const still = !walked || CALM.matches;
    walks.set(spot, { from: still ? at : placeOf({ spot, at }), to: at, since: performance.now() });
  }

  function placeOf({ spot, at }) {
    const walked = walks.get(spot);
    if (!walked) return at;
    const share = Math.min(1, (performance.now() - walked.since) / GLIDE);
    return walked.from.map((value, axis) => value + (walked.to[axis] - value) * share);
  }

  const isWalking = () => [...walks.values()].some(({ from, to, since }) => from !== to && performance.now() - since < GLIDE);

  /* from cells to pixels */

  function eyes() {
    const [x, y, z] = usualEyes();
    return [x + view.dragged[0], y, z + view.dragged[1]];
  }

  /* in the middle is the own builder, or a site that fits */
  function usualEyes() {
    const own = now.spots.find(({ spot }) => spot === "you");
    const [x, y, z] = own ? placeOf(own) : now.at;
    if (!ground.box) return view.angled ? [x, y, z] : [inArea(x, 0, view.columns / 2), y, inArea(z, 2, view.height / view.cell / 2)];
    const [wide, , deep] = ground.box[1]; // all of the site, if it fits
    return wide + 4 <= view.columns && Math.abs(x - wide / 2) < view.columns / 2 ? [wide / 2, y, deep / 2] : [x, y, z];
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

  /* the cell of the shown level at this pixel, if it is in the site */
  function cellAt(x, y) {
    if (!ground.box) return null;
    const raised = view.angled ? (view.level - view.eyes[1]) * ANGLE.up * view.cell : 0;
    const [east, south] = groundCells(x - view.width / 2, y - view.height / 2 + raised);
    const at = [Math.round(view.eyes[0] + east), view.level, Math.round(view.eyes[2] + south)];
    return inSite(at) ? at : null;
  }

  /* drawing */

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  }

  function measure() {
    const ratio = Math.min(2, devicePixelRatio);
    [view.width, view.height] = [stage.clientWidth, stage.clientHeight];
    view.columns = Math.max(view.chosen, columnsAtTheEnd());
    view.cell = Math.max(4, Math.round((view.width * ratio) / view.columns) / ratio);
    if (canvas.width !== Math.round(view.width * ratio)) canvas.width = Math.round(view.width * ratio);
    if (canvas.height !== Math.round(view.height * ratio)) canvas.height = Math.round(view.height * ratio);
    view.ratio = ratio;
    view.sprite = Math.round(view.cell * ratio);
    view.eyes = eyes();
    stage.classList.toggle("is-larger", Boolean(ground.box) && columnsOfSite() > view.columns);
    const style = getComputedStyle(stage);
    view.colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`)]));
  }

  /* the number of columns with which all rows of the site are in sight after the end, when the map is wide and low */
  function columnsAtTheEnd() {
    if (view.zoomed || !ground.box || !document.querySelector("#over.is-over")) return 0;
    return Math.min(MOST, columnsOfSite());
  }

  const columnsOfSite = () => Math.max(ground.box[1][0] + 3, Math.ceil((view.width * (ground.box[1][2] + 3)) / view.height));
  const mostColumns = () => Math.max(MOST, ground.box && view.height ? columnsOfSite() : 0);

  function paint() {
    if (!stage.clientWidth || !now) return;
    measure();
    paintStill();
    for (const [kind, ...at] of now.animals) paintAnimal(kind, at);
    for (const one of now.spots) if ("seat" in one) noteBuilder(one);
    mapSpots.place(now.spots, (spot) => pixels(picked?.spot === spot.spot ? picked.at : placeOf(spot)), view);
    stage.dataset.cell = view.cell;
    showPointed();
    if (isWalking()) draw();
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
    paintGround(ahead);
    for (const [x, z] of columnsInSight(Math.ceil(ahead / view.cell))) view.angled ? paintColumn(x, z) : paintTop(x, z);
    Object.assign(drawn, { key, eyes: view.eyes, things });
  }

  /* how far what was drawn for these eyes is from its place, in pixels */
  function movedBy(eyes) {
    const [x, y] = pixels(eyes);
    return [x - view.width / 2, y - view.height / 2];
  }

  function paintGround(ahead) {
    const [low, high] = ground.area;
    const y = low[1] - 0.5;
    pen.fillStyle = view.colours.beyond;
    pen.fillRect(-ahead, -ahead, view.width + 2 * ahead, view.height + 2 * ahead);
    const corners = [[low[0], low[2]], [high[0] + 1, low[2]], [high[0] + 1, high[2] + 1], [low[0], high[2] + 1]];
    pen.fillStyle = view.colours.ground;
    pen.beginPath();
    for (const [x, z] of corners) pen.lineTo(...pixels([x - 0.5, y, z - 0.5]));
    pen.fill();
    paintGrass(y, Math.ceil(ahead / view.cell));
    paintLines(y);
    if (ground.box) paintOutline();
  }

  /* every other cell is darker, and here and there grows something: always the same on the same cell */
  function paintGrass(y, more) {
    const [low, high] = ground.area;
    for (const [x, z] of columnsInSight(more)) {
      if (x < low[0] || x > high[0] || z < low[2] || z > high[2]) continue;
      if ((x + z) % 2) {
        pen.fillStyle = view.colours["ground-line"];
        pen.globalAlpha = 0.28;
        pen.beginPath();
        for (const [east, south] of [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) pen.lineTo(...pixels([x + east, y, z + south]));
        pen.fill();
        pen.globalAlpha = 1;
      }
      const grows = mixed(Math.imul(x, 374761393) + Math.imul(z, 668265263));
      if (grows % 5 === 0) paintTuft(pixels([x, y, z]), grows);
    }
  }

  /* a number that looks drawn at random, and is the same for the same number */
  function mixed(number) {
    const half = Math.imul(number ^ (number >>> 13), 1274126177);
    return (half ^ (half >>> 16)) >>> 0;
  }

  const FLOWERS = ["#f7d24a", "#f3f0ff", "#f08aa5"];

  function paintTuft([x, y], grows) {
    const high = view.cell * 0.2;
    pen.strokeStyle = view.colours["ground-tuft"];
    pen.lineWidth = Math.max(1, view.cell / 18);
    pen.beginPath();
    for (const lean of [-0.7, 0, 0.7]) {
      pen.moveTo(x + lean * high * 0.4, y + high);
      pen.lineTo(x + lean * high, y + (lean ? high * 0.3 : 0));
    }
    pen.stroke();
    if (grows % 3) return;
    pen.fillStyle = FLOWERS[(grows >>> 8) % FLOWERS.length];
    pen.beginPath();
    pen.arc(x, y, Math.max(1.5, view.cell / 12), 0, 2 * Math.PI);
    pen.fill();
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

  /* every fourth line of the grid: that walking is seen */
  function paintLines(y) {
    const [low, high] = ground.area;
    pen.strokeStyle = view.colours["ground-line"];
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = Math.ceil(low[0] / 4) * 4; x <= high[0]; x += 4) line([x - 0.5, y, low[2] - 0.5], [x - 0.5, y, high[2] + 0.5]);
    for (let z = Math.ceil(low[2] / 4) * 4; z <= high[2]; z += 4) line([low[0] - 0.5, y, z - 0.5], [high[0] + 0.5, y, z - 0.5]);
    pen.stroke();
  }

  function line(from, to) {
    pen.moveTo(...pixels(from));
    pen.lineTo(...pixels(to));
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
      if (!kind && wanted) paintCube([x, y, z], wanted, 0.35);
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
    things.push({ x, y, at, spot: "site", kind: kind || wanted, words: kind ? stage.dataset.wrong : stage.dataset.missing });
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
    if (cell && !view.angled) return siteThing(cell);
    const [left, up] = view.moved;
    const far = (one) => Math.hypot(one.x + left - x, one.y + up - y) - (one.ahead ?? 0);
    const near = things.filter((one) => far(one) < Math.max(FINGER, view.cell * 0.6));
    return near.reduce((best, one) => (best && far(best) < far(one) ? best : one), null) ?? (cell && siteThing(cell));
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
    if (ground.box && view.chosen >= columnsOfSite()) view.dragged = [0, 0]; // all of the site is in sight
    draw();
  }

  function onTool({ target }) {
    const button = target.closest("button");
    if (!button) return;
    if (button.dataset.level) goLevel(Number(button.dataset.level));
    if (button.dataset.zoom) zoom(Number(button.dataset.zoom));
    if (!("angle" in button.dataset)) return;
    view.angled = !view.angled;
    button.setAttribute("aria-pressed", String(view.angled));
    draw();
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(draw).observe(stage);
  read();
})();
