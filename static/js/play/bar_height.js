/* Where the bar ends for the eye, as `--bar` of [data-play]: what stands beside the game begins there. On a low page the bar
   scrolls away with the page. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const bar = play?.querySelector(".topbar");
  if (!bar) return;

  let frame = 0;

  function measure() {
    frame = 0;
    play.style.setProperty("--bar", `${Math.max(0, Math.round(bar.getBoundingClientRect().bottom))}px`);
  }

  const measureSoon = () => (frame ||= requestAnimationFrame(measure));

  addEventListener("scroll", measureSoon, { passive: true });
  new ResizeObserver(measureSoon).observe(bar);
  measure();
})();
