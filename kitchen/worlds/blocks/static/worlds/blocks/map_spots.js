/* The buttons on the map of the blocks worlds, one for each thing that can be clicked, and the legend. What they do is
   in stage.js, where they are in map.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const box = play?.querySelector("[data-map] [data-spots]");
  if (!box) return;

  const BUILDER = [40, 96]; // pixels of a builder: as wide as a cell, within these
  const EDGE = 22; // pixels from the edge at which what is out of sight is marked
  const APART = 44; // pixels between two marks at the edge: as wide as a finger
  const SVG = "http://www.w3.org/2000/svg";
  const legend = play.querySelector("[data-legend]");
  const buttons = new Map(); // by spot
  const moved = new WeakMap(); // by button: where it was put
  const { blockPictures: pictures } = play;
  let builder = 0; // pixels, as the style sheet knows
  let labelled = ""; // for which places the words were arranged

  function show(now, names) {
    const here = new Set(now.spots.map(({ spot }) => spot));
    for (const [spot, button] of buttons) {
      if (here.has(spot)) continue;
      button.remove();
      buttons.delete(spot);
    }
    for (const one of now.spots) {
      if (!buttons.has(one.spot)) buttons.set(one.spot, newButton(one, now.you >= 0));
      fillButton(buttons.get(one.spot), one);
    }
    showLegend({ ...names, ...Object.fromEntries(now.spots.filter(({ kind }) => kind).map(({ kind, name }) => [kind, name])) });
  }

  function newButton({ spot, seat }, isPlayed) {
    const button = document.createElement(isPlayed ? "button" : "div");
    const words = document.createElement("span");
    button.className = `map-spot${seat === undefined ? "" : " is-builder"}${spot === "you" ? " is-you" : ""}`;
    if (isPlayed) button.type = "button";
    words.className = "station-name";
    if (seat !== undefined) button.append(body(seat));
    button.append(words);
    box.append(button);
    return button;
  }

  /* its character: the body of the seat, and what it does */
  function body(seat) {
    const svg = document.createElementNS(SVG, "svg");
    svg.classList.add("seat", "character");
    svg.setAttribute("aria-hidden", "true");
    svg.append(...[`#builder-${seat + 1}`, "#pose-stand"].map((href) => {
      const use = document.createElementNS(SVG, "use");
      use.setAttribute("href", href);
      return use;
    }));
    return svg;
  }

  function fillButton(button, { spot, name, holds = [], use, station }) {
    const words = button.querySelector(".station-name");
    const shownName = use ? `${name} (${use})` : name;
    if (words.textContent !== shownName) words.textContent = shownName;
    if (button.type) button.dataset.spot = spot;
    button.classList.toggle("is-used", Boolean(use));
    button.classList.toggle("is-station", Boolean(station));
    const shown = holds.join(" ");
    if ((button.dataset.holds ?? "") === shown) return;
    button.dataset.holds = shown;
    button.querySelector(".character use + use")?.setAttribute("href", shown ? "#pose-carry" : "#pose-stand");
    button.querySelector(".held")?.remove();
    if (!shown) return;
    const held = document.createElement("span");
    held.className = "held";
    held.append(...holds.map(small));
    button.append(held);
  }

  function small(kind) {
    const picture = document.createElement("canvas");
    [picture.width, picture.height, picture.dataset.block] = [32, 32, kind];
    pictures.fill(picture);
    return picture;
  }

  /* in the frame: `cellOf` gives the cell of a spot, `at` its pixels; who stands further down is in front */
  function place(spots, cellOf, at, { width, height, cell, level }) {
    const wide = Math.round(Math.max(BUILDER[0], Math.min(BUILDER[1], cell)));
    const aside = wide * 0.8; // between two builders
    if (builder !== wide) box.style.setProperty("--builder", `${wide}px`);
    builder = wide;
    const taken = []; // where builders stand: one beside the other
    const inSight = ([x, y]) => x > 0 && y > 0 && x < width && y < height;
    const placed = spots.map((one) => {
      const cell = cellOf(one);
      let [x, y] = at(cell);
      if (buttons.get(one.spot).matches(".is-builder")) {
        while (taken.some(([left, top]) => Math.hypot(left - x, top - y) < aside)) x += aside;
        taken.push([x, y]);
      }
      return { ...one, middle: [x, y], seen: inSight([x, y]), depth: "seat" in one ? String(1000 + Math.round(cell[0] + cell[2])) : "" };
    });
    const covered = placed.filter(({ seen }) => seen).map(({ middle }) => middle);
    if (level !== null) covered.push(...[30, 75, 120].map((up) => [width - 30, height - up])); // the buttons for levels
    for (const { spot, kind, middle, seen, depth } of placed) {
      const button = buttons.get(spot);
      if (button.style.zIndex !== depth) button.style.zIndex = depth;
      const inside = seen ? middle : freeAtEdge(middle, [width, height], covered);
      const [x, y] = [within(inside[0], width), within(inside[1], height)];
      if (!seen) covered.push([x, y]);
      moveTo(button, `translate(${Math.round(x)}px, ${Math.round(y)}px)`);
      if (button.classList.contains("is-beyond") === seen) button.classList.toggle("is-beyond", !seen);
      if (kind && !seen && !button.querySelector(".beyond")) button.prepend(markOf(kind));
    }
    label(placed, wide);
  }

  /* the words at things, once all is where it stays for a moment */
  function label(placed, wide) {
    const spots = placed.filter(({ seen }) => seen).map((one) => ({ button: buttons.get(one.spot), middle: one.middle, body: "seat" in one ? bodyRoom(one.middle, wide) : null }));
    const key = spots.map(({ button, middle }) => [middle.map(Math.round), button.className, button.hasAttribute("data-hinted")].join()).join(" ");
    if (key === labelled) return;
    labelled = key;
    play.mapLabels.arrange(spots);
  }

  const bodyRoom = ([x, y], wide) => ({ left: x - wide / 2, right: x + wide / 2, top: y - wide * 0.8, bottom: y + wide * 0.5 });

  /* written only where it changes: the page need not be laid out again */
  function moveTo(button, transform) {
    if (moved.get(button) === transform) return;
    moved.set(button, transform);
    button.style.transform = transform;
  }

  const within = (pixel, size) => Math.min(size - EDGE, Math.max(EDGE, pixel));

  /* the nearest place along the edge where a mark covers no other spot; the wanted one if there is none */
  function freeAtEdge([x, y], [width, height], covered) {
    const [wide, high] = [width - 2 * EDGE, height - 2 * EDGE];
    const [east, south] = [within(x, width) - EDGE, within(y, height) - EDGE];
    const start = y <= 0 ? east : x >= width ? wide + south : y >= height ? 2 * wide + high - east : 2 * (wide + high) - south;
    const isFree = (at) => covered.every((other) => Math.max(Math.abs(at[0] - other[0]), Math.abs(at[1] - other[1])) >= APART);
    for (let aside = 0; aside <= wide + high; aside += APART / 4) {
      const free = [start + aside, start - aside].map((way) => alongEdge(way, wide, high)).find(isFree);
      if (free) return free;
    }
    return [x, y];
  }

  /* the point so many pixels clockwise from the upper left corner of the inner frame */
  function alongEdge(way, wide, high) {
    const rest = (way + 2 * (wide + high)) % (2 * (wide + high));
    if (rest < wide) return [EDGE + rest, EDGE];
    if (rest < wide + high) return [EDGE + wide, EDGE + rest - wide];
    if (rest < 2 * wide + high) return [EDGE + 2 * wide + high - rest, EDGE + high];
    return [EDGE, EDGE + 2 * (wide + high) - rest];
  }

  function markOf(kind) {
    const picture = small(kind);
    picture.className = "beyond";
    return picture;
  }

  /* what the pictures mean */
  function showLegend(named) {
    const kinds = Object.keys(named).join(" ");
    if (legend.dataset.kinds === kinds) return;
    legend.dataset.kinds = kinds;
    legend.replaceChildren(...Object.entries(named).map(([kind, name]) => {
      const item = document.createElement("li");
      item.append(small(kind), name);
      return item;
    }));
  }

  play.mapSpots = { show, place, button: (spot) => buttons.get(spot), builderSize: () => builder };
})();
