/* The buttons on the map of the blocks worlds, one for each thing that can be clicked, and the legend. What they do is
   in stage.js, where they are in map.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const box = play?.querySelector("[data-map] [data-spots]");
  if (!box) return;

  const ASIDE = 26; // pixels between two builders
  const EDGE = 22; // pixels from the edge at which what is out of sight is marked
  const legend = play.querySelector("[data-legend]");
  const buttons = new Map(); // by spot
  const { blockPictures: pictures } = play;

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

  function body(seat) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    svg.setAttribute("class", "seat");
    svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", `#seat-${seat + 1}`);
    svg.append(use);
    return svg;
  }

  function fillButton(button, { spot, name, holds = [], use }) {
    const words = button.querySelector(".station-name");
    const shownName = use ? `${name} (${use})` : name;
    if (words.textContent !== shownName) words.textContent = shownName;
    if (button.type) button.dataset.spot = spot;
    button.classList.toggle("is-used", Boolean(use));
    const shown = holds.join(" ");
    if ((button.dataset.holds ?? "") === shown) return;
    button.dataset.holds = shown;
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

  /* in the frame: `at` says where the middle of a spot is */
  function place(spots, at, { width, height }) {
    const taken = []; // where builders stand: one beside the other
    for (const one of spots) {
      const button = buttons.get(one.spot);
      let [x, y] = at(one);
      if (button.matches(".is-builder")) {
        while (taken.some(([left, top]) => Math.hypot(left - x, top - y) < ASIDE)) x += ASIDE;
        taken.push([x, y]);
      }
      const seen = x > 0 && y > 0 && x < width && y < height;
      button.style.left = `${Math.round(Math.min(width - EDGE, Math.max(EDGE, x)))}px`;
      button.style.top = `${Math.round(Math.min(height - EDGE, Math.max(EDGE, y)))}px`;
      button.classList.toggle("is-beyond", !seen);
      if (one.kind && !seen && !button.querySelector(".beyond")) button.prepend(markOf(one.kind));
    }
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

  play.mapSpots = { show, place, button: (spot) => buttons.get(spot) };
})();
