/* What another member just wrote is seen for a moment at the head of its character, too: short, over no character, guest
   or picture bubble, and gone after the next step. A request that has a card ([data-request]) needs no words. The
   conversation has the whole text, and says it aloud. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const frame = play?.querySelector("[data-stage], [data-board], [data-map]");
  if (!frame) return;

  const [LEAST, SHOWN] = [1500, 4000]; // milliseconds; the next step does not take away what was hardly seen
  const MOST = 100; // characters
  const since = new WeakMap(); // when words appeared; no attribute, which another script could take for its own
  const lines = () => [...document.querySelectorAll("#talk > li[id]")];
  let known = new Set(lines().map(({ id }) => id));
  let isFirst = true; // the first lines after the page was opened are old ones
  let step = "";

  const bots = () => [...play.querySelectorAll("[data-bot], .is-builder, .actor")];
  const drawn = (bot) => bot.querySelector(".figure") ?? bot.querySelector(".seat") ?? bot;

  /* the drawn body of who has this name */
  function bodyOf(name) {
    const named = (text) => text === name || text?.startsWith(`${name},`) || text?.startsWith(`${name} (`);
    const bot = bots().find((one) => named(one.querySelector(".visually-hidden, .station-name")?.textContent));
    if (bot) return bot;
    const seat = [...document.querySelectorAll("#actors li b")].findIndex(({ textContent }) => textContent === name);
    return seat < 0 ? null : play.querySelector(`.actor[data-seat="${seat}"]`);
  }

  function say(line) {
    const name = line.querySelector(".said-who b")?.textContent;
    const body = bodyOf(name);
    const text = line.querySelector(".said-text")?.textContent ?? "";
    const stage = play.querySelector("[data-stage], [data-board], [data-map]");
    const isPictured = play.querySelector(`[data-request="${line.id.replace("said-", "")}"]`) !== null;
    if (!body || !text || isPictured || !stage?.getClientRects().length) return;
    for (const one of stage.querySelectorAll(".head-words")) if (one.dataset.of === name) one.remove();
    const words = document.createElement("span");
    words.className = "head-words";
    words.setAttribute("aria-hidden", "true");
    words.dir = "auto";
    words.textContent = text.length > MOST ? `${text.slice(0, MOST)}…` : text;
    words.dataset.of = name;
    since.set(words, performance.now());
    stage.append(words);
    place(words, body, stage);
    setTimeout(() => words.remove(), SHOWN);
  }

  /* over the head, beside it, below it, or higher: where it covers nothing, or as little as can be */
  function place(words, body, stage) {
    const [frame, own] = [stage.getBoundingClientRect(), drawn(body).getBoundingClientRect()];
    const others = [...bots().map(drawn), ...stage.querySelectorAll("[data-moves] > :is(svg, .patience)"), ...[...stage.querySelectorAll(".head-words")].filter((one) => one !== words)];
    const taken = others.map((one) => one.getBoundingClientRect());
    const [wide, high] = [words.offsetWidth, words.offsetHeight];
    const [middle, top] = [own.left + own.width / 2 - frame.left, own.top - frame.top - high - 2];
    const [low, beside] = [own.bottom - frame.top + 2, [own.right - frame.left + 4, own.left - frame.left - wide - 4]];
    const within = (value, size, most) => Math.max(4, Math.min(value, most - size - 4));
    const aligned = [middle - wide / 2, middle, middle - wide];
    const wanted = [
      ...aligned.map((left) => [left, top]),
      ...beside.flatMap((left) => [top + high, own.bottom - frame.top - high].map((down) => [left, down])),
      ...[top - high - 8, low, top - 2 * (high + 8), low + high + 8].flatMap((down) => aligned.map((left) => [left, down])),
    ];
    const overlap = (from, size, start, end) => Math.max(0, Math.min(from + size, end) - Math.max(from, start));
    const covered = ([left, down]) => taken.reduce((sum, one) => sum + overlap(left, wide, one.left - frame.left, one.right - frame.left) * overlap(down, high, one.top - frame.top, one.bottom - frame.top), 0);
    const tries = wanted.map(([left, down]) => [within(left, wide, frame.width), within(down, high, frame.height)]).map((at) => [at, covered(at)]);
    const [[left, down]] = tries.reduce((best, one) => (one[1] < best[1] ? one : best));
    words.style.left = `${left}px`;
    words.style.top = `${down}px`;
  }

  /* who walks takes the words along */
  function follow() {
    for (const words of play.querySelectorAll(".head-words")) {
      const body = bodyOf(words.dataset.of);
      if (body) place(words, body, words.parentElement);
    }
  }

  function clear() {
    const now = document.getElementById("bar")?.dataset.step ?? "";
    if (now === step) return;
    step = now;
    for (const one of play.querySelectorAll(".head-words")) setTimeout(() => one.remove(), Math.max(0, LEAST - (performance.now() - since.get(one))));
  }

  play.addEventListener("brigade:panels", () => {
    const fresh = lines().filter((line) => !known.has(line.id) && !line.matches(".is-yours"));
    known = new Set(lines().map(({ id }) => id));
    clear();
    follow();
    if (!isFirst) fresh.forEach(say);
    isFirst = false;
  });
})();
