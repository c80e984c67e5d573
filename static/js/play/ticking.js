/* Where a clock takes the steps: the keys that are down go to the server, and what comes from there is the present.
   `brigade:tick` at [data-play] says that there is something new: `observation`, `score`, `events`, and `ahead`, the
   commands of this person that the server has not carried out yet; `predicted`, the observation with what they will do, as
   far as it is known (`prediction` of [data-play], which a world's script may set); `intents`, what other seats are about
   to do, by seat, where the page says so, and `errand`, what would be good to do, where it gives hints. After a key,
   `pressed` is true, and its move `lasts` so many milliseconds; after a step, `walks.due` is when others set out on it.
   kitchen/realtime/tick_messages.py says what goes over the line. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const AGAIN = 2000; // milliseconds after which a key that is held down is said again
  const PATIENT = 2500; // after which a command that was not carried out will not be
  const APART = 25; // milliseconds between two keys and the end of a step, for it to be known that they meet in it
  const STILL = 1500; // milliseconds without a step after which it is said that the clock stands still
  const ANSWERED = 500; // milliseconds after the last step: if the server was heard later, only its clock stands still
  const MOST = 8; // commands that are shown ahead
  const REMEMBERED = 64; // words of ours of which it is remembered when they went
  const TOLD = 6000; // milliseconds for which it is said that time was lost, or who is gone
  const { choosing, roundTrip } = play;
  const pace = play.paceOf(() => roundTrip.usual());
  const state = {
    line: null, // the socket that is open
    step: null, observation: null, score: null, tick: 0, intents: {}, errand: {}, // as the server said last
    source: null, // the process of the server from which the steps come
    number: 0, // of the last word of ours
    held: new Map(), // commands whose keys are down: the last step for which that was shown, and when it was said last
    ahead: [], // commands that were pressed and not carried out yet, when, for which step, and our last word then
    sent: new Map(), // when our last words went
    stepped: 0, // when the last step came; 0 before the first
    begins: 0, told: 0, toldGone: 0, // when the first tick begins; the timers of what is said
    stood: "", // that time or steps were lost, for a while: in the bar, for a notice would lie over the grid
    late: false, // whether no step can come at the moment
    full: false, // whether the game waits until the server has room for it
    probing: false, // whether a question holds the game
    ended: false,
  };

  /* to the server */

  const isOpen = () => state.line?.readyState === WebSocket.OPEN;

  function send(message) {
    if (isOpen()) state.line.send(JSON.stringify(message));
  }

  function tellKey(command, down) {
    state.number += 1;
    state.sent.set(state.number, performance.now());
    state.sent.delete(state.number - REMEMBERED);
    send({ type: "key", command: JSON.parse(command), down, number: state.number, ...(isOpen() && roundTrip.told()) });
    for (const button of document.querySelectorAll("[data-hold]")) {
      if (button.dataset.hold === command) button.toggleAttribute("data-down", down);
    }
  }

  /* for the address of the next connection: the last step that was shown, and where it came from */
  const seen = () => (state.source ? `&seen=${[...state.source, state.step].join(".")}` : "");

  const plays = () => state.observation !== null && !state.ended && !state.probing && !play.matches(".is-elsewhere, .is-gone");

  function down(command) {
    if (!plays() || state.held.has(command)) return;
    const now = performance.now();
    const step = pace.stepAt(now);
    tellKey(command, true);
    state.held.set(command, { step, said: now });
    showAhead(command, now, step);
  }

  function up(command) {
    if (!state.held.delete(command)) return;
    tellKey(command, false);
  }

  function letGo() {
    for (const command of [...state.held.keys()]) up(command);
  }

  /* what is held goes on here as it does there: that which was pressed last, in each step at whose end it is still down */
  function hold() {
    const now = performance.now();
    const last = [...state.held.keys()].pop();
    for (const [command, key] of state.held) {
      if (now - key.said > AGAIN) {
        key.said = now;
        tellKey(command, true);
      }
      key.step = Math.max(key.step, state.step);
      if (command !== last || now < pace.closes(key.step + 1)) continue;
      key.step += 1;
      showAhead(command, now, key.step);
    }
  }

  const aheadNow = () => state.ahead.map(({ command, shown }) => ({ command: JSON.parse(command), shown }));

  function showAhead(command, now, step) {
    if (Date.now() < state.begins) return;
    if (isOverruled(state.ahead.at(-1), now, step)) state.ahead.pop();
    const shown = play.prediction?.knows(state.observation, aheadNow(), JSON.parse(command)) ?? true;
    state.ahead.push({ command, at: now, number: state.number, step, shown });
    if (state.ahead.length > MOST) state.ahead.shift();
    const lasts = Math.min(2 * state.tick, Math.max(1.1 * state.tick, pace.closes(step + 1) - now));
    show([], { pressed: true, lasts });
  }

  /* of the keys that are pressed in one step, only the last one counts; on an uneven line it is not known in which they are */
  function isOverruled(before, now, step) {
    const apart = APART + pace.cushion();
    return Boolean(before) && pace.isSure() && before.step === step && before.at - pace.closes(step - 1) > apart && pace.closes(step) - now > apart;
  }

  /* from the server */

  function own(events) {
    const seat = state.observation.seat;
    const mine = events.find((event) => event.seat === seat && ["performed", "refused"].includes(event.kind));
    return mine && JSON.stringify(mine.command);
  }

  /* What the server has carried out is not ahead of it any more. What it had heard and did not do never will be, and
     neither what it has not done within a while. */
  function settle(events, heard) {
    const done = own(events);
    const found = state.ahead.findIndex((one) => one.command === done);
    const now = performance.now();
    if (found >= 0) state.ahead.splice(0, found + 1);
    else state.ahead = state.ahead.filter((one) => one.number > heard);
    state.ahead = state.ahead.filter((one) => now - one.at < PATIENT);
  }

  function show(events, more) {
    const { step, observation, score, tick, intents, errand } = state;
    const ahead = aheadNow();
    const predicted = play.prediction?.after(observation, ahead) ?? observation;
    const detail = { step, observation, predicted, score, events, ahead, tick, intents, errand, ...more };
    play.dispatchEvent(new CustomEvent("brigade:tick", { detail }));
  }

  function onWhole(message) {
    state.step = message.step;
    state.source = message.source ?? null; // of an older version none
    state.observation = message.observation;
    state.score = message.score;
    state.tick = message.tick_ms;
    state.intents = message.intents ?? {};
    state.errand = message.errand ?? {};
    state.ahead = [];
    pace.reset(message.step, performance.now() + message.starts_in_ms, message.tick_ms);
    state.stepped = message.step ? performance.now() : 0;
    state.begins = message.starts_in_ms ? Date.now() + message.starts_in_ms : 0;
    for (const [command, key] of state.held) {
      key.step = state.step;
      tellKey(command, true);
    }
    sayLost(message.lost_ms, message.lost_steps);
    sayBegin();
    show([]);
  }

  function onTick(message) {
    if (state.step === null || message.step !== state.step + 1) return send({ type: "sync" });
    state.step = message.step;
    state.begins = 0;
    state.stepped = performance.now();
    hear(message);
    state.observation = { ...state.observation, ...message.changed };
    for (const name of message.gone) delete state.observation[name];
    state.score = { ...state.score, ...message.score };
    state.intents = message.intents ?? state.intents;
    state.errand = message.errand ?? state.errand;
    settle(message.events, message.key);
    sayLost(message.lost_ms);
    return show(message.events, { walks: { due: pace.due(state.step) + pace.cushion() } });
  }

  /* when the step came, and how long a word of ours took to it and back, without the time for which the server had it */
  function hear({ step, lost_ms: lost, heard }) {
    if (lost) pace.reset(step, state.stepped, state.tick);
    else pace.came(step, state.stepped);
    const [number, kept] = heard ?? [];
    const sent = state.sent.get(number);
    if (sent !== undefined) roundTrip.add(state.stepped - sent - kept);
  }

  function onOver(message) {
    letGo();
    state.ended = true;
    state.ahead = [];
    play.panels.put(message.html);
  }

  /* what was written, with what is new */
  function onTalk({ html }) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    document.getElementById("talk")?.replaceWith(fresh.content);
    document.dispatchEvent(new Event("brigade:talk"));
  }

  /* said over the page for a while, and below the game from then on; what stands there is no news */
  function onGone({ said }) {
    const [above, below] = ["gone", "replaced"].map((id) => document.getElementById(id));
    const known = [...below.children].map((line) => line.textContent);
    const lines = (texts, name) => texts.map((text) => Object.assign(document.createElement("p"), { textContent: text, className: name }));
    below.replaceChildren(...lines(said, ""));
    above.replaceChildren(...lines(said.filter((text) => !known.includes(text)), "callout"));
    clearTimeout(state.toldGone);
    state.toldGone = setTimeout(() => above.replaceChildren(), TOLD);
  }

  /* said as long as it lasts, and at their players (play/away.js) */
  function onAway({ said, seats }) {
    const box = document.getElementById("away");
    box.dataset.seats = seats.join(" ");
    box.replaceChildren(...said.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
    play.dispatchEvent(new Event("brigade:away"));
  }

  function onNotice(message) {
    say("notice", message.text);
  }

  function onLate(message) {
    state.late = message.late;
    sayBegin();
  }

  function onWaits() {
    state.full = true;
    sayBegin();
  }

  /* a question holds the game, or it goes on (play/probes.js) */
  function onProbe({ html, on }) {
    if (on) letGo();
    state.probing = on;
    state.ahead = [];
    play.panels.put(html);
    sayBegin();
  }

  const READ = { whole: onWhole, tick: onTick, over: onOver, gone: onGone, away: onAway, late: onLate, talk: onTalk, probe: onProbe, waits: onWaits, notice: onNotice };

  function onMessage(event) {
    const { message } = event.detail;
    if (typeof message !== "string" || !message.startsWith("{")) return;
    event.preventDefault(); // nothing of it is HTML
    const read = JSON.parse(message);
    READ[read.type]?.(read);
  }

  /* what is said of the clock */

  function say(id, text) {
    const box = document.getElementById(id);
    const line = document.createElement("p");
    line.textContent = text;
    if (id === "notice") box.replaceChildren(...(text ? [line] : []));
    else if (box.textContent !== text) box.textContent = text;
  }

  function sayLost(milliseconds, steps = 0) {
    if (!milliseconds && !steps) return;
    const seconds = Math.max(0.1, Math.round(milliseconds / 100) / 10).toLocaleString(document.documentElement.lang);
    state.stood = steps ? SAY.lostSteps.replace("{number}", steps) : SAY.stood.replace("{seconds}", seconds);
    clearTimeout(state.told);
    state.told = setTimeout(() => (state.stood = ""), TOLD);
    sayBegin();
  }

  function sayBegin() {
    const seconds = Math.ceil((state.begins - Date.now()) / 1000);
    const waits = choosing.phase !== "over" && !state.ended;
    const since = state.stepped ? performance.now() - state.stepped : 0;
    const { silence, answering } = play.connection;
    const still = since > STILL + state.tick && since - silence > ANSWERED && answering > STILL;
    const reached = play.connection.reached(); // if not, nothing is known of the clock
    if (waits && state.probing) say("tick-said", SAY.probing);
    else if (waits && reached && (state.late || still)) say("tick-said", SAY.still);
    else if (state.observation === null) say("tick-said", waits ? (state.full ? SAY.full : SAY.awaited) : "");
    else say("tick-said", state.begins && seconds > 0 ? SAY.begins.replace("{seconds}", seconds) : waits && reached ? state.stood : "");
  }

  /* fingers and the mouse, on a button that stands for a command */

  const buttonOf = (event) => event.target.closest?.("[data-hold]");

  function onPointer(event) {
    const button = buttonOf(event);
    if (!button || event.button > 0) return;
    event.preventDefault(); // no menu, no selection, no second click
    button.setPointerCapture(event.pointerId);
    down(button.dataset.hold);
  }

  function onLeave(event) {
    const button = buttonOf(event);
    if (button) up(button.dataset.hold);
  }

  /* Enter on a button, or a screen reader: a press of no length */
  function onClick(event) {
    const button = buttonOf(event);
    if (!button || event.detail) return;
    down(button.dataset.hold);
    up(button.dataset.hold);
  }

  document.addEventListener("htmx:wsBeforeMessage", onMessage);
  document.addEventListener("htmx:wsOpen", (event) => {
    state.line = event.detail.event.target;
    state.late = false; // a server that is late says so anew
  });
  document.addEventListener("htmx:wsClose", () => {
    letGo(); // it is not heard any more
    state.ahead = [];
    state.sent.clear();
  });
  document.addEventListener("pointerdown", onPointer);
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) document.addEventListener(name, onLeave);
  document.addEventListener("click", onClick);
  document.addEventListener("contextmenu", (event) => buttonOf(event) && event.preventDefault());
  window.addEventListener("blur", letGo);
  document.addEventListener("visibilitychange", letGo);
  play.addEventListener("brigade:connection", sayBegin);
  setInterval(hold, 20);
  setInterval(sayBegin, 250);
  play.ticking = { down, up, seen, expects: () => plays() && state.stepped > 0, begins: () => state.begins, runs: () => state.stepped > 0 };
  sayBegin();
})();
