/* The play page's connection to its seat: how it is made and made again, and what is said of it. `connection` of
   the page's [data-play] tells the other scripts; `brigade:connection` at [data-play] says that it has changed. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const PING = 4000; // milliseconds of silence after which we ask whether anybody is there
  const HURRY = 600; // the same while a choice is on its way, a clock takes the steps, or the browser says that it is offline
  const DOUBT = 1000; // milliseconds without an answer to that after which we say so
  const UNANSWERED = 6000; // after which we connect anew: that machine may have vanished; a database that waits for a lock answers sooner
  const SPREAD = 2000; // within which pages then do so, for they may all have been without an answer since the same moment
  const LEAVE = UNANSWERED + SPREAD * Math.random();
  const SILENCE = 12000; // of silence after which we do so without asking, as when this device has slept
  const OPENING = 15000; // until a new connection is open; it may have met a machine that starts, or vanishes
  const LONGEST_OPENING = 60000; // the same at most: it doubles each time, as the connection may only wait for its turn
  const ELSEWHERE = 4409; // close code: a newer tab plays
  const TOO_MUCH = 4429; // close code: too much came from this page at once
  const PONGS = ['<i id="pulse"', '{"type": "pong"']; // how answers to a ping begin
  const LATER = 4503; // close code: nothing can be read or stored at the moment
  const AGAIN = 3000; // milliseconds after which we ask again whether it can
  const GONE = 4404; // close code: nobody has this seat any more
  const TAKEN_OVER = 4410; // close code: a co-player plays this seat now
  const LAST = { // what is said after a close code of ours; after any other code the page connects anew
    [ELSEWHERE]: SAY.elsewhere,
    [GONE]: SAY.gone,
    [TAKEN_OVER]: SAY.takenOver,
    [TOO_MUCH]: SAY.tooMuch,
    [LATER]: SAY.later,
  };
  const BOXES = { [GONE]: "gone-for-good", [TAKEN_OVER]: "taken-over" }; // where the page says more of it
  const BY_HTMX = [1006, 1011, 1012, 1013]; // close codes after which htmx connects anew by itself
  const RESTART = 1012; // close code: this process of the server ends, another one takes us at once
  const CALM = 1000; // milliseconds in which it does, and nobody need know
  const SOON = 400; // milliseconds after which a page that sent too much connects anew, or twice as many
  const PATIENCE = 30000; // the same at most: they double each time
  const FORGOTTEN = 120000; // milliseconds after which it no longer counts that a page sent too much
  const { choosing, roundTrip } = play;
  const said = document.querySelector("#connection [data-text]");
  const state = {
    connected: false, attempt: 0, final: "",
    heard: Date.now(), answering: Date.now(), // when we heard something last; since when nothing was in doubt
    socket: null, raw: null, opening: 0, silent: false, taking: true,
    greeted: false, // whether we heard how things stand since we are connected
    asked: 0, pinged: 0, doubted: false, // since when we ask whether anybody is there; last asked; no answer yet
    awaits: 0, // when the ping went whose answer is awaited
    overdue: 0, // how many connections one after the other were not open in time
    moving: null, // the timer within which we are connected to another process
    later: false, // turned away while nothing can be stored: connected only when something comes
    floods: 0, flooded: 0, // how often it sent too much lately, and when it did last
  };

  /* this page has a name; it takes the seat when it is opened, not whenever it connects anew */

  const NAME = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

  function open(address) {
    state.opening = Date.now();
    state.raw = new WebSocket(`${address}?page=${NAME}&language=${document.documentElement.lang}${state.taking ? "&take=1" : ""}${play.ticking?.seen() ?? ""}`, []);
    state.raw.binaryType = "arraybuffer";
    state.raw.addEventListener("message", onFrame); // before htmx, which reads texts only
    state.raw.addEventListener("close", onMove); // before htmx hears of it, and asks how long to wait
    return state.raw;
  }

  /* an image of the world (js/environment.js) */
  function onFrame(event) {
    if (typeof event.data === "string") return;
    event.stopImmediatePropagation();
    state.heard = Date.now();
    play.dispatchEvent(new CustomEvent("brigade:frame", { detail: event.data }));
  }

  function onMove(event) {
    if (event.code !== RESTART || event.target !== state.raw || state.silent) return;
    const { sent } = choosing;
    clearTimeout(state.moving);
    state.moving = setTimeout(() => arrive(sent), CALM);
  }

  /* What was chosen has been taken; if not, it can be chosen again now. */
  function arrive(sent) {
    state.moving = null;
    if (choosing.sent === sent) choosing.release();
    if (!state.connected) state.attempt = Math.max(1, state.attempt);
    showConnection();
  }

  const reached = () => (state.connected && !state.doubted) || state.moving !== null;

  function delay(tries) {
    if (state.moving !== null && tries === 0) return 50 * Math.random();
    return Math.min(5000, 400 * 1.4 ** tries) * (0.6 + Math.random() * 0.4);
  }

  function showElsewhere(on) {
    const box = document.getElementById("elsewhere");
    if (box.hidden !== on) return;
    box.hidden = !on;
    play.classList.toggle("is-elsewhere", on);
    if (on) box.querySelector("h2").focus();
  }

  function showLast(id) {
    const box = document.getElementById(id);
    box.hidden = false;
    box.querySelector("h2").focus();
  }

  function playHere() {
    state.taking = true;
    showElsewhere(false);
    choosing.focus();
    state.socket.reconnect();
  }

  function connectionText() {
    if (state.final) return ["closed", state.final];
    if (reached()) return ["connected", SAY.connected];
    if (!navigator.onLine) return ["offline", SAY.offline];
    if (state.doubted) return ["reconnecting", SAY.doubted];
    if (!state.attempt) return ["connecting", SAY.connecting];
    if (state.silent) return ["reconnecting", SAY.silent];
    return ["reconnecting", SAY.again.replace("{number}", state.attempt)];
  }

  function letKeyboardScroll() {
    if (said.scrollHeight > said.clientHeight) said.tabIndex = 0;
    else if (document.activeElement !== said) said.removeAttribute("tabindex");
  }

  function showConnection() {
    const box = document.getElementById("connection");
    const [name, text] = connectionText();
    if (box.dataset.state !== name || said.textContent !== text) {
      box.dataset.state = name;
      said.textContent = text;
      box.title = text; // where it is cut off
      letKeyboardScroll();
    }
    play.dispatchEvent(new Event("brigade:connection"));
  }

  function onOpen(event) {
    state.socket = event.detail.socketWrapper;
    state.heard = state.answering = Date.now();
    state.silent = false;
    state.doubted = false;
    state.greeted = false;
    state.awaits = 0;
    if (!state.later) connected();
  }

  function connected() {
    state.later = false;
    state.connected = true;
    state.attempt = state.overdue = 0;
    state.final = "";
    showConnection();
  }

  /* A server that hangs, or a network that died without a word: the browser would believe for minutes. */
  function listen() {
    if (!state.connected) return hurryUp();
    const silence = Date.now() - state.heard;
    const unanswered = state.asked > state.heard && Date.now() - state.asked > LEAVE;
    if (silence > SILENCE || unanswered) return giveUp();
    ask(silence);
    const doubted = state.asked > state.heard && Date.now() - state.asked > DOUBT;
    if (doubted !== state.doubted) {
      state.doubted = doubted;
      showConnection();
    }
    return undefined;
  }

  /* htmx connects anew when this one is closed */
  function hurryUp() {
    const patience = Math.min(LONGEST_OPENING, OPENING * 2 ** state.overdue);
    if (state.raw?.readyState !== WebSocket.CONNECTING || Date.now() - state.opening <= patience) return;
    state.overdue += 1;
    state.raw.close();
  }

  function giveUp() {
    state.connected = false;
    state.silent = true;
    state.doubted = false;
    keep();
    choosing.release();
    state.attempt += 1;
    state.heard = Date.now();
    showConnection();
    state.socket.reconnect();
  }

  /* what was sent may be lost: it is ours to send again, and nobody else's */
  function keep() {
    if (state.socket) state.socket.queue.length = 0;
    if (choosing.sent) choosing.owe();
  }

  /* whether anybody is there; sooner where there is reason to doubt it */
  function ask(silence) {
    const patience = choosing.sent || play.ticking?.expects() || !navigator.onLine ? HURRY : PING;
    const unanswered = state.pinged > state.heard && Date.now() - state.pinged < PING;
    if (silence <= patience || unanswered) return;
    if (state.asked <= state.heard) state.asked = Date.now();
    state.pinged = Date.now();
    state.awaits ||= performance.now();
    state.socket.send(JSON.stringify({ type: "ping", ...roundTrip.told() }));
  }

  /* the answer to a ping says how long the line takes */
  function measure(message) {
    if (!state.awaits || typeof message !== "string" || !PONGS.some((pong) => message.startsWith(pong))) return;
    roundTrip.add(performance.now() - state.awaits);
    state.awaits = 0;
  }

  function onMessage(event) {
    state.heard = Date.now();
    measure(event.detail.message);
    state.greeted = true;
    if (state.doubted) {
      state.doubted = false;
      state.answering = Date.now();
      showConnection();
    }
    state.taking = false;
    if (state.later) connected();
    showElsewhere(false);
  }

  function onClose(event) {
    const code = event.detail.event?.code;
    if (event.detail.event?.target !== state.raw) return;
    if (state.silent && ![GONE, TAKEN_OVER, ELSEWHERE, TOO_MUCH, LATER].includes(code)) return;
    state.connected = false;
    state.doubted = false;
    keep();
    if (state.moving !== null && [1006, RESTART].includes(code)) return;
    choosing.release();
    state.attempt += 1;
    if (code in LAST) turnedAway(code);
    else if (code && !BY_HTMX.includes(code)) setTimeout(comeBack, delay(state.attempt));
    showConnection();
  }

  function turnedAway(code) {
    state.final = LAST[code];
    showElsewhere(code === ELSEWHERE);
    if (code in BOXES) showLast(BOXES[code]);
    play.classList.toggle("is-gone", code in BOXES);
    if (code === TOO_MUCH) setTimeout(comeBack, pause() * (1 + Math.random()));
    state.later = code === LATER;
    if (state.later) setTimeout(comeBack, AGAIN * (1 + Math.random()));
  }

  /* the first time, less than a second; a page that sends too much again and again waits longer and longer */
  function pause() {
    state.floods = Date.now() - state.flooded < FORGOTTEN ? state.floods + 1 : 0;
    state.flooded = Date.now();
    return Math.min(PATIENCE, SOON * 2 ** state.floods);
  }

  function comeBack() {
    if (!state.connected) state.socket.reconnect();
  }

  document.addEventListener("htmx:wsOpen", onOpen);
  document.addEventListener("htmx:wsClose", onClose);
  document.addEventListener("htmx:wsConnecting", showConnection);
  document.addEventListener("htmx:wsBeforeMessage", onMessage);
  window.addEventListener("online", showConnection);
  window.addEventListener("offline", () => {
    listen();
    showConnection(); // whether there is a connection was in doubt before
  });
  document.addEventListener("click", (event) => event.target.closest("[data-take]") && playHere());

  if (window.htmx) {
    htmx.createWebSocket = open;
    htmx.config.wsReconnectDelay = delay;
  }
  setInterval(listen, 200);
  new ResizeObserver(letKeyboardScroll).observe(said);
  said.addEventListener("blur", letKeyboardScroll);

  play.connection = {
    reached,
    ready: () => state.connected && state.greeted,
    reconnect: () => state.socket.reconnect(),
    get doubted() { return state.doubted; },
    get silence() { return Date.now() - state.heard; }, // milliseconds
    get answering() { return Date.now() - state.answering; },
    get opening() { return !reached() && !state.attempt && !state.doubted; },
  };
  showConnection();
})();
