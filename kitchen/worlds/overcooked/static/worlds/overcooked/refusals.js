/* An own action without an effect is seen at the cook: it shakes its head over it, and a few words say why. They are read
   aloud elsewhere (#spoken), or not at all under a clock, so these are only to be seen. Less motion: only the words. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const frame = play?.querySelector("[data-moves]")?.parentElement;
  if (!frame) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const LASTS = 1800; // milliseconds
  const SHAKE = ["0", "-3px", "3px", "-2px", "0"].map((left) => ({ translate: left }));
  const { words } = document.getElementById("board").dataset;
  const WHY = words ? JSON.parse(words).why : {}; // under a clock: kitchen/worlds/overcooked/page.py
  const own = () => document.getElementById("seen")?.dataset.seat;
  const newest = () => document.querySelector("#happened > li");
  let told = newest()?.id;
  let shown = null;
  let timer = 0; // after which the words go

  function show(why) {
    const cook = frame.querySelector(`.actor[data-seat="${own()}"] .figure`);
    if (!cook || !why) return;
    const isHeld = play.ticking && shown?.textContent === why; // a key that is held shakes it once
    if (!CALM.matches && !isHeld) cook.animate(SHAKE, 320);
    shown ??= document.createElement("p");
    shown.className = "refused-words";
    shown.setAttribute("aria-hidden", "true");
    shown.textContent = why;
    if (!shown.isConnected) frame.append(shown);
    place(cook.getBoundingClientRect(), frame.getBoundingClientRect());
    clearTimeout(timer);
    timer = setTimeout(() => {
      shown.remove();
      shown = null;
    }, LASTS);
  }

  /* above its head, or below it where there is no room */
  function place(cook, board) {
    const middle = cook.left + cook.width / 2 - board.left - shown.offsetWidth / 2;
    const above = cook.top - board.top - shown.offsetHeight - 2;
    shown.style.left = `${Math.max(2, Math.min(middle, board.width - shown.offsetWidth - 10))}px`;
    shown.style.top = `${above > 0 ? above : cook.bottom - board.top + 2}px`;
  }

  function lookAtStep() {
    const step = newest();
    if (!step || step.id === told) return;
    told = step.id;
    const lines = [...step.querySelectorAll(".past-line.refused")];
    const mine = lines.find((line) => line.querySelector(`use[href="#seat-${Number(own()) + 1}"]`));
    show(mine?.querySelector("em").lastChild.textContent.trim());
  }

  play.addEventListener("brigade:panels", lookAtStep);
  play.addEventListener("brigade:tick", ({ detail: { events } }) => {
    const mine = events.find(({ kind, seat }) => kind === "refused" && String(seat) === own());
    if (mine) show(mine.reasons.map((code) => WHY[code]).filter(Boolean).join(", "));
  });
})();
