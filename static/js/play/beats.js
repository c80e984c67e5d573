/* The beats of somebody's first game ([data-beats]): what the hint is for ([data-purpose] of #hint, or the errand that
   comes with a tick) says which of them is on. One that was reached is never taken back. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const strip = play?.querySelector("[data-beats]");
  if (!strip) return;

  const OF = JSON.parse(strip.dataset.beats); // beats by purpose: `beat_of` of the world's page
  const beats = [...strip.querySelectorAll("[data-beat]")];
  const said = strip.querySelector("[data-beat-said]");
  let at = 0;

  const isShown = (element) => getComputedStyle(element).display !== "none";

  function show() {
    for (const [number, beat] of beats.entries()) {
      beat.toggleAttribute("data-done", number < at);
      if (number === at) beat.setAttribute("aria-current", "step");
      else beat.removeAttribute("aria-current");
    }
    const words = [...(beats[at]?.querySelectorAll("strong, span") ?? [])].filter(isShown);
    said.textContent = words.map((one) => one.textContent).join(": ");
  }

  function reach(number) {
    if (number <= at) return;
    at = number;
    show();
  }

  const beatOf = (purpose) => beats.findIndex((beat) => beat.dataset.beat === OF[purpose]);

  play.addEventListener("brigade:panels", () => {
    if (play.choosing.phase === "over") reach(beats.length);
    else reach(beatOf(document.getElementById("hint")?.dataset.purpose));
  });
  play.addEventListener("brigade:tick", ({ detail }) => reach(beatOf(detail.errand.do)));
  show();
})();
