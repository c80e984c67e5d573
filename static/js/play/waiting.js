/* Who is waited for and since when, and the time that is left: the server says how much, this page only counts it
   down. `waiting` of the page's [data-play] has the words for the other scripts. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const CALLS = Object.keys(SAY.calls).map(Number); // seconds left that are said aloud
  const ALOUD = 700; // milliseconds of waiting after which it is said aloud
  const LONG = 15; // seconds of waiting after which we say that nothing is lost
  const { choosing } = play;
  const state = {
    since: Date.now(), key: "", // of the phase that is on
    waiting: 0, // since when we wait for others, 0 while we do not
    clock: null, closes: null, left: Infinity,
  };

  function text() { // without what only the bar says first
    const wait = document.querySelector("#phase [data-wait]");
    return (wait?.textContent ?? "").slice(wait?.querySelector(".bar-nothing")?.textContent.length ?? 0).trim();
  }

  /* to be heard, too, if it is not over at once */
  function sayWait() {
    const waits = choosing.phase !== "over" && (choosing.phase !== "choose" || choosing.sent);
    state.waiting = waits ? state.waiting || Date.now() : 0;
    const said = waits && Date.now() - state.waiting >= ALOUD ? text() : "";
    const box = document.getElementById("wait-said");
    if (box.textContent !== said) box.textContent = said;
  }

  function showWait() {
    const { waited } = document.getElementById("phase").dataset; // seconds of another's turn, at the server
    const key = `${choosing.step}:${choosing.phase === "choose"}:${waited}`;
    if (key !== state.key) {
      state.key = key;
      state.since = Date.now() - 1000 * Number(waited ?? 0);
    }
    const since = document.querySelector("#phase [data-since]");
    const seconds = Math.floor((Date.now() - state.since) / 1000);
    const shown = (seconds > LONG ? SAY.sinceLong : SAY.since).replace("{seconds}", seconds);
    if (since) since.textContent = seconds > 1 ? shown : "";
  }

  function readClock() {
    const clock = document.getElementById("clock");
    if (clock === state.clock) return;
    state.clock = clock;
    state.closes = clock.dataset.left ? performance.now() + 1000 * Number(clock.dataset.left) : null;
    showClock();
  }

  function showClock() {
    const clock = document.getElementById("clock");
    const meter = clock.querySelector("meter");
    if (!meter || state.closes === null) {
      state.left = Infinity;
      return;
    }
    const left = Math.max(0, Math.ceil((state.closes - performance.now()) / 1000));
    if (left > state.left) state.left = Infinity;
    sayLeft(left, Number(meter.max));
    state.left = left;
    meter.value = left;
    const told = left ? SAY.left.replace("{seconds}", left) : SAY.timeIsUp;
    const shown = clock.querySelector("[data-clock-text]");
    if (shown.textContent !== told) shown.textContent = told;
  }

  function sayLeft(left, whole) {
    const call = CALLS.find((seconds) => left <= seconds && state.left > seconds && seconds < whole);
    if (left && call) document.getElementById("clock-said").textContent = SAY.calls[call];
    else if (state.left === Infinity) document.getElementById("clock-said").textContent = "";
  }

  play.addEventListener("brigade:panels", () => {
    showWait();
    readClock();
  });
  setInterval(showWait, 1000);
  setInterval(sayWait, 200);
  setInterval(showClock, 200);
  play.waiting = { text };
  showWait();
  readClock();
})();
