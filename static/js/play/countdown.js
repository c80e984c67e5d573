/* Three, two, one on the board ([data-countdown]): until the clock of a real-time game starts, or for a moment before
   a game in turns, where it never keeps anybody from acting. The numbers are only to be seen: where a clock runs, the
   bar says them; before a game in turns it is said once. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const box = play?.querySelector("[data-countdown]");
  if (!box) return;

  const BEAT = 700; // milliseconds of a number where no clock runs
  const FROM = 3;
  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  let timer = 0;
  let began = 0;

  const board = () => play.querySelector("[data-board], [data-view]:not([hidden])") ?? play;

  function place() {
    const { left, top, width, height } = board().getBoundingClientRect();
    box.style.left = `${left + width / 2}px`;
    box.style.top = `${Math.min(top + height / 2, innerHeight * 0.6)}px`;
  }

  function number() {
    if (play.ticking) return Math.ceil((play.ticking.begins() - Date.now()) / 1000);
    return FROM - Math.floor((performance.now() - began) / BEAT);
  }

  function stop() {
    clearInterval(timer);
    box.hidden = true;
  }

  function look() {
    if (play.ticking && !play.ticking.begins()) { // not before everybody is there, nor once it runs
      box.hidden = true;
      if (play.ticking.runs()) stop();
      return;
    }
    const now = number();
    box.hidden = now < 1 || now > FROM;
    if (box.textContent !== String(now)) box.textContent = String(now);
    if (now < 1) stop();
    else place();
  }

  function start() {
    began = performance.now();
    timer = setInterval(look, 100);
    look();
    if (!play.ticking) document.getElementById("stage-said").textContent = SAY.startsSoon;
  }

  if (!play.ticking) for (const act of ["keydown", "pointerdown"]) document.addEventListener(act, stop, { once: true, capture: true });
  start();
})();
