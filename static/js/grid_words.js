/* A grid in words where a clock takes the steps: the same as the drawing says, values that stand alone, what one has in
   hand and in front, and what just happened. The server says all of this elsewhere.

   `describers` of [data-play], which a world's own script sets before this one, say what is no plain thing: `thing(thing)`
   for what is held or lies somewhere, `layers[layer](entry)` for an entry of a layer, `deed(event)` for an event: [its
   kind, text, its mark], without a mark for what a seat did, and `aloud(event)` for what is read aloud of it. */
"use strict";

(() => {
  const play = document.querySelector("[data-play].is-ticking");
  const told = document.getElementById("board")?.dataset.words;
  if (!play || !told) return;

  const WORDS = JSON.parse(told); // kitchen/pages/grid_page.py
  const RULES = JSON.parse(document.getElementById("board").dataset.rules);
  const OWN = Number(document.getElementById("seen").dataset.seat);
  const FIGURES = [...play.querySelectorAll("[data-figure]")];
  const OBSERVED = [...play.querySelectorAll("[data-observed]")];
  const LAYERS = [...RULES.layers].reverse(); // what is drawn last is told
  const MOST = 12; // lines of what just happened
  const SLOW = 1000; // milliseconds from one telling of the table to the next, and that what is said stays
  const describers = play.describers ?? {};
  let seen = null; // what is told of at the end of the second that has begun
  let silence = null; // when what was said aloud is taken away

  const put = (box, text) => box && box.textContent !== text && (box.textContent = text);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const word = (code) => WORDS.names[code] ?? code.replaceAll("_", " ");
  const plain = (thing) => (thing === null ? WORDS.nothing : word(thing));
  const thing = describers.thing ?? plain;
  const inLayer = (layer, entry) => (describers.layers?.[layer] ?? (() => thing(entry.thing)))(entry);

  function valueOf(value) {
    if (Array.isArray(value)) return value.length ? value.map(valueOf).join(", ") : WORDS.values.null;
    return WORDS.values[String(value)] ?? (typeof value === "string" ? word(value) : String(value));
  }

  /* values that stand alone on the page; a number of steps is told in seconds */
  function sayObserved(seen) {
    for (const box of OBSERVED) {
      const value = seen[box.dataset.observed];
      put(box, "ticks" in box.dataset ? String(Math.ceil((value * WORDS.tick_ms) / 1000)) : valueOf(value));
    }
  }

  /* the score, as `Figure.shown` of kitchen/contract/world.py writes it */
  function sayScore(score) {
    for (const box of FIGURES) put(box, figureOf(score[box.dataset.figure] ?? null, box.dataset.kind));
  }

  function figureOf(value, kind) {
    if (value === null) return "–";
    return kind === "share" ? `${Math.round(value * 100)} %` : String(Math.round(value * 100) / 100);
  }

  /* what lies or happens in a cell, in words; empty for nothing */
  function inCell(seen, [x, y]) {
    for (const layer of LAYERS) {
      const entry = seen[layer].find(({ at }) => at[0] === x && at[1] === y);
      if (entry) return inLayer(layer, entry);
    }
    return "";
  }

  function sayOwn(seen) {
    const own = seen.players[OWN];
    if (!own) return;
    if ("holds" in own) put(play.querySelector("[data-holds]"), thing(own.holds));
    if ("face" in own) put(play.querySelector("[data-ahead]"), ahead(seen, own));
  }

  function ahead(seen, { at, face }) {
    const cell = [at[0] + RULES.moves[face][0], at[1] + RULES.moves[face][1]];
    const letter = WORDS.grid[cell[1]]?.[cell[0]];
    if (letter === undefined) return WORDS.end;
    const there = inCell(seen, cell) || WORDS.empty[letter];
    return there ? `${WORDS.looks[letter]}: ${there}` : WORDS.looks[letter];
  }

  function sayAll(seen) {
    const lines = document.querySelectorAll("#actors [data-actor]");
    seen.players.forEach(({ at, face, holds = null }, seat) => {
      const values = { column: at[0] + 1, row: at[1] + 1, face: WORDS.faces[face], thing: thing(holds) };
      put(lines[seat], fill(WORDS.actor, values));
    });
    const rows = document.getElementById("grid").tBodies[0].rows;
    WORDS.grid.forEach((row, y) => [...row].forEach((_, x) => {
      const who = seen.players.findIndex(({ at }) => at[0] === x && at[1] === y);
      put(rows[y].cells[x + 1].querySelector("b"), who >= 0 ? WORDS.players[who] : inCell(seen, [x, y]));
    }));
  }

  /* what has come of the last keys, but for walking: newest first, with the time since the beginning */
  function tellDeeds(events, step) {
    const lines = events.map(deed).filter(Boolean);
    if (!lines.length) return;
    const box = document.querySelector("[data-deeds]");
    if (!box) return;
    const list = box.querySelector("ol");
    const told = make("ul", "", ...lines);
    if (isSaidAgain(told, list.firstElementChild)) list.firstElementChild.remove();
    list.prepend(make("li", "past-step", make("p", "past-number", timeOf(step)), told));
    while (list.children.length > MOST) list.lastElementChild.remove();
    box.hidden = false;
  }

  function timeOf(step) {
    const seconds = Math.floor((step * WORDS.tick_ms) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /* a key that is held in vain is told of once, with the time at which it was in vain last */
  const isSaidAgain = (told, last) =>
    told.querySelector(".refused") && last?.querySelector("ul").textContent === told.textContent;

  function deed(event) {
    if (event.kind === "refused") return event.seat === OWN ? refusal(event) : null;
    const [kind, text, mark] = (describers.deed ?? news)(event) ?? [];
    if (!text) return null;
    const said = make("span", "", text);
    if (!mark) return make("li", "past-line", seatOf(event), said);
    return make("li", `past-line news ${kind}`, make("span", "news-mark", mark), said);
  }

  /* an event of the world's own */
  function news(event) {
    const sentence = WORDS.events[event.kind];
    if (!sentence) return null;
    const data = Object.fromEntries(Object.entries(event).map(([name, value]) => [name, valueOf(value)]));
    return [event.kind, fill(sentence, { ...data, player: WORDS.players[event.seat] }), "·"];
  }

  const seatOf = ({ seat }) => document.querySelectorAll("#actors li")[seat].querySelector("svg").cloneNode(true);

  /* why one's own key came to nothing; it is not said aloud */
  function refusal(event) {
    const why = event.reasons.map((code) => WORDS.why[code]).filter(Boolean).join(", ");
    if (!why) return null;
    const mark = make("span", "", "✕");
    mark.setAttribute("aria-hidden", "true");
    const said = make("span", "", `${WORDS.you}: `, make("em", "", mark, ` ${why}`));
    return make("li", "past-line refused", seatOf(event), said);
  }

  function make(name, className, ...children) {
    const element = document.createElement(name);
    element.className = className;
    if (className === "news-mark") element.setAttribute("aria-hidden", "true");
    element.append(...children);
    return element;
  }

  /* the same words again are new ones: a screen reader says only what is put there anew */
  function sayAloud(events) {
    const said = events.map(describers.aloud ?? ((event) => news(event)?.[1])).filter(Boolean);
    if (!said.length) return;
    const box = document.getElementById("spoken");
    box.replaceChildren(said.join(" "));
    clearTimeout(silence);
    silence = setTimeout(() => box.replaceChildren(), SLOW);
  }

  function show({ detail: { step, observation, predicted, score, events } }) {
    sayScore(score);
    sayObserved(observation);
    sayOwn(predicted);
    sayAloud(events);
    tellDeeds(events, step);
    if (!seen) setTimeout(sayLatest, SLOW);
    seen = observation;
  }

  function sayLatest() {
    sayAll(seen);
    seen = null;
  }

  play.addEventListener("brigade:tick", show);
})();
