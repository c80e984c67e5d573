/* The meadow of the blocks worlds, and what stands around it: grass and flowers, a fence, bushes and trees. The same cell
   always looks the same. All of it is drawn with the blocks, and again only when they are (map.js). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const FLOWERS = ["#f7d24a", "#f3f0ff", "#f08aa5"];
  const [BEHIND, BEFORE] = [2, 5]; // cells from the fence to the first tree: in front of the area it would cover some
  const [NEAR, ASIDE] = [3, 4]; // cells from a building site to the first bush behind it, and before it
  const GARDEN = 20; // cells around a site where nothing else is
  const made = new Map(); // trees and bushes, by kind, size and colours

  /* a number that looks drawn at random, and is the same for the same cell */
  function mixed(x, z) {
    const number = Math.imul(x, 374761393) + Math.imul(z, 668265263);
    const half = Math.imul(number ^ (number >>> 13), 1274126177);
    return (half ^ (half >>> 16)) >>> 0;
  }

  /* `at` gives the pixels of a cell, `cells` are [x, z] from the back to the front, `frame` is what is drawn on */
  function paint(pen, { area: [low, high], box, y, view, at, cells, frame }) {
    const { colours } = view;
    const polygon = (points) => {
      pen.beginPath();
      for (const [x, z] of points) pen.lineTo(...at([x, y, z]));
      pen.closePath();
    };
    pen.fillStyle = colours.beyond;
    pen.fillRect(...frame);
    pen.fillStyle = colours.ground;
    polygon([[low[0] - 0.5, low[2] - 0.5], [high[0] + 0.5, low[2] - 0.5], [high[0] + 0.5, high[2] + 0.5], [low[0] - 0.5, high[2] + 0.5]]);
    pen.fill();
    pen.fillStyle = colours["ground-line"];
    pen.globalAlpha = 0.28;
    pen.beginPath();
    for (const [x, z] of cells) if ((x + z) % 2 && beyond([x, z], low, high) <= 0) square(pen, at, x, y, z);
    pen.fill();
    pen.globalAlpha = 1;
    const isGarden = box && [0, 2].every((axis) => box[0][axis] - low[axis] <= GARDEN && high[axis] - box[1][axis] <= GARDEN);
    const growing = cells.map((cell) => [cell, beyond(cell, low, high), mixed(...cell)]);
    for (const [[x, z], far, grows] of growing) if (grows % 5 === 0 && far < 1 && !(box && beyond([x, z], ...box) <= 0)) paintTuft(pen, at([x, y, z]), grows, view);
    paintFence(pen, { low, high, y, view, at });
    for (const [[x, z], far, grows] of growing) {
      const first = x > high[0] || z > high[2] ? BEFORE : BEHIND;
      const kind = far >= first && grows % 8 === 0 ? "tree" : far >= 1 && grows % 9 === 1 ? "bush" : isGarden && far < 1 ? aroundSite([x, z], grows, box) : "";
      if (kind) paintPlant(pen, kind, at([x, y, z]), view);
    }
  }

  /* a building site is in a garden: trees behind it, bushes also before it, where they cover nothing */
  function aroundSite([x, z], grows, [low, high]) {
    const far = beyond([x, z], low, high);
    const isBehind = x + z < Math.min(low[0] + high[2], high[0] + low[2]);
    if (far < (isBehind ? NEAR : ASIDE)) return "";
    if (isBehind && grows % 13 === 0) return "tree";
    return grows % (isBehind ? 9 : 13) === 1 ? "bush" : "";
  }

  /* how many cells it is outside of the area; 0 or less inside */
  const beyond = ([x, z], low, high) => Math.max(low[0] - x, x - high[0], low[2] - z, z - high[2]);

  function square(pen, at, x, y, z) {
    pen.moveTo(...at([x - 0.5, y, z - 0.5]));
    for (const [east, south] of [[0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) pen.lineTo(...at([x + east, y, z + south]));
    pen.closePath();
  }

  function paintTuft(pen, [x, y], grows, { cell, colours }) {
    const high = cell * 0.2;
    pen.strokeStyle = colours["ground-tuft"];
    pen.lineWidth = Math.max(1, cell / 18);
    pen.beginPath();
    for (const lean of [-0.7, 0, 0.7]) {
      pen.moveTo(x + lean * high * 0.4, y + high);
      pen.lineTo(x + lean * high, y + (lean ? high * 0.3 : 0));
    }
    pen.stroke();
    if (grows % 3) return;
    pen.fillStyle = FLOWERS[(grows >>> 8) % FLOWERS.length];
    pen.beginPath();
    pen.arc(x, y, Math.max(1.5, cell / 12), 0, 2 * Math.PI);
    pen.fill();
  }

  /* two rails from corner to corner, and a post at every other cell; from above it is one line with posts */
  function paintFence(pen, { low, high, y, view, at }) {
    const [west, north, east, south] = [low[0] - 0.6, low[2] - 0.6, high[0] + 0.6, high[2] + 0.6];
    const tall = view.angled ? 0.55 : 0;
    pen.strokeStyle = view.colours.fence;
    pen.lineCap = "round";
    pen.lineWidth = Math.max(1.5, view.cell / 14);
    pen.beginPath();
    for (const up of tall ? [tall * 0.45, tall * 0.9] : [0]) {
      pen.moveTo(...at([west, y + up, north]));
      for (const [x, z] of [[east, north], [east, south], [west, south], [west, north]]) pen.lineTo(...at([x, y + up, z]));
    }
    pen.stroke();
    pen.lineWidth = Math.max(2, view.cell / 8);
    pen.beginPath();
    const post = (x, z) => {
      pen.moveTo(...at([x, y, z]));
      pen.lineTo(...at([x, y + tall, z]));
    };
    for (let x = west; x <= east + 0.1; x += 2) [north, south].forEach((z) => post(x, z));
    for (let z = north; z <= south + 0.1; z += 2) [west, east].forEach((x) => post(x, z));
    pen.stroke();
  }

  function paintPlant(pen, kind, [x, y], { cell, sprite, angled, colours }) {
    const size = cell * (kind === "tree" ? 2 : 1);
    const drawn = plant(kind, Math.round(sprite * (kind === "tree" ? 2 : 1)), angled, colours);
    pen.drawImage(drawn, x - size / 2, y - size * (angled ? 0.9 : 0.5), size, size);
  }

  /* in a square of side 1; at an angle it stands at the lower edge */
  function plant(kind, size, angled, { leaf, bark, "leaf-light": light, "leaf-dark": dark }) {
    const name = [kind, size, angled, leaf].join();
    if (made.has(name)) return made.get(name);
    const drawn = Object.assign(document.createElement("canvas"), { width: size, height: size });
    const pen = drawn.getContext("2d");
    pen.scale(size, size);
    const disc = (colour, x, y, r) => {
      pen.fillStyle = colour;
      pen.beginPath();
      pen.arc(x, y, r, 0, 2 * Math.PI);
      pen.fill();
    };
    pen.fillStyle = "rgb(0 0 0 / 0.13)";
    pen.beginPath();
    pen.ellipse(0.5, angled ? 0.9 : 0.56, 0.3, angled ? 0.07 : 0.3, 0, 0, 2 * Math.PI);
    pen.fill();
    if (kind === "tree" && angled) {
      pen.fillStyle = bark;
      pen.fillRect(0.45, 0.6, 0.1, 0.3);
    }
    const [middle, wide] = angled ? [kind === "tree" ? 0.42 : 0.72, kind === "tree" ? 1 : 0.72] : [0.5, 1];
    for (const [x, y, r] of [[-0.15, 0.08, 0.2], [0.15, 0.08, 0.2], [0, -0.1, 0.24]]) disc(dark, 0.5 + x * wide, middle + 0.03 + y * wide, r * wide);
    for (const [x, y, r] of [[-0.14, 0.05, 0.18], [0.14, 0.05, 0.18], [0, -0.12, 0.22]]) disc(leaf, 0.5 + x * wide, middle + y * wide, r * wide);
    for (const [x, y, r] of [[-0.07, -0.17, 0.1], [-0.18, 0.01, 0.06]]) disc(light, 0.5 + x * wide, middle + y * wide, r * wide);
    made.set(name, drawn);
    return drawn;
  }

  play.mapScenery = { paint };
})();
