/* A grid as drawn: who is where, and what lies or happens on cells, over the tiles that the server has drawn. What is
   seen comes with a panel (#seen), or from the clock (`brigade:tick`); who moves glides there.

   `painters` of [data-play], which a world's own script sets before this one, draw what is no plain thing:
   `painters[layer](entry, tools)` gives the elements of an entry, and `painters.picture(thing)` names the picture.
   `painters.thing(thing, x, y, size)` draws a thing itself, instead of a picture. How characters look, and what is seen
   for a moment, is in grid_characters.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const moves = play?.querySelector("[data-moves]");
  if (!moves) return;

  const SVG = "http://www.w3.org/2000/svg";
  const GLIDE = 160; // milliseconds from one cell to the next where steps wait for everybody
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const tiles = () => document.getElementById("board");
  const { cell: side, tick: beat = 0, pictures, rules } = tiles().dataset;
  const cell = Number(side);
  const tick = Number(beat); // milliseconds, where a clock takes the steps
  const RULES = JSON.parse(rules); // kitchen/pages/grid_page.py
  const painters = play.painters ?? {};
  const layers = {};
  const actors = []; // by seat: its elements, where it is drawn, and where it glides to
  const drawn = new Map(); // what is somewhere: its element by layer and cell, and what it shows
  let frame = 0;

  function make(name, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const symbol = (name, x, y, size) =>
    make("use", { href: `${pictures}#${name}`, x: x - size / 2, y: y - size / 2, width: size, height: size });

  function plain(name, x, y, size) {
    const letter = make("text", { class: "thing-letter", x, y: y + size / 6, "font-size": size / 2 });
    letter.textContent = name.slice(0, 1).toUpperCase();
    return make("g", {}, make("circle", { class: "thing-shape", cx: x, cy: y, r: size / 2.4 }), letter);
  }

  const picture = painters.thing ?? (pictures ? symbol : plain);
  const pictureOf = painters.picture ?? ((thing) => thing);
  const tools = { make, picture, tick };
  const characters = play.charactersOf({ tools, directions: RULES.moves, cell, layers, pictureOf });

  const moveTo = (element, [x, y]) => element.setAttribute("transform", `translate(${(x + 0.5) * cell} ${(y + 0.5) * cell})`);

  /* what lies or happens on cells */

  function place(layer, entry) {
    const key = `${layer} ${entry.at}`;
    const shows = JSON.stringify(entry);
    const known = drawn.get(key);
    if (known?.shows === shows) return key;
    known?.element.remove();
    const paint = painters[layer] ?? (({ thing }) => [picture(pictureOf(thing), 0, 0, 30)]);
    const element = make("g", { class: known || painters[layer] ? "" : "is-new" }, ...paint(entry, tools));
    moveTo(element, entry.at);
    layers[layer].append(element);
    drawn.set(key, { element, shows });
    return key;
  }

  function showPlaces(seen) {
    const kept = new Set(RULES.layers.flatMap((layer) => seen[layer].map((entry) => place(layer, entry))));
    for (const [key, { element }] of drawn) {
      if (kept.has(key)) continue;
      element.remove();
      drawn.delete(key);
    }
  }

  /* who is there */

  function actorOf(seat, you, faces) {
    if (actors[seat]) return actors[seat];
    const nose = faces ? make("path", { class: `nose of-${seat + 1}`, d: "M-8-18 0-27 8-18z" }) : "";
    const ring = seat === you ? [make("circle", { class: "ring-you", r: 20.5 })] : [];
    const element = make("g", { class: "actor", "data-seat": seat }, ...ring, nose, characters.create(seat));
    layers.actors.append(element);
    actors[seat] = { element, nose, at: null, from: null, to: null, began: 0, lasts: 0 };
    return actors[seat];
  }

  const angle = (face) => (Math.atan2(...RULES.moves[face]) * -180) / Math.PI + 180;

  function showActor(seat, player, you, lasts) {
    const { at, face } = player;
    const actor = actorOf(seat, you, face);
    if (face) actor.nose.setAttribute("transform", `rotate(${angle(face) % 360})`);
    characters.update(seat, actor.element, player);
    glide(actor, at, lasts);
  }

  /* from where it is drawn now; who is far away was put there */
  function glide(actor, to, lasts) {
    if (actor.to && actor.to[0] === to[0] && actor.to[1] === to[1]) return;
    const far = !actor.at || Math.abs(actor.at[0] - to[0]) + Math.abs(actor.at[1] - to[1]) > 2.5;
    actor.to = [...to];
    actor.from = far || CALM.matches || !lasts ? to : actor.at;
    actor.began = performance.now();
    actor.lasts = lasts;
    actor.element.classList.toggle("is-walking", actor.from !== to);
    if (actor.from === to) {
      actor.at = [...to];
      moveTo(actor.element, to);
    } else if (!frame) frame = requestAnimationFrame(paint);
  }

  function paint(now) {
    frame = 0;
    for (const actor of actors) {
      if (!actor || actor.at?.[0] === actor.to[0] && actor.at?.[1] === actor.to[1]) continue;
      const share = Math.min(1, Math.max(0, (now - actor.began) / actor.lasts));
      actor.at = actor.from.map((value, axis) => value + (actor.to[axis] - value) * share);
      moveTo(actor.element, actor.at);
      if (share < 1 && !frame) frame = requestAnimationFrame(paint);
      if (share === 1) actor.element.classList.remove("is-walking");
    }
  }

  function show(seen, you, lasts) {
    showPlaces(seen);
    seen.players.forEach((player, seat) => showActor(seat, player, you, lasts));
    characters.stack();
  }

  /* what the hint is about: a ring around its cells, and around the button that uses one of them from here */

  let ringed = "";

  function showHint(cells, player) {
    const shows = cells.join(" ");
    if (shows !== ringed) {
      layers.hints.replaceChildren(...cells.map((at) => {
        const ring = make("rect", { class: "hint-ring", x: -20, y: -20, width: 40, height: 40, rx: 8 });
        moveTo(ring, at);
        return ring;
      }));
    }
    ringed = shows;
    if (!play.ticking || !player?.face) return; // where steps wait, hinted.js marks the button
    const ahead = player.at.map((value, axis) => value + RULES.moves[player.face][axis]);
    const uses = document.querySelector('[data-hold=\'["interact"]\']');
    uses?.toggleAttribute("data-hinted", cells.some((at) => String(at) === String(ahead)));
  }

  /* where an advised command leads: the cell that it uses, or the one in its direction */
  function advised(player) {
    const text = document.getElementById("hint")?.dataset.try;
    if (!text || !player) return [];
    const by = RULES.moves[JSON.parse(text)[0]] ?? (text === '["interact"]' ? RULES.moves[player.face] : null);
    return by ? [player.at.map((value, axis) => value + by[axis])] : [];
  }

  const cellsIn = (text) => (text ?? "").split(" ").filter(Boolean).map((one) => one.split(",").map(Number));

  const own = () => Number(document.getElementById("seen").dataset.seat);

  let told = ""; // what was seen last, where it came with a panel

  function showPanel() {
    const { value } = document.getElementById("seen");
    const seen = JSON.parse(value);
    show(seen, own(), GLIDE);
    if (!tick) showHint(advised(seen.players[own()]), seen.players[own()]);
    characters.think((seat) => document.querySelector(`#intents [data-next="${seat}"]`)?.dataset.item);
    if (value !== told) characters.tell(seen);
    told = value;
  }

  /* Under a clock: what this person has pressed is shown before the server has said so, as far as it can be known
     here. */

  const isFloor = ([x, y]) => tiles().dataset.floor.split(" ").includes(`${x},${y}`);

  function after(player, [verb], others) {
    const by = RULES.moves[verb];
    if (!by) return player;
    const to = [player.at[0] + by[0], player.at[1] + by[1]];
    const kept = RULES.blocking && others.some(({ at }) => at[0] === to[0] && at[1] === to[1]);
    const moved = { ...player, at: isFloor(to) && !kept ? to : player.at };
    return player.face ? { ...moved, face: verb } : moved;
  }

  function showTick({ detail: { observation, ahead, errand, intents } }) {
    const you = own();
    const players = [...observation.players];
    const others = players.filter((_, seat) => seat !== you);
    if (players[you]) players[you] = ahead.reduce((player, command) => after(player, command, others), players[you]);
    show({ ...observation, players }, you, tick * 1.1);
    if (document.getElementById("hint")) showHint(cellsIn(errand?.at), players[you]);
    characters.think((seat) => intents[seat]?.item);
    characters.tell(observation);
  }

  const { width, height } = tiles().viewBox.baseVal;
  moves.setAttribute("viewBox", `0 0 ${width} ${height}`);
  moves.parentElement.style.setProperty("--ratio", width / height);
  for (const name of ["hints", ...RULES.layers, "actors", "moments"]) {
    layers[name] = make("g", { class: name });
    moves.append(layers[name]);
  }
  showPanel();
  play.addEventListener("brigade:panels", showPanel);
  play.addEventListener("brigade:tick", showTick);
})();
