/* A grid as drawn: who is where, and what lies or happens on cells, over the tiles that the server has drawn. What is
   seen comes with a panel (#seen), or from the clock (`brigade:tick`); who moves glides there (grid_motion.js). Under a
   clock, what this person has pressed is shown before the server has said so (grid_prediction.js).

   `painters` of [data-play], which a world's own script sets before this one, draw what is no plain thing:
   `painters[layer](entry, tools)` gives the elements of an entry, and `painters.picture(thing)` names the picture.
   `painters.thing(thing, x, y, size)` draws a thing itself, instead of a picture. `painters.thinks(seat)` names the thing
   in a bubble at somebody's head, before what the page says of intents. How characters look, and what is seen
   for a moment, is in grid_characters.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const moves = play?.querySelector("[data-moves]");
  if (!moves) return;

  const SVG = "http://www.w3.org/2000/svg";
  const GLIDE = 160; // milliseconds from one cell to the next where steps wait for everybody
  const PUT_RIGHT = 150; // milliseconds until what was shown too early is where the server says
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const tiles = () => document.getElementById("board");
  const { cell: side, tick: beat = 0, pictures, rules } = tiles().dataset;
  const cell = Number(side);
  const tick = Number(beat); // milliseconds, where a clock takes the steps
  const RULES = JSON.parse(rules); // kitchen/pages/grid_page.py
  const painters = play.painters ?? {};
  const layers = {};
  const actors = []; // by seat: its elements, and how it moves
  const drawn = new Map(); // what is somewhere: its element by layer and cell, what it shows, and whether it is known

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
  const motion = play.motionOf(moveTo);

  /* what lies or happens on cells */

  /* `said` is what the server has said; the rest of what is seen is expected */
  function place(layer, entry, said) {
    const key = `${layer} ${entry.at}`;
    const shows = JSON.stringify(entry);
    const known = drawn.get(key);
    const expected = !said[layer].includes(entry);
    if (known?.shows === shows) {
      known.expected = expected;
      return key;
    }
    known?.element.remove();
    const paint = painters[layer] ?? (({ thing }) => [picture(pictureOf(thing), 0, 0, 30)]);
    const element = make("g", { class: known || painters[layer] ? "" : "is-new" }, ...paint(entry, tools));
    moveTo(element, entry.at);
    layers[layer].append(element);
    drawn.set(key, { element, shows, expected });
    return key;
  }

  function showPlaces(seen, said) {
    const kept = new Set(RULES.layers.flatMap((layer) => seen[layer].map((entry) => place(layer, entry, said))));
    for (const [key, { element, expected }] of drawn) {
      if (kept.has(key)) continue;
      drawn.delete(key);
      if (expected && !CALM.matches) element.animate({ opacity: 0 }, PUT_RIGHT).finished.finally(() => element.remove());
      else element.remove();
    }
  }

  /* who is there */

  function actorOf(seat, you, faces) {
    if (actors[seat]) return actors[seat];
    const nose = faces ? make("path", { class: `nose of-${seat + 1}`, d: "M-8-18 0-27 8-18z" }) : "";
    const ring = seat === you ? [make("circle", { class: "ring-you", r: 20.5 })] : [];
    const element = make("g", { class: "actor", "data-seat": seat }, ...ring, nose, characters.create(seat));
    layers.actors.append(element);
    actors[seat] = { element, nose, motion: motion.add(element) };
    return actors[seat];
  }

  const angle = (face) => (Math.atan2(...RULES.moves[face]) * -180) / Math.PI + 180;

  /* `go(motion, at)` moves somebody there */
  function showActor(seat, player, you, go) {
    const { at, face } = player;
    const actor = actorOf(seat, you, face);
    if (face) actor.nose.setAttribute("transform", `rotate(${angle(face) % 360})`);
    characters.update(seat, actor.element, player);
    go(actor.motion, at);
  }

  function show(seen, said, you, goOf) {
    showPlaces(seen, said);
    seen.players.forEach((player, seat) => showActor(seat, player, you, goOf(seat)));
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
    show(seen, seen, own(), () => (actor, at) => motion.glide(actor, at, GLIDE));
    if (!tick) showHint(advised(seen.players[own()]), seen.players[own()]);
    characters.think((seat) => painters.thinks?.(seat) || document.querySelector(`#intents [data-next="${seat}"]`)?.dataset.item);
    if (value !== told) characters.tell(seen);
    told = value;
  }

  /* Under a clock: who plays goes where the keys say. Where the server says otherwise, it is put right at once; but
     whoever comes back after a while is put there. */

  function showTick({ detail: { observation, predicted, pressed, lasts, walks, errand, intents } }) {
    const you = own();
    const goOwn = (actor, at) => motion.glide(actor, at, pressed ? lasts : PUT_RIGHT, pressed || walks ? Infinity : undefined);
    const goOther = (actor, at) => (walks ? motion.follow(actor, at, walks.due, tick) : motion.glide(actor, at, tick));
    show(predicted, observation, you, (seat) => (seat === you ? goOwn : goOther));
    if (document.getElementById("hint")) showHint(cellsIn(errand?.at), predicted.players[you]);
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
