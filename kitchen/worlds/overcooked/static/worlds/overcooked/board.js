/* The grid as drawn: cooks, what lies on counters, and pots, over the tiles that the server has drawn. What is seen
   comes with a panel (#seen), or from the clock (`brigade:tick`); cooks glide to where they are. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const moves = play?.querySelector("[data-moves]");
  if (!moves) return;

  const SVG = "http://www.w3.org/2000/svg";
  const GLIDE = 160; // milliseconds from one cell to the next where ticks wait for everybody
  const TURNS = { north: 0, east: 90, south: 180, west: 270 };
  const STEPS = { north: [0, -1], east: [1, 0], south: [0, 1], west: [-1, 0] };
  const RING = 11; // radius
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const tiles = () => document.getElementById("board");
  const cell = Number(tiles().dataset.cell);
  const tick = Number(tiles().dataset.tick || 0); // milliseconds, where a clock takes the ticks
  const pictures = tiles().dataset.pictures;
  const layers = {};
  const cooks = []; // by seat: its elements, where it is drawn, and where it glides to
  const drawn = new Map(); // what lies or cooks somewhere: its element by layer and cell, and what it shows
  let frame = 0;

  function make(name, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const picture = (name, x, y, size) =>
    make("use", { href: `${pictures}#${name}`, x: x - size / 2, y: y - size / 2, width: size, height: size });

  /* a thing by its picture: a word, or a soup with its ingredients */
  function pictureOf(thing) {
    if (typeof thing === "string") return thing;
    return thing[1].includes("tomato") ? "soup-red" : "soup";
  }

  const moveTo = (element, [x, y]) => element.setAttribute("transform", `translate(${(x + 0.5) * cell} ${(y + 0.5) * cell})`);

  /* counters and pots */

  function place(layer, at, shows, content) {
    const key = `${layer} ${at}`;
    const known = drawn.get(key);
    if (known?.shows === shows) return key;
    known?.element.remove();
    const element = make("g", { class: known ? "" : "is-new" }, ...content());
    moveTo(element, at);
    layers[layer].append(element);
    drawn.set(key, { element, shows });
    return key;
  }

  function clear(kept) {
    for (const [key, { element }] of drawn) {
      if (kept.has(key)) continue;
      element.remove();
      drawn.delete(key);
    }
  }

  function potContent({ contents, left, whole }) {
    const parts = [make("circle", { class: "broth", r: 13.5 })];
    if (left === null) {
      const across = [[-6.5, -4], [6.5, -4], [0, 7]];
      return [...contents.map((name, number) => picture(name, ...across[number], 13))];
    }
    if (contents.includes("tomato")) parts[0].classList.add("red");
    if (left === 0) return [...parts, picture("steam", 0, -18, 30), make("circle", { class: "ready", r: 9 }), make("path", { class: "check", d: "M-4 .5l3 3 5.500-6" })];
    const round = 2 * Math.PI * RING;
    const arc = make("circle", { class: "arc", r: RING, "stroke-dasharray": `${(round * left) / whole} ${round}`, transform: "rotate(-90)" });
    const number = make("text", { class: "left", y: 4.5 });
    number.textContent = tick ? Math.ceil((left * tick) / 1000) : left;
    return [...parts, make("circle", { class: "track", r: RING }), arc, number];
  }

  function timeOf(contents) {
    const time = JSON.parse(tiles().dataset.time);
    return typeof time === "number" ? time : contents.reduce((sum, name) => sum + time[name], 0);
  }

  function showPlaces(seen) {
    const kept = new Set();
    for (const { at, thing } of seen.counters) kept.add(place("things", at, JSON.stringify(thing), () => [picture(pictureOf(thing), 0, 0, 30)]));
    for (const pot of seen.pots) {
      const shows = { ...pot, whole: timeOf(pot.contents) };
      kept.add(place("pots", pot.at, JSON.stringify([pot.contents, pot.left]), () => potContent(shows)));
    }
    clear(kept);
  }

  /* cooks */

  function cookOf(seat, you) {
    if (cooks[seat]) return cooks[seat];
    const nose = make("path", { class: `nose of-${seat + 1}`, d: "M-9-13 0-24 9-13z" });
    const held = make("g", { class: "held" });
    const body = make("use", { href: `#seat-${seat + 1}`, x: -15, y: -15, width: 30, height: 30 });
    const ring = seat === you ? [make("circle", { class: "ring-you", r: 20.5 })] : [];
    const element = make("g", { class: "cook" }, ...ring, nose, body, held);
    layers.cooks.append(element);
    cooks[seat] = { element, nose, held, holds: "", at: null, from: null, to: null, began: 0, lasts: 0 };
    return cooks[seat];
  }

  function showCook(seat, { at, face, holds }, you, lasts) {
    const cook = cookOf(seat, you);
    cook.nose.setAttribute("transform", `rotate(${TURNS[face]})`);
    const shows = JSON.stringify(holds);
    if (cook.holds !== shows) {
      cook.holds = shows;
      cook.held.replaceChildren(...(holds ? [make("circle", { class: "hand", cx: 13, cy: 12, r: 10.5 }), picture(pictureOf(holds), 13, 12, 17)] : []));
    }
    glide(cook, at, lasts);
  }

  /* from where it is drawn now; who is far away was put there */
  function glide(cook, to, lasts) {
    if (cook.to && cook.to[0] === to[0] && cook.to[1] === to[1]) return;
    const far = !cook.at || Math.abs(cook.at[0] - to[0]) + Math.abs(cook.at[1] - to[1]) > 2.5;
    cook.to = [...to];
    cook.from = far || CALM.matches || !lasts ? to : cook.at;
    cook.began = performance.now();
    cook.lasts = lasts;
    if (cook.from === to) {
      cook.at = [...to];
      moveTo(cook.element, to);
    } else if (!frame) frame = requestAnimationFrame(paint);
  }

  function paint(now) {
    frame = 0;
    for (const cook of cooks) {
      if (!cook || cook.at?.[0] === cook.to[0] && cook.at?.[1] === cook.to[1]) continue;
      const share = Math.min(1, Math.max(0, (now - cook.began) / cook.lasts));
      cook.at = cook.from.map((value, axis) => value + (cook.to[axis] - value) * share);
      moveTo(cook.element, cook.at);
      if (share < 1 && !frame) frame = requestAnimationFrame(paint);
    }
  }

  function show(seen, you, lasts) {
    showPlaces(seen);
    seen.players.forEach((player, seat) => showCook(seat, player, you, lasts));
  }

  function showPanel() {
    const data = document.getElementById("seen");
    show(JSON.parse(data.value), Number(data.dataset.seat), GLIDE);
  }

  /* Where a clock takes the ticks: what this person has pressed is shown before the server has said so, as far as it
     can be known here. */

  const isFloor = ([x, y]) => tiles().dataset.floor.split(" ").includes(`${x},${y}`);

  function after(player, [verb], other) {
    const by = STEPS[verb];
    if (!by) return player;
    const to = [player.at[0] + by[0], player.at[1] + by[1]];
    const free = isFloor(to) && !(other && other.at[0] === to[0] && other.at[1] === to[1]);
    return { ...player, face: verb, at: free ? to : player.at };
  }

  function showTick({ detail: { observation, ahead } }) {
    const you = observation.seat;
    const other = observation.players[1 - you];
    const players = [...observation.players];
    players[you] = ahead.reduce((player, command) => after(player, command, other), players[you]);
    show({ ...observation, players }, you, tick * 1.1);
    showScore(observation);
  }

  function showScore({ points, soups, ticks_left: left }) {
    const score = document.getElementById("score");
    const told = { points, soups, left: Math.ceil((left * tick) / 1000) };
    for (const [name, value] of Object.entries(told)) {
      const box = score.querySelector(`[data-${name}]`);
      if (box.textContent !== String(value)) box.textContent = value;
    }
  }

  const { width, height } = tiles().viewBox.baseVal;
  moves.setAttribute("viewBox", `0 0 ${width} ${height}`);
  moves.parentElement.style.setProperty("--ratio", width / height);
  for (const name of ["pots", "things", "cooks"]) {
    layers[name] = make("g", { class: name });
    moves.append(layers[name]);
  }
  showPanel();
  play.addEventListener("brigade:panels", showPanel);
  play.addEventListener("brigade:tick", showTick);
})();
