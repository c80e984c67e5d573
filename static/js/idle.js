/* Asks whether somebody is there, and leads on when the time is over. The server says how long there is left; here
   it is only counted, and looked up again before anything is shown: another tab or the game may know more. */
"use strict";

(() => {
  const box = document.querySelector("[data-idle]");
  if (!box) return;

  const TELL = 60000; // milliseconds between two words that somebody is typing or scrolling
  const LOOK = 15000; // between two looks while the question is shown
  const WAITS = 2000; // after the end, for clocks that are not quite the same
  let told = performance.now();
  let timer = 0;
  let before = null;

  const secondsIn = (text) => (text === "" ? null : Number(text));

  async function ask(method) {
    const headers = method === "POST" ? { "X-CSRFToken": box.dataset.token } : {};
    const answer = await fetch(box.dataset.here, { method, headers, credentials: "same-origin" });
    if (answer.status === 404) return { active: false };
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  }

  function leftInWords(seconds) {
    if (seconds === null) return "";
    const minutes = Math.max(1, Math.round(seconds / 60));
    return box.dataset.left.replace("{minutes}", minutes);
  }

  function show(on, left) {
    box.querySelector("[data-idle-left]").textContent = on ? leftInWords(left) : "";
    if (box.hidden !== on) return;
    box.hidden = !on;
    if (on) {
      before = document.activeElement;
      box.querySelector("button").focus();
    } else {
      before?.focus?.({ preventScroll: true });
    }
  }

  function plan(warnIn, endIn) {
    const isPast = (seconds) => seconds !== null && seconds <= 0;
    show(isPast(warnIn) && !isPast(endIn), endIn);
    const waits = [warnIn, endIn].filter((seconds) => seconds !== null && seconds > 0).map((seconds) => seconds * 1000);
    if (!box.hidden) waits.push(LOOK);
    clearTimeout(timer);
    timer = setTimeout(look, Math.min(...waits, 2 ** 30) + 100);
  }

  function take(answer) {
    const over = answer.end_in !== null && answer.end_in <= 0;
    if (!answer.active || over) location.assign(box.dataset.next);
    else plan(answer.warn_in, answer.end_in);
  }

  async function look() {
    try {
      take(await ask("GET"));
    } catch {
      timer = setTimeout(look, WAITS);
    }
  }

  async function tell() {
    told = performance.now();
    try {
      take(await ask("POST"));
    } catch {
      told = -TELL;
    }
  }

  function noticed() {
    if (box.hidden && performance.now() - told > TELL) tell();
  }

  box.querySelector("[data-idle-here]").addEventListener("click", tell);
  for (const kind of ["keydown", "pointerdown", "input", "scroll"]) {
    document.addEventListener(kind, noticed, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
  plan(secondsIn(box.dataset.warnIn), secondsIn(box.dataset.endIn));
})();
