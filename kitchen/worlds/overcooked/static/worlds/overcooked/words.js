/* The grid in words where a clock takes the ticks: the twin of the drawing, what one has in hand and in front, what
   just happened, and the deliveries, which are said aloud. The server says all of this elsewhere. */
"use strict";

(() => {
  const play = document.querySelector("[data-play].is-ticking");
  const told = document.getElementById("board")?.dataset.words;
  if (!play || !told) return;

  const WORDS = JSON.parse(told); // kitchen/worlds/overcooked/script_words.py
  const MOST = 12; // lines of what just happened
  const SLOW = 1000; // milliseconds from one telling of the table to the next, and that what is said stays
  const STEPS = { north: [0, -1], east: [1, 0], south: [0, 1], west: [-1, 0] };
  let seen = null; // what is told of at the end of the second that has begun
  let silence = null; // when a delivery that was said aloud is taken away

  const put = (box, text) => box && box.textContent !== text && (box.textContent = text);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const listed = (names) => names.map((name) => WORDS.things[name]).join(", ");

  function thing(item) {
    if (item === null) return WORDS.nothing;
    return typeof item === "string" ? WORDS.things[item] : fill(WORDS.soup, { ingredients: listed(item[1]) });
  }

  function pot({ contents, left }) {
    const seconds = Math.ceil((left * WORDS.tick_ms) / 1000);
    const state = left === null ? WORDS.idle : left === 0 ? WORDS.ready : fill(WORDS.cooking, { seconds });
    return `${listed(contents)}; ${state}`;
  }

  /* what lies or cooks in a cell, in words; empty for nothing */
  function inCell(seen, [x, y]) {
    const same = ({ at }) => at[0] === x && at[1] === y;
    const [lying, cooking] = [seen.counters.find(same), seen.pots.find(same)];
    if (cooking) return pot(cooking);
    return lying ? thing(lying.thing) : "";
  }

  function sayOwn(seen) {
    const { at, face, holds } = seen.players[seen.seat];
    const cell = [at[0] + STEPS[face][0], at[1] + STEPS[face][1]];
    const letter = WORDS.grid[cell[1]][cell[0]].replace(/[12]/, " ");
    const there = inCell(seen, cell) || (letter === "P" ? WORDS.empty : "");
    put(play.querySelector("[data-holds]"), thing(holds));
    put(play.querySelector("[data-ahead]"), there ? `${WORDS.furniture[letter]}: ${there}` : WORDS.furniture[letter]);
  }

  function sayAll(seen) {
    const lines = document.querySelectorAll("#cooks [data-cook]");
    seen.players.forEach(({ at, face, holds }, seat) => {
      const values = { column: at[0] + 1, row: at[1] + 1, face: WORDS.faces[face], thing: thing(holds) };
      put(lines[seat], fill(WORDS.cook, values));
    });
    const rows = document.getElementById("grid").tBodies[0].rows;
    WORDS.grid.forEach((row, y) => [...row].forEach((_, x) => {
      const who = seen.players.findIndex(({ at }) => at[0] === x && at[1] === y);
      put(rows[y].cells[x + 1].querySelector("b"), who >= 0 ? WORDS.players[who] : inCell(seen, [x, y]));
    }));
  }

  function delivery({ seat, points }, own) {
    const mine = points ? WORDS.own_delivered : WORDS.own_worthless;
    const another = points ? WORDS.delivered : WORDS.worthless;
    return fill(seat === own ? mine : another, { player: WORDS.players[seat], points });
  }

  /* what has come of the last keys, but for walking: newest first, with the time since the beginning */
  function tellDeeds(events, own, left) {
    const lines = events.map((event) => deed(event, own)).filter(Boolean);
    if (!lines.length) return;
    const box = document.querySelector("[data-deeds]");
    const list = box.querySelector("ol");
    const told = make("ul", "", ...lines);
    if (isSaidAgain(told, list.firstElementChild)) list.firstElementChild.remove();
    list.prepend(make("li", "past-step", make("p", "past-number", timeOf(left)), told));
    while (list.children.length > MOST) list.lastElementChild.remove();
    box.hidden = false;
  }

  function timeOf(left) {
    const seconds = Math.floor(((WORDS.ticks - left) * WORDS.tick_ms) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  /* a key that is held in vain is told of once, with the time at which it was in vain last */
  const isSaidAgain = (told, last) =>
    told.querySelector(".refused") && last?.querySelector("ul").textContent === told.textContent;

  function deed(event, own) {
    if (event.kind === "ready") return make("li", "past-line news ready", make("span", "news-mark", "·"), make("span", "", WORDS.soup_ready));
    if (event.kind === "delivered") return make("li", `past-line news ${event.points ? "completed" : "failed"}`, mark(event), make("span", "", delivery(event, own)));
    if (event.kind === "refused") return event.seat === own ? refusal(event) : null;
    if (event.kind !== "performed" || !WORDS.did[event.did]) return null;
    const thing = typeof event.thing === "string" ? WORDS.a[event.thing] : WORDS.a_soup;
    const who = event.seat === own ? WORDS.you : WORDS.players[event.seat];
    return make("li", "past-line", seatOf(event), make("span", "", `${who}: ${fill(WORDS.did[event.did], { thing })}`));
  }

  const seatOf = ({ seat }) => document.querySelectorAll("#cooks li")[seat].querySelector("svg").cloneNode(true);

  /* why one's own key came to nothing; it is not said aloud */
  function refusal(event) {
    const why = event.reasons.map((code) => WORDS.why[code]).filter(Boolean).join(", ");
    if (!why) return null;
    const mark = make("span", "", "✕");
    mark.setAttribute("aria-hidden", "true");
    const said = make("span", "", `${WORDS.you}: ${WORDS.in_vain}; `, make("em", "", mark, ` ${why}`));
    return make("li", "past-line refused", seatOf(event), said);
  }

  const mark = ({ points }) => make("span", "news-mark", points ? "✓" : "!");

  function make(name, className, ...children) {
    const element = document.createElement(name);
    element.className = className;
    if (className === "news-mark") element.setAttribute("aria-hidden", "true");
    element.append(...children);
    return element;
  }

  /* the same words again are new ones: a screen reader says only what is put there anew */
  function sayDeliveries(events, own) {
    const said = events.filter((event) => event.kind === "delivered").map((event) => delivery(event, own));
    if (!said.length) return;
    const box = document.getElementById("spoken");
    box.replaceChildren(said.join(" "));
    clearTimeout(silence);
    silence = setTimeout(() => box.replaceChildren(), SLOW);
  }

  /* what the others are about to do, where the page says so: intents.py says it elsewhere */
  function sayIntents(own, intents) {
    const code = (...words) => words.filter(Boolean).join(" ");
    for (const line of document.querySelectorAll("#intents [data-next]")) {
      const told = intents[line.dataset.next] ?? {};
      const expects = told.of === String(own) && WORDS.expects[code(told.foresees, told.what)];
      put(line.querySelector("dd"), [WORDS.next[code(told.do, told.item)], expects].filter(Boolean).join(". "));
      line.hidden = !line.querySelector("dd").textContent;
    }
  }

  /* what would be good to do next, where there are hints: after how the page is used */
  function sayErrand({ do: verb, item }) {
    const hint = document.getElementById("hint");
    const said = WORDS.next[[verb, item].filter(Boolean).join(" ")];
    if (!hint || !said) return;
    const line = hint.querySelector("[data-errand]") ?? document.createElement("p");
    put(line, said);
    if (line.isConnected) return;
    hint.querySelector(".next")?.classList.remove("next");
    line.className = "next";
    line.dataset.errand = "";
    hint.append(line);
  }

  function show({ detail: { observation, events, intents, errand } }) {
    sayOwn(observation);
    sayErrand(errand);
    sayDeliveries(events, observation.seat);
    tellDeeds(events, observation.seat, observation.ticks_left);
    sayIntents(observation.seat, intents);
    if (!seen) setTimeout(sayLatest, SLOW);
    seen = observation;
  }

  function sayLatest() {
    sayAll(seen);
    seen = null;
  }

  play.addEventListener("brigade:tick", show);
})();
