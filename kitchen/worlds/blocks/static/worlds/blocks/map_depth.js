/* What stands in front of a builder on the map at an angle: it is drawn once more, on a canvas over the builders. The
   builder stays visible through it, so that nobody is lost behind a wall. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const canvas = play?.querySelector("[data-map] .map-front");
  if (!canvas) return;

  const DEEP = 7; // cells in front of a builder that can cover it
  const [HEAD, FEET, HALF] = [-0.82, 0.46, 0.65]; // of a cell's side, around the middle of a builder's cell, and of a cube
  const [SHARE, LEAST, FOR_EACH] = [0.78, 0.26, 0.13]; // how much one cube covers, several at least, and less for each
  const pen = canvas.getContext("2d");
  let used = false;

  /* the cells in front, from the back to the front: those as far aside as a builder is wide */
  const COLUMNS = [[0, 0], ...Array.from({ length: DEEP }, (_, far) => [[far + 1, far], [far, far + 1], [far + 1, far + 1]]).flat()];

  /* the cubes that cover a builder who stands at this cell; `top` is the highest level that is drawn */
  function covering([x, y, z], { top, blockAt, angle }) {
    const found = [];
    for (const [east, south] of COLUMNS) {
      for (let up = east + south ? 0 : 2; y + up <= top(x + east, z + south); up += 1) {
        const middle = (east + south) * angle.along - up * angle.up;
        if (middle - HALF > FEET || middle + HALF < HEAD) continue;
        const kind = blockAt(x + east, y + up, z + south);
        if (kind) found.push({ at: [x + east, y + up, z + south], kind });
      }
    }
    return found;
  }

  /* `paint` draws a cube; what is in front of two builders is drawn once */
  function show(builders, view, world, paint) {
    if (used) {
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
    }
    used = false;
    if (!view.angled) return;
    const cubes = new Map();
    for (const builder of builders) {
      const over = covering(builder.map(Math.round), world);
      const share = Math.max(LEAST, SHARE - FOR_EACH * Math.max(0, over.length - 1)); // several lie over one another
      for (const cube of over) cubes.set(cube.at.join(), { ...cube, share: Math.min(share, cubes.get(cube.at.join())?.share ?? 1) });
    }
    if (!cubes.size) return;
    used = true;
    for (const [side, pixels] of [["width", view.width], ["height", view.height]]) {
      const size = Math.round(pixels * view.ratio);
      if (canvas[side] !== size) canvas[side] = size;
    }
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    const order = ({ at: [x, y, z] }) => x + z + y / 100;
    for (const { at, kind, share } of [...cubes.values()].sort((one, other) => order(one) - order(other))) paint(pen, at, kind, share);
  }

  play.mapDepth = { show };
})();
