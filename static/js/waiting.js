/* Load a page again that waits for something, now and then. With `data-here`, only when that address says that the wait
   is over. While the reader leaves the page, it is not loaded again, because that would stop them. */
"use strict";

(() => {
  const box = document.querySelector("[data-waiting]");
  const LOOK = Number(box.dataset.waiting || 20) * 1000; // milliseconds between two looks
  const LEAVING = 30000; // milliseconds in which the next page should be here; a download never is
  let left = -Infinity;

  const leave = () => (left = performance.now());
  const isLeaving = () => performance.now() - left < LEAVING;

  async function waits() {
    const answer = await fetch(`${box.dataset.here}?waiting=1`, { credentials: "same-origin" });
    return answer.status !== 404 && (!answer.ok || (await answer.json()).waiting);
  }

  async function look() {
    if (isLeaving() || (box.dataset.here && (await waits()))) return;
    if (!isLeaving()) location.reload();
  }

  window.addEventListener("beforeunload", leave);
  window.addEventListener("pagehide", leave); // browsers of phones have no `beforeunload`
  window.addEventListener("pageshow", () => (left = -Infinity));
  document.addEventListener("click", (event) => event.target.closest("a[href]") && leave());
  document.addEventListener("submit", leave);
  setInterval(() => look().catch(() => {}), LOOK); // away: looked again
})();
