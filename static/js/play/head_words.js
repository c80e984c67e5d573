/* What another member just wrote is seen for a moment at the head of its character, too: short, over all and in nobody's
   way. The conversation has the whole text, and says it aloud. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const frame = play?.querySelector("[data-stage], [data-board], [data-map]");
  if (!frame) return;

  const SHOWN = 4000; // milliseconds
  const MOST = 48; // characters
  const lines = () => [...document.querySelectorAll("#talk > li[id]")];
  let known = new Set(lines().map(({ id }) => id));
  let isFirst = true; // the first lines after the page was opened are old ones

  /* the drawn body of who has this name */
  function bodyOf(name) {
    const bots = [...play.querySelectorAll("[data-bot], .is-builder")];
    const named = (text) => text === name || text?.startsWith(`${name},`) || text?.startsWith(`${name} (`);
    const bot = bots.find((one) => named(one.querySelector(".visually-hidden, .station-name")?.textContent));
    if (bot) return bot;
    const seat = [...document.querySelectorAll("#actors li b")].findIndex(({ textContent }) => textContent === name);
    return seat < 0 ? null : play.querySelector(`.actor[data-seat="${seat}"]`);
  }

  function say(line) {
    const body = bodyOf(line.querySelector(".said-who b")?.textContent);
    const text = line.querySelector(".said-text")?.textContent ?? "";
    const stage = play.querySelector("[data-stage], [data-board], [data-map]");
    if (!body || !text || !stage?.getClientRects().length) return;
    const words = document.createElement("span");
    words.className = "head-words";
    words.setAttribute("aria-hidden", "true");
    words.dir = "auto";
    words.textContent = text.length > MOST ? `${text.slice(0, MOST)}…` : text;
    stage.append(words);
    place(words, body.getBoundingClientRect(), stage.getBoundingClientRect());
    setTimeout(() => words.remove(), SHOWN);
  }

  function place(words, body, stage) {
    const left = body.left + body.width / 2 - stage.left - words.offsetWidth / 2;
    const top = body.top - stage.top - words.offsetHeight - 2;
    words.style.left = `${Math.max(4, Math.min(left, stage.width - words.offsetWidth - 4))}px`;
    words.style.top = `${Math.max(4, top)}px`;
  }

  play.addEventListener("brigade:panels", () => {
    const fresh = lines().filter((line) => !known.has(line.id) && !line.matches(".is-yours"));
    known = new Set(lines().map(({ id }) => id));
    if (!isFirst) fresh.forEach(say);
    isFirst = false;
  });
})();
