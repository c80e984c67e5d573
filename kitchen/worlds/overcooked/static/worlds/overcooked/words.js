/* What is said of the grids where a clock takes the ticks, beside what static/js/grid_words.js says of any grid: pots and
   soups, deeds and deliveries, and what the others are about to do. The server says all of this elsewhere. */
"use strict";

(() => {
  const play = document.querySelector("[data-play].is-ticking");
  const told = document.getElementById("board")?.dataset.words;
  if (!play || !told) return;

  const WORDS = JSON.parse(told); // kitchen/worlds/overcooked/page.py
  const OWN = Number(document.getElementById("seen").dataset.seat);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const listed = (names) => names.map((name) => WORDS.names[name]).join(", ");

  function thing(item) {
    if (item === null) return WORDS.nothing;
    return typeof item === "string" ? WORDS.names[item] : fill(WORDS.soup, { ingredients: listed(item[1]) });
  }

  function pots({ contents, left }) {
    const seconds = Math.ceil((left * WORDS.tick_ms) / 1000);
    const state = left === null ? WORDS.idle : left === 0 ? WORDS.ready : fill(WORDS.cooking, { seconds });
    return `${listed(contents)}; ${state}`;
  }

  function delivery({ seat, points }) {
    const mine = points ? WORDS.own_delivered : WORDS.own_worthless;
    const another = points ? WORDS.delivered : WORDS.worthless;
    return fill(seat === OWN ? mine : another, { player: WORDS.players[seat], points });
  }

  function deed(event) {
    if (event.kind === "ready") return ["ready", WORDS.soup_ready, "·"];
    if (event.kind === "delivered") return event.points ? ["completed", delivery(event), "✓"] : ["failed", delivery(event), "!"];
    if (event.kind !== "performed" || !WORDS.did[event.did]) return null;
    const thing = typeof event.thing === "string" ? WORDS.a[event.thing] : WORDS.a_soup;
    const who = event.seat === OWN ? WORDS.you : WORDS.players[event.seat];
    return ["", `${who}: ${fill(WORDS.did[event.did], { thing })}`];
  }

  const aloud = (event) => event.kind === "delivered" && delivery(event);

  /* what the others are about to do, where the page says so: intents.py says it elsewhere */
  function sayIntents(intents) {
    const code = (...words) => words.filter(Boolean).join(" ");
    for (const line of document.querySelectorAll("#intents [data-next]")) {
      const told = intents[line.dataset.next] ?? {};
      const expects = told.of === String(OWN) && WORDS.expects[code(told.foresees, told.what)];
      const text = [WORDS.next[code(told.do, told.item)], expects].filter(Boolean).join(". ");
      const box = line.querySelector("dd");
      if (box.textContent !== text) box.textContent = text;
      line.hidden = !text;
    }
  }

  /* what would be good to do next, where there are hints: after how the page is used */
  function sayErrand({ do: verb, item }) {
    const hint = document.getElementById("hint");
    const said = WORDS.next[[verb, item].filter(Boolean).join(" ")];
    if (!hint || !said) return;
    const line = hint.querySelector("[data-errand]") ?? document.createElement("p");
    if (line.textContent !== said) line.textContent = said;
    if (line.isConnected) return;
    hint.querySelector(".next")?.classList.remove("next");
    line.className = "next";
    line.dataset.errand = "";
    hint.append(line);
  }

  /* how an event sounds */
  function cueOf(event, own) {
    if (event.kind === "ready") return "ready";
    if (event.kind === "delivered") return event.points ? "served" : "missed";
    if (event.kind === "started") return "sizzle";
    return event.kind === "performed" && event.seat === own && event.did === "potted" ? "chop" : "";
  }

  play.cueOf = cueOf;
  play.describers = { thing, layers: { pots }, deed, aloud };
  play.addEventListener("brigade:tick", ({ detail: { intents, errand } }) => {
    sayErrand(errand);
    sayIntents(intents);
  });
})();
