/* A page that could not be shown, or taken, is asked for again by itself. It is left only while the server answers
   at all, so that what was filled in is not lost to the browser's own page of errors. */
"use strict";

(() => {
  const again = document.querySelector("[data-again]");
  if (!again) return;

  const wait = () => setTimeout(tryAgain, Number(again.dataset.again) * 1000 * (0.8 + Math.random() * 0.4));

  async function tryAgain() {
    try {
      await fetch(location.href, { method: "HEAD", credentials: "omit", cache: "no-store" });
    } catch {
      wait();
      return;
    }
    if (again instanceof HTMLFormElement) HTMLFormElement.prototype.submit.call(again);
    else location.replace(again.href);
  }

  wait();
})();
