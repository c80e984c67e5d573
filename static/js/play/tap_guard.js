/* A finger that taps twice, or while a step comes in, does not press what has just come to where it taps: for a moment
   such a tap is not taken. Mouse, keyboard and screen reader are not concerned. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !matchMedia("(any-pointer: coarse)").matches) return;

  const SETTLES = 350; // milliseconds
  const ACTS = "[data-quick] button, [data-actions]:not(.pad) label"; // the keys of a pad never move
  let before = []; // the actions that stood there before the last change: where, and in which words
  let changed = -Infinity; // when that was

  function remember() {
    if (!play.choosing.may()) return; // they are away while an answer is on its way
    const all = [...play.querySelectorAll(ACTS)].map((one) => ({ words: one.textContent, box: one.getBoundingClientRect() }));
    before = all.filter(({ box }) => box.width);
  }

  function wordsAt(x, y) {
    return before.find(({ box }) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)?.words;
  }

  function onClick(event) {
    const action = event.pointerType === "touch" && event.target.closest(ACTS);
    if (!action) return;
    if (before.length && event.timeStamp - changed < SETTLES && wordsAt(event.clientX, event.clientY) !== action.textContent) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else remember();
  }

  document.addEventListener("click", onClick, true);
  document.addEventListener("htmx:wsBeforeMessage", remember);
  addEventListener("resize", () => {
    before = []; // all has moved
  });
  play.addEventListener("brigade:panels", () => {
    changed = performance.now();
  });
})();
