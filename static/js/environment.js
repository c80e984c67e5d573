/* The page of an environment that draws itself: its images, which come over the websocket (`brigade:frame` at
   [data-play]: four bytes with the step, then the file), or with each step of a replay. Under a clock it also says what
   the server says elsewhere: the score, the picture in words, and who is out (kitchen/opened/environment_page.py). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const image = play?.querySelector("[data-frame]");
  if (!image) return;

  const SLOW = 1000; // milliseconds from one telling in words to the next
  const HEAD = 4; // bytes of the step
  const HIDDEN = ["seat", "alive", "turn"]; // names in an observation that are no words for people
  let newest = -1; // the step whose image came last
  let seen = null; // what is told in words at the end of the second that has begun
  let silence = null;

  function put(address) {
    image.src = address;
    image.hidden = false;
    play.querySelector("[data-frame-waits]").hidden = true;
  }

  /* as large as the page has room for */
  image.addEventListener("load", () => image.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight));

  /* images of earlier steps that come late are left out; a new connection begins anew */
  function onFrame({ detail }) {
    const step = new DataView(detail).getUint32(0);
    if (step < newest) return;
    newest = step;
    const file = detail.slice(HEAD);
    const kind = new Uint8Array(file)[0] === 0xff ? "jpeg" : "webp";
    const reader = new FileReader();
    reader.addEventListener("load", () => step === newest && put(reader.result));
    reader.readAsDataURL(new Blob([file], { type: `image/${kind}` }));
  }

  /* in a replay */
  function showReplayed() {
    const { frame } = document.getElementById("replay-told")?.dataset ?? {};
    if (frame) put(frame);
  }

  const description = () => document.getElementById("state-description");
  const words = () => JSON.parse(description().dataset.words);

  function valueOf(value, { names, values }) {
    if (Array.isArray(value)) return value.length ? value.map((one) => valueOf(one, { names, values })).join(value.some(Array.isArray) ? "; " : ", ") : values.null;
    if (value !== null && typeof value === "object") return Object.entries(value).map(([name, one]) => `${names[name] ?? name}: ${valueOf(one, { names, values })}`).join(", ");
    return values[String(value)] ?? (typeof value === "string" ? names[value] ?? value.replaceAll("_", " ") : String(value));
  }

  function labelOf(name, { names }) {
    const label = names[name] ?? name.replaceAll("_", " ");
    return label.charAt(0).toUpperCase() + label.slice(1);
  }

  function describe() {
    const texts = words();
    const shown = Object.entries(seen).filter(([name]) => !HIDDEN.includes(name));
    seen = null;
    const lines = shown.map(([name, value]) => {
      const [line, term, text] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = labelOf(name, texts);
      text.textContent = valueOf(value, texts);
      line.append(term, text);
      return line;
    });
    const list = document.createElement("dl");
    list.className = "world-facts";
    list.append(...lines);
    if (lines.length) description().replaceChildren(list);
  }

  function sayScore(score) {
    for (const box of play.querySelectorAll("[data-figure]")) {
      const value = score[box.dataset.figure] ?? null;
      const text = value === null ? "–" : String(Math.round(value * 100) / 100);
      if (box.textContent !== text) box.textContent = text;
    }
  }

  /* who is out while the others go on */
  function sayAloud(events, { alive }) {
    if (!events.some(({ kind }) => kind === "finished" || kind === "stopped") || !description().dataset.words) return;
    const { events: sentences, players } = words();
    const said = events.filter(({ kind }) => kind in sentences).map(({ kind, seat }) => sentences[kind].replace("{player}", players[seat]));
    const box = document.getElementById("spoken");
    box.replaceChildren(said.join(" "));
    clearTimeout(silence);
    silence = setTimeout(() => box.replaceChildren(), alive ? 3 * SLOW : 10 * SLOW);
  }

  function onTick({ detail: { observation, score, events } }) {
    sayScore(score);
    sayAloud(events, observation);
    if (!seen && description().dataset.words) setTimeout(describe, SLOW);
    seen = observation;
  }

  play.addEventListener("brigade:frame", onFrame);
  play.addEventListener("brigade:tick", onTick);
  document.addEventListener("htmx:wsOpen", () => (newest = -1));
  document.addEventListener("replay-step", showReplayed);
  showReplayed();
})();
