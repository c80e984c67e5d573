/* The live page of a study: says whether it is live, connects anew, and keeps the focus in its place. */
"use strict";

(() => {
  const LISTEN = 5000; // milliseconds between two questions whether anybody is there
  const SILENCE = 15000; // after which we connect anew
  const PATIENCE = 30000; // after which we connect anew when too much came from this page at once
  const TOO_MUCH = 4429; // close code for that
  const LAST = {
    4403: "Not live: you are not allowed to watch this study, or no longer logged in.",
    4404: "Not live: this study no longer exists.",
    4409: "Not live: you have too many live pages open. Load this page again to watch here.",
  };
  const AGAIN = { [TOO_MUCH]: "Not live: this page sent too much at once. It will reconnect within a minute." };
  const BY_HTMX = [1006, 1011, 1012, 1013]; // close codes after which htmx connects anew by itself
  const RESTART = 1012; // close code: this process of the server ends, another one takes us at once
  const CALM = 1000; // milliseconds in which it does, and nobody need know
  const box = document.getElementById("connection");
  let socket = null;
  let raw = null;
  let heard = 0;
  let kept = "";

  function say(state, text) {
    if (box.dataset.state === state) return;
    box.dataset.state = state;
    box.querySelector("[data-text]").textContent = text;
  }

  function open(address) {
    raw = new WebSocket(address, []);
    return raw;
  }

  function onClose(event) {
    if (event.detail.event?.target !== raw) return;
    const code = event.detail.event.code;
    if (code === RESTART) setTimeout(() => raw.readyState === WebSocket.OPEN || lost(code), CALM);
    else lost(code);
  }

  function lost(code) {
    say(LAST[code] ? "closed" : "reconnecting", LAST[code] ?? AGAIN[code] ?? "Not live: connecting again…");
    const wait = code === TOO_MUCH ? PATIENCE * (1 + Math.random()) : 2000;
    if (!LAST[code] && !BY_HTMX.includes(code)) setTimeout(() => socket.reconnect(), wait);
  }

  function onMessage() {
    heard = Date.now();
    say("connected", "Live");
    kept = document.activeElement?.id ?? "";
  }

  function listen() {
    if (box.dataset.state !== "connected") return;
    if (Date.now() - heard > SILENCE) {
      say("reconnecting", "Not live: the server does not answer. Trying again…");
      heard = Date.now();
      socket.reconnect();
    } else {
      socket.send("{}");
    }
  }

  if (!window.htmx) return;
  htmx.createWebSocket = open;
  htmx.config.wsReconnectDelay = (tries) => Math.min(5000, 400 * 1.4 ** tries) * (0.6 + Math.random() * 0.4);
  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    heard = Date.now();
  });
  document.addEventListener("htmx:wsClose", onClose);
  document.addEventListener("htmx:wsBeforeMessage", onMessage);
  document.addEventListener("htmx:wsAfterMessage", () => {
    if (kept && document.activeElement?.id !== kept) document.getElementById(kept)?.focus({ preventScroll: true });
  });
  setInterval(listen, LISTEN);
})();
