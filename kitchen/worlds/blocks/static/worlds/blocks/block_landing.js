/* How a block comes: it falls, lands with dust and a sound, and the colour and number of who placed it, if
   that is known, are seen for a moment. A row or level that is done glows. With less motion, only the number is shown. `blockLanding` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const FALL = 170; // milliseconds
  const DUST = 260; // milliseconds after that
  const MARK = 1300; // milliseconds in which one sees whose block it is
  const GLOW = 700; // milliseconds
  const WAVE = 40; // milliseconds from cell to cell of what glows
  const HIGH = 1.6; // cells from which it falls
  const LEAST = 3; // blocks of a row that glows
  const HELD = 500; // milliseconds at most in which the picture below waits for what falls
  const PUFFS = [[-0.62, 0.05, 0.2], [-0.4, 0.25, 0.15], [0, 0.36, 0.18], [0.42, 0.24, 0.16], [0.62, 0.04, 0.2]];
  const TOP = [[-1, 1, -1], [1, 1, -1], [1, 1, 1], [-1, 1, 1]];
  const { blockPictures: pictures, mapBlocks, mapCamera } = play;
  const { world, blockAt, wantedAt, inSite } = mapBlocks;
  const { view, ANGLE, CALM, pixels } = mapCamera;
  const cue = (name) => play.dispatchEvent(new CustomEvent("brigade:cue", { detail: name }));
  let falls = []; // of blocks: where, what, whose, since when, whether it was heard to land
  let glows = []; // of cells: where, since when
  const shown = { changes: 0, since: 0 }; // the changes of the world that the picture below has

  const now = () => performance.now();

  /* what came or went since the last look */
  function land(changed) {
    const placed = changed.filter(({ at, kind }) => kind && inSite(at));
    const taken = changed.filter(({ at, kind }) => !kind && inSite(at));
    const since = now() - (CALM.matches ? FALL : 0);
    falls.push(...placed.map(({ at, kind }) => ({ at, kind, seat: play.blockOwners.of(at), since, heard: false })));
    falls.push(...taken.map(({ at }) => ({ at, kind: "", seat: null, since: now() - FALL, heard: true })));
    if (taken.length) cue("chop");
    if (placed.length) setTimeout(() => play.mapView.draw(), FALL + MARK); // without its mark
    glow(finishedRows(placed), FALL);
  }

  /* the cells of rows in which the last block was just placed */
  function finishedRows(placed) {
    const rows = placed.flatMap(({ at: [x, y, z] }) => [mapBlocks.wanted().filter((one) => one[1] === y && one[2] === z), mapBlocks.wanted().filter((one) => one[1] === y && one[0] === x)]);
    return rows.filter((row) => row.length >= LEAST && row.every(([x, y, z, kind]) => blockAt(x, y, z) === kind)).flat();
  }

  function glow(cells, after = 0) {
    if (CALM.matches || !cells.length) return;
    const first = Math.min(...cells.map(([x, , z]) => x + z));
    glows.push(...cells.map(([x, y, z]) => ({ at: [x, y, z], since: now() + after + WAVE * (x + z - first) })));
  }

  /* the picture below changes when the block has landed */
  function changes() {
    const isFalling = falls.some(({ since, kind }) => kind && now() - since < FALL);
    if (!isFalling || now() - shown.since > HELD) Object.assign(shown, { changes: world.changes, since: now() });
    return shown.changes;
  }

  function paint(pen) {
    falls = falls.filter(({ since }) => now() - since < FALL + MARK);
    glows = glows.filter(({ since }) => now() - since < GLOW);
    for (const one of falls) if (!one.heard && now() - one.since >= FALL) {
      one.heard = true;
      cue("place");
    }
    if (view.yaw !== mapCamera.USUAL) return;
    for (const { at, since } of glows) if (now() > since) paintGlow(pen, at, (now() - since) / GLOW);
    for (const one of falls) paintFall(pen, one);
    for (const one of newest()) paintMark(pen, one);
    pen.globalAlpha = 1;
  }

  /* only the newest of each builder has its mark */
  const newest = () => [...new Map(falls.filter(({ seat, kind }) => kind && seat !== null).map((one) => [one.seat, one])).values()];

  function paintFall(pen, { at, kind, since }) {
    const passed = now() - since;
    if (passed < FALL && kind) {
      const share = passed / FALL;
      paintCube(pen, at, kind, HIGH * (1 - share * share));
    } else if (!CALM.matches && passed < FALL + DUST) paintDust(pen, at, (passed - FALL) / DUST);
  }

  function paintCube(pen, at, kind, up) {
    const [x, y] = pixels(at);
    pen.globalAlpha = 1;
    if (view.angled) pen.drawImage(pictures.cube(kind, view.sprite), x - view.cell * ANGLE.across, y - view.cell * (ANGLE.along + ANGLE.up / 2 + up * ANGLE.up), view.cell * 1.2, view.cell * 1.3);
    else pen.drawImage(pictures.tile(kind, view.sprite), x - view.cell * (0.5 + up / 6), y - view.cell * (0.5 + up / 6), view.cell * (1 + up / 3), view.cell * (1 + up / 3));
  }

  function paintDust(pen, at, share) {
    const [x, y] = pixels(at);
    const down = view.angled ? ANGLE.up / 2 : 0;
    pen.fillStyle = "#f2ead8";
    pen.globalAlpha = 0.75 * (1 - share);
    pen.beginPath();
    for (const [right, below, size] of PUFFS) {
      const [left, top] = [x + right * view.cell * (0.8 + 0.6 * share), y + (down + below) * view.cell * (view.angled ? 1 : 2) - view.cell * 0.12 * share];
      pen.moveTo(left, top);
      pen.arc(left, top, view.cell * size * (0.6 + 0.6 * share), 0, 7);
    }
    pen.fill();
  }

  function paintGlow(pen, at, share) {
    pen.globalAlpha = Math.sin(Math.PI * share) * 0.85;
    pen.fillStyle = "#ffe58a";
    pen.beginPath();
    if (view.angled) for (const way of TOP) pen.lineTo(...play.ghostBuilding.corner(at, way));
    else pen.rect(...pixels(at).map((pixel) => pixel - view.cell / 2), view.cell, view.cell);
    pen.closePath();
    pen.fill();
  }

  /* the number of the builder in its colour, on the block */
  function paintMark(pen, { at, seat, since }) {
    const passed = now() - since - FALL;
    if (passed < 0) return;
    const [x, y] = pixels(at);
    const size = Math.max(9, Math.min(18, view.cell * 0.24));
    const top = y - (view.angled ? view.cell * ANGLE.up / 2 : 0);
    pen.globalAlpha = 1;
    pen.fillStyle = view.colours[`seat-${(seat % 8) + 1}`];
    pen.strokeStyle = "#fffefb";
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.arc(x, top, size, 0, 7);
    pen.fill();
    pen.stroke();
    pen.fillStyle = "#1d1a17";
    pen.font = `700 ${Math.round(size * 1.25)}px ${view.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(String(seat + 1), x, top + 1);
  }

  play.blockLanding = { land, glow, changes, paint, isBusy: () => glows.length > 0 || falls.some(({ since }) => now() - since < FALL + DUST) };
})();
