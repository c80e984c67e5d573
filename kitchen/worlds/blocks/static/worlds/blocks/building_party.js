/* The feast when a building is finished: lanterns around it, animals that come to see it, and fireworks over it. With less
   motion there are no fireworks, and nothing hops. `buildingParty` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const LASTS = 9000; // milliseconds of fireworks
  const [EVERY, BURNS] = [430, 1100]; // milliseconds between two rockets, and of one
  const SPARKS = 22;
  const HOP = 520; // milliseconds
  const GUESTS = ["sheep", "chicken", "rabbit"];
  const COLOURS = ["#ffd45e", "#ff8f6b", "#7fd1ff", "#b8f27a", "#f6a6ff"];
  const { blockPictures: pictures, mapBlocks, mapCamera } = play;
  const { view, CALM, pixels } = mapCamera;
  let since = 0;

  const begin = () => {
    since = performance.now();
  };
  const passed = () => performance.now() - since;
  const isBusy = () => since > 0 && !CALM.matches && passed() < LASTS + BURNS;
  const mixed = (number) => ((Math.imul(number + 1, 2654435761) >>> 8) % 1000) / 1000; // looks drawn at random

  /* where lanterns are: around the site, with the pixels of their feet */
  function lanterns() {
    const [low, high] = mapBlocks.world.ground.box;
    const middle = [0, 2].map((axis) => (low[axis] + high[axis]) / 2);
    const out = [0, 2].map((axis) => (high[axis] - low[axis]) / 2 + 1.7);
    const around = [[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 1], [1, 0], [0, -1], [-1, 0]];
    return around.map(([east, south]) => pixels([middle[0] + east * out[0], low[1] - 0.5, middle[1] + south * out[1]]));
  }

  /* those behind the building, or those before it */
  function paintLanterns(pen, isBefore) {
    const [low, high] = mapBlocks.world.ground.box;
    const [, middle] = pixels([(low[0] + high[0]) / 2, low[1] - 0.5, (low[2] + high[2]) / 2]);
    for (const [x, y] of lanterns()) if (y > middle === isBefore) paintLantern(pen, x, y);
  }

  function paintLantern(pen, x, y) {
    const size = view.cell;
    const top = y - size * 0.95;
    const glow = pen.createRadialGradient(x, top, 0, x, top, size);
    glow.addColorStop(0, "rgb(255 214 120 / 0.85)");
    glow.addColorStop(0.4, "rgb(255 190 80 / 0.3)");
    glow.addColorStop(1, "rgb(255 180 70 / 0)");
    pen.globalAlpha = view.dusk;
    pen.fillStyle = glow;
    pen.fillRect(x - size, top - size, size * 2, size * 2);
    pen.globalAlpha = 1;
    pen.strokeStyle = "#4a3524";
    pen.lineWidth = Math.max(2, size / 18);
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x, top);
    pen.stroke();
    pen.fillStyle = "#ffe09a";
    pen.fillRect(x - size * 0.1, top - size * 0.12, size * 0.2, size * 0.24);
    pen.strokeRect(x - size * 0.1, top - size * 0.12, size * 0.2, size * 0.24);
  }

  /* animals in a row before the right wall */
  function paintGuests(pen, [east, south]) {
    const [low, high] = mapBlocks.world.ground.box;
    const size = Math.max(22, view.cell * 0.9);
    GUESTS.forEach((kind, number) => {
      const along = 0.8 + 1.5 * number;
      const at = east ? [east > 0 ? high[0] + 1.4 : low[0] - 1.4, low[1], low[2] + along] : [low[0] + along, low[1], south > 0 ? high[2] + 1.4 : low[2] - 1.4];
      const [x, y] = pixels(at);
      const hop = isBusy() ? Math.abs(Math.sin((passed() / HOP + number / 3) * Math.PI)) * size * 0.22 : 0;
      pen.drawImage(pictures.animal(kind, Math.round(size * 2)), x - size / 2, y - size / 2 - hop, size, size);
    });
  }

  function paintFireworks(pen) {
    if (!isBusy()) return;
    for (let number = Math.max(0, Math.floor((passed() - BURNS) / EVERY)); number * EVERY < Math.min(passed(), LASTS); number += 1) {
      const share = (passed() - number * EVERY) / BURNS;
      if (share >= 0 && share < 1) paintRocket(pen, number, share);
    }
    pen.globalAlpha = 1;
  }

  function paintRocket(pen, number, share) {
    const [x, y] = [view.width * (0.15 + 0.7 * mixed(number)), view.inset + (view.height - view.inset) * (0.06 + 0.3 * mixed(number + 50))];
    const wide = view.cell * (0.9 + mixed(number + 99)) * Math.sqrt(share);
    pen.fillStyle = COLOURS[number % COLOURS.length];
    pen.globalAlpha = 1 - share * share;
    pen.beginPath();
    for (let spark = 0; spark < SPARKS; spark += 1) {
      const way = (spark / SPARKS) * 2 * Math.PI;
      const reach = wide * (spark % 2 ? 1 : 0.6);
      const [left, top] = [x + Math.cos(way) * reach, y + Math.sin(way) * reach + view.cell * 0.7 * share * share];
      pen.moveTo(left, top);
      pen.arc(left, top, Math.max(1.5, view.cell * 0.055 * (1 - share / 2)), 0, 7);
    }
    pen.fill();
  }

  play.buildingParty = { begin, isBusy, paintLanterns, paintGuests, paintFireworks };
})();
