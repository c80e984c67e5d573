/* The card before a game that several play: after some seconds it sends itself, so that nobody waits for long. */
"use strict";

(() => {
  const form = document.querySelector("[data-ready][data-seconds]");
  if (!form) return;

  const left = form.querySelector("[data-ready-left]");
  const ends = performance.now() + 1000 * Number(form.dataset.seconds);
  let timer = 0;

  function look() {
    const seconds = Math.ceil((ends - performance.now()) / 1000);
    left.textContent = seconds > 0 ? form.dataset.told.replace("{seconds}", seconds) : "";
    if (seconds > 0) return;
    clearInterval(timer);
    form.requestSubmit();
  }

  timer = setInterval(look, 250);
  look();
})();
