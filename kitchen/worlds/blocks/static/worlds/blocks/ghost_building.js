/* The building as planned, over the lawn: a pale ghost that fills in. Blocks of the level at work are brighter, most of
   all those that the own builder holds. Also rows and columns in numbers, as people name them in messages. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const [HELD, LACKED, PALE] = [0.62, 0.36, 0.2]; // how much of a ghost covers what is behind
  const { blockPictures: pictures, mapBlocks, mapCamera } = play;
  const { world, blockAt, wantedAt } = mapBlocks;
  const { view, ANGLE, pixels } = mapCamera;
  const HALF = 0.5;
  const COVERED = [[0, 0], [-1, 0], [0, -1], [-1, -1]]; // cells of the level below that a block covers

  /* what one can place now; what others hold is pale, unless one holds nothing that is wanted */
  const isBright = (at) => at[1] <= view.level && (mapBlocks.holds(wantedAt(...at)) || !mapBlocks.holdsWanted());

  /* whether a block above the level at work lets one see, and reach, what it covers: a missing block below or behind it,
     or all that is below a roof */
  function isSeeThrough([x, y, z]) {
    if (y <= view.level || !mapBlocks.inSite([x, y, z])) return false;
    return y > view.level + 1 || COVERED.some(([east, south]) => isMissing([x + east, y - 1, z + south]));
  }

  const isMissing = (at) => mapBlocks.inSite(at) && !blockAt(...at) && Boolean(wantedAt(...at));

  /* whether the ghost of this cell meets another one, or a block, that covers its side */
  function isCovered(at, [east, up, south]) {
    const [x, y, z] = [at[0] + east, at[1] + up, at[2] + south];
    return Boolean(blockAt(x, y, z)) || (Boolean(wantedAt(x, y, z)) && isBright([x, y, z]) === isBright(at));
  }

  /* the upper, the left and the right side are seen from the usual side */
  function paint(pen, at, kind) {
    const sides = [[0, 1, 0], [0, 0, 1], [1, 0, 0]].map((way) => !isCovered(at, way));
    if (!sides.some(Boolean)) return;
    const [x, y] = pixels(at);
    const bright = isBright(at);
    pen.globalAlpha = bright ? (mapBlocks.holds(kind) ? HELD : LACKED) : PALE;
    pen.drawImage(pictures.sides(kind, view.sprite, sides), x - view.cell * ANGLE.across, y - view.cell * (ANGLE.along + ANGLE.up / 2), view.cell * 1.2, view.cell * 1.3);
    pen.globalAlpha = bright ? 0.9 : 0.5;
    pen.strokeStyle = view.colours.print;
    pen.lineWidth = bright ? Math.max(1.5, view.cell / 32) : 1;
    pen.beginPath();
    if (bright) outline(pen, at, sides);
    else edges(pen, at, sides);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  const corner = ([x, y, z], [east, up, south]) => pixels([x + east * HALF, y + up * HALF, z + south * HALF]);
  const TOP = [[-1, 1, -1], [1, 1, -1], [1, 1, 1], [-1, 1, 1]];
  const LEFT = [[-1, 1, 1], [1, 1, 1], [1, -1, 1], [-1, -1, 1]];
  const RIGHT = [[1, 1, 1], [1, 1, -1], [1, -1, -1], [1, -1, 1]];

  function outline(pen, at, sides) {
    for (const [number, side] of [TOP, LEFT, RIGHT].entries()) {
      if (!sides[number]) continue;
      side.forEach((way, index) => pen[index ? "lineTo" : "moveTo"](...corner(at, way)));
      pen.closePath();
    }
  }

  /* of a pale ghost only where the building ends */
  function edges(pen, at, [top, left, right]) {
    const line = (from, to) => {
      pen.moveTo(...corner(at, from));
      pen.lineTo(...corner(at, to));
    };
    const ends = (way) => !isCovered(at, way);
    if (top && ends([-1, 0, 0])) line([-1, 1, -1], [-1, 1, 1]);
    if (top && ends([0, 0, -1])) line([-1, 1, -1], [1, 1, -1]);
    if (top && left) line([-1, 1, 1], [1, 1, 1]);
    if (top && right) line([1, 1, -1], [1, 1, 1]);
    if (left && right) line([1, 1, 1], [1, -1, 1]);
    if (left && ends([-1, 0, 0])) line([-1, 1, 1], [-1, -1, 1]);
    if (right && ends([0, 0, -1])) line([1, 1, -1], [1, -1, -1]);
  }

  /* where can be built: the outline, and the cells of the level for builders who do not know the plan */
  function paintGround(pen) {
    const [low, high] = world.ground.box;
    const floor = (x, z) => pixels([x - HALF, low[1] - HALF, z - HALF]);
    pen.strokeStyle = view.colours.print;
    pen.lineWidth = 2;
    pen.globalAlpha = 0.75;
    pen.beginPath();
    for (const [x, z] of [[low[0], low[2]], [high[0] + 1, low[2]], [high[0] + 1, high[2] + 1], [low[0], high[2] + 1]]) pen.lineTo(...floor(x, z));
    pen.closePath();
    pen.fillStyle = view.colours.soil;
    pen.fill();
    pen.stroke();
    pen.globalAlpha = 1;
    if (!world.ground.blueprint) paintCells(pen, low, high);
    paintNumbers(pen, low, high);
  }

  function paintCells(pen, low, high) {
    const at = (x, z) => pixels([x - HALF, view.level - HALF, z - HALF]);
    pen.strokeStyle = view.colours.print;
    pen.globalAlpha = 0.4;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = low[0]; x <= high[0] + 1; x += 1) {
      pen.moveTo(...at(x, low[2]));
      pen.lineTo(...at(x, high[2] + 1));
    }
    for (let z = low[2]; z <= high[2] + 1; z += 1) {
      pen.moveTo(...at(low[0], z));
      pen.lineTo(...at(high[0] + 1, z));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function paintNumbers(pen, low, high) {
    const size = Math.round(Math.max(10, Math.min(15, view.cell / 4)));
    if (view.cell < 20) return;
    pen.font = `600 ${size}px ${view.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = view.colours.number;
    for (let x = low[0]; x <= high[0]; x += 1) pen.fillText(String(x + 1), ...pixels([x, low[1] - HALF, high[2] + 0.85]));
    for (let z = low[2]; z <= high[2]; z += 1) pen.fillText(String(z + 1), ...pixels([high[0] + 0.85, low[1] - HALF, z]));
  }

  /* the cell that is pointed at: what would be put there is seen, what would be taken is framed */
  function paintMark(pen, at, isHint = false) {
    const kind = blockAt(...at);
    const wanted = wantedAt(...at);
    const [x, y] = pixels(at);
    const [hand, other] = kind || isHint ? [] : play.hotbar.itemsFor(at);
    const puts = hand && !other;
    pen.save();
    if (puts && view.angled) pen.drawImage(pictures.cube(hand, view.sprite), x - view.cell * ANGLE.across, y - view.cell * (ANGLE.along + ANGLE.up / 2), view.cell * 1.2, view.cell * 1.3);
    else if (puts) pen.drawImage(pictures.tile(hand, view.sprite), x - view.cell / 2, y - view.cell / 2, view.cell, view.cell);
    pen.lineJoin = "round";
    if (isHint) pen.setLineDash([6, 5]);
    for (const [colour, wide] of [[view.colours.print, 6], [kind && world.ground.blueprint && kind !== wanted ? view.colours.bad : view.colours.accent, 3]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      pen.beginPath();
      if (!view.angled) pen.rect(x - view.cell / 2, y - view.cell / 2, view.cell, view.cell);
      else if (kind || wanted) for (const way of [[-1, 1, -1], [1, 1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1], [-1, 1, 1]]) pen.lineTo(...corner(at, way));
      else for (const way of [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]]) pen.lineTo(...corner(at, way));
      pen.closePath();
      pen.stroke();
    }
    pen.restore();
  }

  play.ghostBuilding = { paint, isSeeThrough, paintGround, paintMark, corner, TOP };
})();
