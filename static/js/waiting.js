/* Looks now and then whether the next round can begin, and goes there. */
"use strict";

(() => {
  const box = document.querySelector("[data-waiting]");
  const LOOK = 20000; // milliseconds between two looks

  async function look() {
    const answer = await fetch(`${box.dataset.here}?waiting=1`, { credentials: "same-origin" });
    if (answer.status === 404 || (answer.ok && !(await answer.json()).waiting)) location.reload();
  }

  setInterval(() => look().catch(() => {}), LOOK); // away: looked again
})();
