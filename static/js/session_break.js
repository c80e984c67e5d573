/* On the page of a break between sessions: write times in the reader's own time zone, and show the button when the
   server says that the break is over. The server decides; the clock of this browser only chooses when to ask. */
"use strict";

(() => {
  const box = document.querySelector("[data-break]");
  const LOOK = 60; // seconds between two looks once the time has come
  const LONGEST = 3600; // seconds until the next look: a computer that slept has lost time
  const came = performance.now();

  const words = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    weekday: "long", day: "numeric", month: "long", year: "numeric", hour: "numeric", minute: "2-digit",
    timeZoneName: "short",
  });
  for (const time of box.querySelectorAll("time[data-local]")) time.textContent = words.format(new Date(time.dateTime));

  const form = document.querySelector("[data-break-form]");
  if (!form.hidden) return;

  async function look() {
    const answer = await fetch(`${box.dataset.here}?break=1`, { credentials: "same-origin" });
    if (!answer.ok) return false;
    const told = await answer.json();
    if (!told.active) location.reload();
    if (told.resting) return false;
    form.hidden = false;
    document.querySelector("#break-told [data-due]").hidden = false;
    return true;
  }

  function left() {
    return Number(box.dataset.break) - (performance.now() - came) / 1000;
  }

  function again() {
    const seconds = left() > 0 ? Math.min(left() + 1, LONGEST) : LOOK;
    setTimeout(async () => (await look().catch(() => false)) || again(), seconds * 1000);
  }

  again();
  document.addEventListener("visibilitychange", () => document.hidden || !form.hidden || look().catch(() => {}));
})();
