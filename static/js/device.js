/* Tells the server the size of the window and how often and how long this page was out of sight, where a study keeps
   that. Each time all that is known: what got lost is told again. */
"use strict";

(() => {
  const box = document.querySelector("[data-device]");
  if (!box) return;

  let times = Number(box.dataset.timesAway); // of earlier loads of this page, too
  let past = Number(box.dataset.awayMs);
  let since = null; // when it went out of sight, if it is
  let leaving = false;
  let width = 0;
  let height = 0;

  function tell() {
    if (!width) [width, height] = [window.innerWidth, window.innerHeight];
    if (!width || !height) return; // opened in the background: told when it is seen
    const form = new FormData();
    const told = { page: box.dataset.page, position: box.dataset.position, width, height, times_away: times };
    for (const [name, value] of Object.entries(told)) form.set(name, value);
    form.set("away_ms", past);
    if (navigator.maxTouchPoints > 1) form.set("touched", "on");
    form.set("csrfmiddlewaretoken", box.dataset.token);
    navigator.sendBeacon(box.dataset.here, form);
  }

  function changed() {
    if (document.visibilityState === "hidden" && since === null && !leaving) {
      since = Date.now();
      times += 1;
    } else if (document.visibilityState === "visible" && since !== null) {
      past += Math.max(0, Date.now() - since);
      since = null;
    } else {
      return;
    }
    tell();
  }

  // who goes on to the next page is not away, although this one goes out of sight
  window.addEventListener("pagehide", () => (leaving = true));
  window.addEventListener("pageshow", () => (leaving = false));
  document.addEventListener("visibilitychange", changed);
  if (document.visibilityState === "hidden") changed();
  else tell();
})();
