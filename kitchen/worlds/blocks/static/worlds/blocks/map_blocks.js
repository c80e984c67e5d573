/* The blocks that the page knows: chunks from the server, the blueprint, and the building site. `mapBlocks` of
   [data-play]; its `world` has what the server said last. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const CHUNK = 8;
  const chunks = new Map(); // by the id of their element
  const world = { ground: null, now: null, changes: 0, text: "" }; // `changes` counts those of ground and blocks

  const data = (name) => document.getElementById(name)?.getAttribute("value") ?? "";
  const part = (number) => Math.floor(number / CHUNK);

  /* returns the cells of known chunks that have changed, each with its new block */
  function read() {
    if (world.text !== data("map-ground")) world.changes += 1;
    world.text = data("map-ground");
    world.ground = JSON.parse(world.text);
    world.now = JSON.parse(data("map-now"));
    return readChunks();
  }

  function readChunks() {
    const here = new Set();
    const changed = [];
    for (const element of document.getElementById("map-chunks").children) {
      const [text, name] = [element.getAttribute("value"), element.id];
      here.add(name);
      const known = chunks.get(name);
      if (known?.text === text) continue;
      const cells = cellsOf(JSON.parse(text));
      chunks.set(name, { text, cells });
      changed.push(...changedCells(name, known?.cells ?? [], cells, Boolean(known)));
      world.changes += 1;
    }
    for (const [name, { cells }] of chunks) {
      if (here.has(name)) continue;
      changed.push(...changedCells(name, cells, [], false));
      chunks.delete(name);
      world.changes += 1;
    }
    return changed;
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

  /* chunks that come and go may only have come into sight: then what counts is within the site */
  function changedCells(name, before, after, isKnown) {
    const [east, south] = name.replace("chunk-", "").split("_").map(Number);
    const found = [];
    for (let number = 0; number < Math.max(before.length, after.length); number += 1) {
      if (before[number] === after[number]) continue;
      const at = [
        east * CHUNK + (number % CHUNK),
        world.ground.area[0][1] + Math.floor(number / CHUNK ** 2),
        south * CHUNK + (Math.floor(number / CHUNK) % CHUNK),
      ];
      if (isKnown || inSite(at)) found.push({ at, kind: after[number] });
    }
    return found;
  }

  function blockAt(x, y, z) {
    const chunk = chunks.get(`chunk-${part(x)}_${part(z)}`);
    return chunk?.cells[((y - world.ground.area[0][1]) * CHUNK + z - part(z) * CHUNK) * CHUNK + x - part(x) * CHUNK];
  }

  function wantedAt(x, y, z) {
    const letter = world.ground.blueprint?.levels[y]?.[z]?.[x];
    return letter && world.ground.blueprint.legend[letter];
  }

  function inSite([x, y, z]) {
    const { box } = world.ground;
    return Boolean(box) && [x, y, z].every((each, axis) => each >= box[0][axis] && each <= box[1][axis]);
  }

  /* the highest cell above the blocks in this column */
  function standing([x, y, z]) {
    let up = y;
    while (up < world.ground.area[1][1] + 1 && blockAt(x, up, z)) up += 1;
    return [x, up, z];
  }

  /* all cells of the blueprint, as [x, y, z, kind] */
  function wanted() {
    const found = [];
    for (const [y, rows] of (world.ground.blueprint?.levels ?? []).entries()) {
      for (const [z, row] of rows.entries()) for (let x = 0; x < row.length; x += 1) if (wantedAt(x, y, z)) found.push([x, y, z, wantedAt(x, y, z)]);
    }
    return found;
  }

  /* all blocks on the site, as [x, y, z, kind], for who does not know the blueprint, too */
  function built() {
    const [low, high] = world.ground.box;
    const found = [];
    for (let y = low[1]; y <= high[1]; y += 1) for (let x = low[0]; x <= high[0]; x += 1) for (let z = low[2]; z <= high[2]; z += 1) {
      const kind = blockAt(x, y, z);
      if (kind) found.push([x, y, z, kind]);
    }
    return found;
  }

  const highest = () => world.ground.box?.[1][1] ?? 0;
  const holds = (kind) => world.now.placeable.some(([item]) => item === kind);

  const holdsWanted = () => Object.values(world.ground.blueprint?.legend ?? {}).some(holds);

  play.mapBlocks = { world, read, blockAt, wantedAt, wanted, built, inSite, standing, highest, holds, holdsWanted };
})();
