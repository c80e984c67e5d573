/* The last seconds of the game beside the questions: fetched when they are opened, in a frame as high as they need. */
"use strict";

(() => {
  const fold = document.querySelector("[data-last-seconds]");
  const frame = fold?.querySelector("iframe");
  if (!frame) return;

  const fit = () => {
    const { documentElement } = frame.contentDocument;
    frame.style.height = `${documentElement.querySelector("main").scrollHeight + 16}px`;
  };

  frame.addEventListener("load", () => {
    if (!frame.src || !frame.contentDocument?.querySelector("main")) return;
    fit();
    new ResizeObserver(fit).observe(frame.contentDocument.querySelector("main"));
  });
  fold.addEventListener("toggle", () => {
    if (fold.open && !frame.src) frame.src = fold.dataset.lastSeconds;
    else if (!fold.open) frame.removeAttribute("src"); // it rests
  });
})();
