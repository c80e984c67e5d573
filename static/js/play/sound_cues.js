/* When a sound is played, the switch for it, and the study's offer to switch it on. It is off until somebody switches it
   on; the choice holds in this browser, and the server is told whether it was on.

   What is heard follows from what is shown: [data-cue] names the sound of an element that appears, news in the list of
   past steps, messages, one's own place, and the last seconds. Where a clock takes the steps, a world's own script says
   with `cueOf(event, seat)` of [data-play] how an event sounds. `brigade:sound` at [data-play] says what is heard. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const button = play?.querySelector("[data-sound]");
  if (!button) return;

  const KEY = "brigade.sound";
  const LAST = 10; // seconds at the end of a game that are heard
  const SHARE = 3; // of a step's time, at most one in so many is heard
  const NEWS = { completed: "served", delivered: "served", failed: "missed", destroyed: "missed", ready: "ready" };
  const { choosing, sounds } = play;
  const offer = play.querySelector("[data-sound-offer]");
  let stored = read();
  let on = stored === "on";
  let begun = false; // whether something has happened in this episode
  let socket = null;
  let heard = ""; // what the server was told on this line

  function read() {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return "";
    }
  }

  function keep(value) {
    stored = value;
    try {
      localStorage.setItem(KEY, value);
    } catch {
      /* for this page alone then */
    }
  }

  function tell(state) {
    if (!socket || heard === state) return;
    heard = state;
    socket.send(JSON.stringify({ type: "sound", state }));
  }

  const hasBegun = () => begun || Number(choosing.step) > 0;

  function set(value) {
    const before = on;
    on = value;
    keep(on ? "on" : "off");
    if (on) sounds?.start();
    else sounds?.stop();
    if (on !== before) tell(on && !hasBegun() ? "on" : "part");
    show();
    if (on) cue("message");
  }

  function show() {
    button.setAttribute("aria-pressed", String(on));
    if (offer) offer.hidden = Boolean(stored);
  }

  function cue(name) {
    if (!on || !name) return;
    sounds?.play(name);
    play.dispatchEvent(new CustomEvent("brigade:sound", { detail: name }));
  }

  /* what is new since the last look */

  const idOf = (element) => element.closest("[id]")?.id ?? "";
  const cues = () => new Set([...play.querySelectorAll("[data-cue]")].map((one) => `${idOf(one)} ${one.dataset.cue}`));
  const steps = () => [...play.querySelectorAll("#happened > .past-step[id]")];
  const lastMessage = () => document.querySelector("#talk > li[id]:last-of-type");

  function ownPlace() {
    const own = play.querySelector("[data-bot][data-you]");
    if (own) return own.closest("[data-place]")?.dataset.place;
    const seen = document.querySelector("#seen[value]"); // where the game is a grid
    return seen ? String(JSON.parse(seen.value).players[seen.dataset.seat]?.at) : "";
  }

  const look = () => ({ cues: cues(), steps: new Set(steps().map(({ id }) => id)), place: ownPlace(), message: lastMessage()?.id ?? "" });
  let known = look();

  function onPanels() {
    const before = known;
    known = look();
    const added = [...known.cues].filter((one) => !before.cues.has(one)).map((one) => one.split(" ")[1]);
    const fresh = steps().filter(({ id }) => !before.steps.has(id));
    const news = fresh.flatMap((step) => [...step.querySelectorAll(".news")]);
    begun = begun || fresh.length > 0;
    if (known.place !== before.place) cue("step");
    [...added, ...news.map((one) => NEWS[[...one.classList].find((name) => name in NEWS)])].forEach(cue);
    if (known.message !== before.message && !lastMessage()?.matches(".is-yours")) cue("message");
  }

  function onTick({ detail: { observation, events } }) {
    if (events.length) begun = true;
    const { seat } = observation;
    const place = String(observation.players?.[seat]?.at);
    if (events.length && place !== known.place) cue("step");
    if (events.length) known.place = place;
    events.map((event) => play.cueOf?.(event, seat)).forEach(cue);
  }

  /* the seconds that are left, of a game under a clock or of a step */

  let last = Infinity;

  function countDown() {
    const clock = play.querySelector("[data-ticks]");
    const meter = document.querySelector("#clock meter");
    const [left, most] = clock ? [Number(clock.textContent), LAST] : meter ? [meter.value, Math.min(LAST, meter.max / SHARE)] : [Infinity, 0];
    const ends = left <= most && left > 0;
    clock?.classList.toggle("is-last", ends);
    if (ends && left < last) cue("last");
    last = left;
  }

  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    heard = "";
    if (on) tell("on"); // the server keeps that it was switched meanwhile
  });
  /* a browser lets a page sound only after its first click or key */
  for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => on && sounds?.start(), { once: true });
  button.addEventListener("click", () => set(!on));
  offer?.querySelector("[data-sound-accept]").addEventListener("click", () => set(true));
  offer?.querySelector("[data-sound-decline]").addEventListener("click", () => set(false));
  play.addEventListener("brigade:panels", onPanels);
  play.addEventListener("brigade:cue", ({ detail }) => cue(detail)); // a drawing says what it shows
  play.addEventListener("brigade:tick", onTick);
  setInterval(countDown, 250);
  button.hidden = !sounds;
  show();
})();
