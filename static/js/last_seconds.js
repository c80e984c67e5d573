/* The end of a game once more, picture by picture: from the first to the last, then on request again. Nothing can be
   done in it. */
"use strict";

(() => {
  const play = document.querySelector("[data-play][data-picture-ms]");
  if (!play) return;

  const button = document.querySelector("[data-again]");
  const slider = document.getElementById("last-at");
  const pictures = [...document.querySelectorAll("template[data-picture]")].map((one) => one.innerHTML);
  const time = Number(play.dataset.pictureMs);
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const first = document.querySelector("template[data-first]").innerHTML;
  let at = 0;
  let timer = 0;

  function still() {
    for (const one of play.querySelectorAll("form :is(input, button, select, textarea), [data-spot]")) one.disabled = true;
  }

  function put(html) {
    play.panels.put(html);
    still();
  }

  function begin() {
    at = 0;
    put(first);
  }

  /* each picture has only what has changed since the one before */
  function go(to) {
    if (to < at) begin();
    while (at < to) put(pictures[at++]);
    slider.value = at;
  }

  function rest() {
    clearInterval(timer);
    timer = 0;
    button.setAttribute("aria-pressed", "false");
    button.textContent = button.dataset.playAgain;
  }

  function run() {
    if (at >= pictures.length) go(0);
    button.setAttribute("aria-pressed", "true");
    button.textContent = button.dataset.pause;
    timer = setInterval(() => {
      go(at + 1);
      if (at >= pictures.length) rest();
    }, time);
  }

  button.addEventListener("click", () => (timer ? rest() : run()));
  slider.addEventListener("input", () => {
    rest();
    go(Number(slider.value));
  });
  play.addEventListener("submit", (event) => event.preventDefault());
  still();
  if (!CALM.matches && pictures.length) run();
  else go(pictures.length);
})();
