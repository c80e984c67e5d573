/* What another member just wrote is seen for a moment at the head of its character, too: short, over no other character,
   and gone after the next step. The conversation has the whole text, and says it aloud. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const frame = play?.querySelector("[data-stage], [data-board], [data-map]");
  if (!frame) return;

  const [LEAST, SHOWN] = [1500, 4000]; // milliseconds; the next step does not take away what was hardly seen
  const MOST = 64; // characters
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
    if (!body || !text || !stage?.getClientRects().length) return;
    for (const one of stage.querySelectorAll(".head-words")) if (one.dataset.of === name) one.remove();
    const words = document.createElement("span");
    words.className = "head-words";
    words.setAttribute("aria-hidden", "true");
    words.dir = "auto";
    words.textContent = text.length > MOST ? `${text.slice(0, MOST)}…` : text;
    words.dataset.of = name;
    since.set(words, performance.now());
    const others = [...bots().filter((one) => one !== body).map(drawn), ...stage.querySelectorAll(".head-words")];
    stage.append(words);
    place(words, drawn(body).getBoundingClientRect(), stage.getBoundingClientRect(), others.map((one) => one.getBoundingClientRect()));
    setTimeout(() => words.remove(), SHOWN);
  }

  /* over the head, or to one side of it, or higher, where nobody else is */
  function place(words, body, stage, others) {
    const [wide, high] = [words.offsetWidth, words.offsetHeight];
    const [middle, top] = [body.left + body.width / 2 - stage.left, body.top - stage.top - high - 2];
    const within = (value, size, most) => Math.max(4, Math.min(value, most - size - 4));
    const tries = [0, 1, 2].flatMap((up) => [middle - wide / 2, middle, middle - wide].map((left) => [within(left, wide, stage.width), within(top - up * (high + 8), high, stage.height)]));
    const isFree = ([left, down]) => others.every((one) => left + stage.left > one.right || left + wide + stage.left < one.left || down + stage.top > one.bottom || down + high + stage.top < one.top);
    const [left, down] = tries.find(isFree) ?? tries[0];
    words.style.left = `${left}px`;
    words.style.top = `${down}px`;
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
    if (!isFirst) fresh.forEach(say);
    isFirst = false;
  });
})();
