/* The play page: connection, menu, keys, and keeping the person's place while panels are replaced.

   The server sends what has changed, each panel as one element with its id. A panel may hold others: where
   the page has them already, <template id="one other"> stands for them, and they themselves are put there. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/script_words.py
  const KEYS = "brigade.keys";
  const PING = 4000; // milliseconds of silence after which we ask whether anybody is there
  const HURRY = 600; // the same while a choice is on its way, or the browser says that it is offline
  const DOUBT = 1000; // milliseconds without an answer to that after which we say so
  const SILENCE = 12000; // after which we connect anew
  const ELSEWHERE = 4409; // close code: a newer tab plays
  const TOO_MUCH = 4429; // close code: too much came from this page at once
  const LATER = 4503; // close code: nothing can be read or stored at the moment
  const AGAIN = 3000; // milliseconds after which a choice that could not be stored is sent again
  const GONE = 4404; // close code: nobody has this seat any more
  const LAST = { // what is said after a close code that htmx does not connect anew after
    [ELSEWHERE]: SAY.elsewhere,
    [GONE]: SAY.gone,
    [TOO_MUCH]: SAY.tooMuch,
    [LATER]: SAY.later,
  };
  const RESTART = 1012; // close code: this process of the server ends, another one takes us at once
  const CALM = 1000; // milliseconds in which it does, and nobody need know
  const PATIENCE = 30000; // milliseconds until it does, or twice as many
  const CALLS = Object.keys(SAY.calls).map(Number); // seconds left that are said aloud
  const AT_ONCE = 250; // milliseconds in which an answer comes at once
  const ALOUD = 700; // milliseconds of waiting after which it is said aloud
  const LONG = 15; // seconds of waiting after which we say that nothing is lost
  const state = {
    connected: false, attempt: 0, final: "", sent: null, since: Date.now(), waitKey: "",
    step: "", phase: "", // of the episode, as the bar says
    locked: 0, // the timer after which the page says that it waits
    said: null, // the line under the button, while it says what was chosen
    heard: Date.now(), socket: null, raw: null, silent: false, taking: true,
    asked: 0, pinged: 0, doubted: false, // since when we ask whether anybody is there; last asked; no answer yet
    waiting: 0, // since when we wait for others, 0 while we do not
    moving: null, // the timer within which we are connected to another process
    clock: null, closes: null, left: Infinity,
    later: false, // turned away while nothing can be stored: connected only when something comes
    owed: "", toldAt: 0, // the step whose choice could not be stored, and when we were told
  };
  const drawer = new Map(); // elements that are not on the page now, by id: they may come back in this episode
  let kept = null;

  const menu = () => document.getElementById("menu");
  const chosen = () => menu()?.querySelector('input[name="command"]:checked');
  const choosing = () => state.phase === "choose" && state.sent === null;

  function readBar(bar) {
    state.step = bar.dataset.step;
    state.phase = bar.dataset.phase;
  }

  /* connection: this page has a name; it takes the seat when it is opened, not whenever it connects anew */

  const NAME = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

  function open(address) {
    state.raw = new WebSocket(`${address}?page=${NAME}&language=${document.documentElement.lang}${state.taking ? "&take=1" : ""}`, []);
    state.raw.addEventListener("close", onMove); // before htmx hears of it, and asks how long to wait
    return state.raw;
  }

  function onMove(event) {
    if (event.code !== RESTART || event.target !== state.raw || state.silent) return;
    const sent = state.sent;
    clearTimeout(state.moving);
    state.moving = setTimeout(() => arrive(sent), CALM);
  }

  /* What was chosen has been taken; if not, it can be chosen again now. */
  function arrive(sent) {
    state.moving = null;
    if (state.sent === sent) unlock();
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

  function playHere() {
    state.taking = true;
    showElsewhere(false);
    focusTitle();
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

  function showConnection() {
    const box = document.getElementById("connection");
    const [name, text] = connectionText();
    if (box.dataset.state !== name || box.querySelector("[data-text]").textContent !== text) {
      box.dataset.state = name;
      box.querySelector("[data-text]").textContent = text;
    }
    showSubmit();
  }

  function onOpen(event) {
    state.socket = event.detail.socketWrapper;
    state.heard = Date.now();
    state.silent = false;
    state.doubted = false;
    if (!state.later) connected();
  }

  function connected() {
    state.later = false;
    state.connected = true;
    state.attempt = 0;
    state.final = "";
    showConnection();
  }

  /* A server that hangs, or a network that died without a word: the browser would believe for minutes. */
  function listen() {
    if (!state.connected) return;
    const silence = Date.now() - state.heard;
    if (silence > SILENCE) return giveUp();
    ask(silence);
    const doubted = state.asked > state.heard && Date.now() - state.asked > DOUBT;
    if (doubted !== state.doubted) {
      state.doubted = doubted;
      showConnection();
    }
    return undefined;
  }

  function giveUp() {
    state.connected = false;
    state.silent = true;
    state.doubted = false;
    if (state.sent !== null) owe();
    unlock();
    state.attempt += 1;
    state.heard = Date.now();
    showConnection();
    state.socket.reconnect();
  }

  /* whether anybody is there; sooner where there is reason to doubt it */
  function ask(silence) {
    const patience = state.sent !== null || !navigator.onLine ? HURRY : PING;
    const unanswered = state.pinged > state.heard && Date.now() - state.pinged < PING;
    if (silence <= patience || unanswered) return;
    if (state.asked <= state.heard) state.asked = Date.now();
    state.pinged = Date.now();
    state.socket.send('{"type": "ping"}');
  }

  function onMessage() {
    state.heard = Date.now();
    if (state.doubted) {
      state.doubted = false;
      showConnection();
    }
    state.taking = false;
    if (state.later) connected();
    showElsewhere(false);
    remember();
  }

  function onClose(event) {
    const code = event.detail.event?.code;
    if (event.detail.event?.target !== state.raw) return;
    if (state.silent && ![GONE, ELSEWHERE, TOO_MUCH, LATER].includes(code)) return;
    state.connected = false;
    state.doubted = false;
    if (state.sent !== null) owe();
    if (state.moving !== null && [1006, RESTART].includes(code)) return;
    unlock();
    state.attempt += 1;
    if (code && ![1006, 1011, 1012, 1013].includes(code)) {
      state.final = LAST[code] ?? SAY.closed;
      showElsewhere(code === ELSEWHERE);
      play.classList.toggle("is-gone", code === GONE);
      if (code === TOO_MUCH) setTimeout(comeBack, PATIENCE * (1 + Math.random()));
      state.later = code === LATER;
      if (state.later) setTimeout(comeBack, AGAIN * (1 + Math.random()));
    }
    showConnection();
  }

  function comeBack() {
    if (!state.connected) state.socket.reconnect();
  }

  /* the submit button names what will be done */

  function submitText() {
    if (state.phase === "over") return SAY.over;
    if (play.classList.contains("is-elsewhere")) return SAY.elsewhere;
    if (!choosing()) return state.doubted ? SAY.waitsForConnection : waitText() || SAY.playing;
    if (!reached() && !state.attempt && !state.doubted) return SAY.connecting;
    if (!reached()) return chosen() ? SAY.kept : SAY.notConnected;
    return chosen() ? words(chosen()) : SAY.choose;
  }

  /* what a radio button stands for, alone: what is written beside it, if it does not say */
  function words(radio) {
    return radio.dataset.text || radio.closest("label").querySelector(".action-text").firstChild.textContent;
  }

  function showSubmit() {
    const button = menu()?.querySelector("[data-submit]");
    if (!button) return;
    const text = submitText();
    if (button.textContent !== text) button.textContent = text;
    button.disabled = !(choosing() && reached());
    button.setAttribute("aria-disabled", String(Boolean(choosing() && !chosen())));
    button.classList.toggle("is-set", Boolean(choosing() && chosen()));
    const actions = menu().querySelector("fieldset[data-actions]");
    if (actions) actions.disabled = !choosing();
  }

  /* No more is chosen until the answer is there; that is said only if it does not come at once. */
  function lock() {
    state.sent = state.step;
    state.owed = "";
    state.locked = setTimeout(showLock, AT_ONCE);
    if (document.activeElement === document.body || menu().contains(document.activeElement)) focusTitle();
  }

  function showLock() {
    play.classList.add("is-sent");
    const hint = menu().querySelector("[data-hint]");
    if (hint && chosen()) {
      state.said = [hint, hint.textContent];
      hint.textContent = SAY.chose.replace("{action}", () => words(chosen()));
    }
    showSubmit();
  }

  /* What could not be stored is sent again, unless its person has chosen something else meanwhile. */
  function owe() {
    state.owed = state.step;
    state.toldAt = Date.now();
  }

  function sendAgain() {
    if (state.owed !== state.step || !choosing()) return;
    if (state.connected && chosen() && Date.now() - state.toldAt > AGAIN) menu().requestSubmit();
  }

  /* an answer is there, or none will come */
  function unlock() {
    clearTimeout(state.locked);
    play.classList.remove("is-sent");
    if (state.said) state.said[0].textContent = state.said[1];
    state.said = null;
    state.sent = null;
  }

  function focusTitle() {
    document.getElementById("menu-title")?.focus({ preventScroll: true });
  }

  /* replacing panels */

  /* where panels stood that scroll by themselves: [data-scroll], kept within a step, or always if it says so */
  function scrolls() {
    const found = play.querySelectorAll("[data-scroll][id]");
    return [...found].map((element) => [element.id, element.scrollTop, element.scrollLeft]);
  }

  function remember() {
    const active = document.activeElement;
    const inMenu = Boolean(active && menu()?.contains(active));
    kept = {
      inMenu,
      id: active?.id || "",
      value: inMenu && active.name === "command" ? active.value : "",
      submit: Boolean(active?.matches?.("[data-submit]")),
      choice: chosen()?.value || "",
      step: state.step,
      open: [...document.querySelectorAll("#menu details[open]")].map((details) => details.id),
      scrolls: scrolls(),
    };
  }

  function radioOf(value) {
    const radios = menu()?.querySelectorAll('input[name="command"]:not(:disabled)') || [];
    return [...radios].find((radio) => radio.value === value);
  }

  /* a choice holds for one step */
  function restoreChoice() {
    if (state.step !== kept.step && chosen()) chosen().checked = false;
    if (!kept.choice || state.step !== kept.step || chosen()) return;
    const radio = radioOf(kept.choice);
    if (radio) radio.checked = true;
  }

  function restoreFocus() {
    const active = document.activeElement;
    if (active && active !== document.body && document.contains(active)) return;
    const sameStep = state.step === kept.step;
    const radio = kept.value && sameStep && radioOf(kept.value);
    if (radio) radio.focus({ preventScroll: true });
    else if (kept.inMenu) focusTitle();
    else if (kept.id) document.getElementById(kept.id)?.focus({ preventScroll: true });
  }

  function restore() {
    if (!kept) return;
    if (state.sent !== null && (state.sent !== state.step || state.phase !== "choose")) unlock();
    for (const id of kept.open) document.getElementById(id)?.setAttribute("open", "");
    restoreChoice();
    const sameStep = state.step === kept.step;
    for (const [id, top, left] of kept.scrolls) {
      const element = document.getElementById(id);
      if (element && (sameStep || element.dataset.scroll === "always")) element.scrollTo(left, top);
    }
    restoreFocus();
    kept = null;
    showSubmit();
    showWait();
    readClock();
    showOver();
  }

  /* While others choose, the actions stay where they were, only not to be chosen. */
  function keepActions(fresh) {
    const now = menu()?.querySelector("[data-actions]");
    const coming = fresh.matches("[data-actions]") ? fresh : fresh.querySelector("[data-actions]");
    const same = state.step === kept.step && !["choose", "over"].includes(state.phase);
    if (same && coming && now?.querySelector("input") && !coming.querySelector("input")) {
      coming.replaceChildren(...now.childNodes);
    }
  }

  /* Elements that the page has are taken from it: those that the server left out, and those that it sends
     as they are. */
  function keepParts(fresh) {
    for (const part of fresh.querySelectorAll("[id]")) {
      const here = document.getElementById(part.id);
      if (part.matches("template")) fill(part);
      else if (here && fresh.contains(part) && here.isEqualNode(part)) part.replaceWith(here);
    }
  }

  function fill(gap) {
    const parts = gap.id.split(" ").map((id) => document.getElementById(id) || unchosen(drawer.get(id)));
    if (parts.every(Boolean)) gap.replaceWith(...parts);
    else state.socket.reconnect();
  }

  function unchosen(part) {
    for (const radio of part?.querySelectorAll("input:checked") || []) radio.checked = false;
    return part;
  }

  function beforeSwap(event) {
    const target = event.detail.target;
    const fresh = event.detail.fragment.firstElementChild;
    if (target.id === "bar") readBar(fresh);
    if (target.id === "notice" && fresh.textContent) {
      unlock();
      if (fresh.matches("[data-again]")) owe();
    }
    if (state.said?.[0] === target) state.said = null;
    event.detail.shouldSwap = !target.isEqualNode(fresh);
    if (!event.detail.shouldSwap) return;
    keepParts(fresh);
    if (menu()?.contains(target)) keepActions(fresh);
    for (const part of target.querySelectorAll("[id]")) drawer.set(part.id, part);
  }

  /* who is waited for, and since when; to be heard, too, if it is not over at once */

  const waitText = () => (document.querySelector("#phase [data-wait]")?.textContent || "").trim();

  function sayWait() {
    const waits = state.phase !== "over" && !choosing();
    state.waiting = waits ? state.waiting || Date.now() : 0;
    const text = waits && Date.now() - state.waiting >= ALOUD ? waitText() : "";
    const box = document.getElementById("wait-said");
    if (box.textContent !== text) box.textContent = text;
  }

  function showWait() {
    const key = `${state.step}:${state.phase === "choose"}`;
    if (key !== state.waitKey) {
      state.waitKey = key;
      state.since = Date.now();
    }
    const since = play.querySelector("[data-since]");
    const seconds = Math.floor((Date.now() - state.since) / 1000);
    const text = (seconds > LONG ? SAY.sinceLong : SAY.since).replace("{seconds}", seconds);
    if (since) since.textContent = seconds > 1 ? text : "";
  }

  /* the time that is left: the server says how much, this page only counts it down */

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
    const text = left ? SAY.left.replace("{seconds}", left) : SAY.timeIsUp;
    const shown = clock.querySelector("[data-clock-text]");
    if (shown.textContent !== text) shown.textContent = text;
  }

  function sayLeft(left, whole) {
    const call = CALLS.find((seconds) => left <= seconds && state.left > seconds && seconds < whole);
    if (left && call) document.getElementById("clock-said").textContent = SAY.calls[call];
    else if (state.left === Infinity) document.getElementById("clock-said").textContent = "";
  }

  function showOver() {
    const over = document.querySelector("#over.is-over");
    const told = play.classList.contains("is-over");
    play.classList.toggle("is-over", Boolean(over));
    if (over && !told && kept === null) over.querySelector("h2")?.focus();
  }

  /* One click on an action sends it, unless the study has that asked first. Keys only choose: their clicks have
     no detail. The second click of a double one may have met what was not there before. */

  function onAction(event) {
    const radio = event.target.closest("label")?.control;
    if (!radio || radio.name !== "command" || !event.detail || !menu().contains(radio)) return;
    if (event.target !== radio) event.preventDefault();
    if (radio.disabled || event.detail > 1 || !choosing()) return;
    radio.checked = true;
    state.owed = "";
    showSubmit();
    if (!("asks" in play.dataset) && reached()) menu().requestSubmit();
  }

  /* keys: wherever the focus is but where one writes, and only if they are switched on */

  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const keysOn = () => document.querySelector("[data-keys-switch]")?.checked;

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !choosing()) return;
    if (document.querySelector("dialog[open]") || event.target.closest?.(WRITING)) return;
    if (event.key === "ArrowDown" && event.target.id === "menu-title") return chooseFirst(event);
    const meant = keysOn() ? radiosOf(event.key.toLowerCase()) : [];
    if (meant.length) choose(meant[(meant.indexOf(chosen()) + 1) % meant.length], event);
    return undefined;
  }

  /* what a key means: the action it stands at, or the group; several are gone through one by one */
  function radiosOf(key) {
    const keys = [...menu().querySelectorAll("kbd")].filter((one) => one.textContent.toLowerCase() === key);
    const places = keys.map((one) => one.closest("label") || one.closest("fieldset"));
    return places.flatMap((place) => [...place.querySelectorAll('input[name="command"]:not(:disabled)')]);
  }

  function chooseFirst(event) {
    const first = menu().querySelector('input[name="command"]:not(:disabled)');
    if (first) choose(first, event);
  }

  function choose(radio, event) {
    event.preventDefault();
    radio.closest("details")?.setAttribute("open", "");
    radio.checked = true;
    if (!radio.checkVisibility()) menu().querySelector("[data-fold]")?.click();
    radio.focus();
    showSubmit();
  }

  function setKeys(on) {
    play.classList.toggle("keys-off", !on);
    try {
      localStorage.setItem(KEYS, on ? "on" : "off");
    } catch {
      /* not remembered then */
    }
  }

  function readKeys() {
    try {
      return localStorage.getItem(KEYS) !== "off";
    } catch {
      return true;
    }
  }

  /* events */

  document.addEventListener("htmx:wsOpen", onOpen);
  document.addEventListener("htmx:wsClose", onClose);
  document.addEventListener("htmx:wsConnecting", showConnection);
  document.addEventListener("htmx:wsBeforeMessage", onMessage);
  document.addEventListener("htmx:wsAfterMessage", restore);
  document.addEventListener("htmx:oobBeforeSwap", beforeSwap);
  document.addEventListener("htmx:wsAfterSend", (event) => {
    if (event.target === menu()) lock();
  });
  window.addEventListener("online", showConnection);
  window.addEventListener("offline", listen);
  document.addEventListener("keydown", onKey);
  document.addEventListener("change", (event) => {
    if (event.target.name === "command") {
      state.owed = "";
      showSubmit();
    }
    if (event.target.matches("[data-keys-switch]")) setKeys(event.target.checked);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id === "menu" && !(choosing() && reached())) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-take]")) playHere();
    onAction(event);
    const fold = event.target.closest("[data-fold]");
    if (!fold) return;
    const open = play.classList.toggle(fold.dataset.fold);
    fold.setAttribute("aria-expanded", String(open));
  });

  if (window.htmx) {
    htmx.createWebSocket = open;
    htmx.config.wsReconnectDelay = delay;
  }
  const on = readKeys();
  document.querySelector("[data-keys-switch]").checked = on;
  play.classList.toggle("keys-off", !on);
  readBar(document.getElementById("bar"));
  setInterval(showWait, 1000);
  setInterval(listen, 200);
  setInterval(sayWait, 200);
  setInterval(sendAgain, 1000);
  setInterval(showClock, 200);
  showConnection();
  showWait();
  readClock();
  showOver();
})();
