/* When the steps of a clock come, and in which of them a key counts that is pressed now.

   Steps come late by what the line adds to each of them, so the earliest of the last ones tells when they are due. A
   key is heard as much later as the line takes there, so the page takes the whole round trip off. Times are those of
   `performance.now()`, in milliseconds. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const KEPT = 20; // steps whose arrival is remembered: after that many, a clock that has shifted is known
  const MOST_CUSHION = 100; // milliseconds for which others are shown later, at most, so that late steps do not stop them

  /* `trip()` is the usual round trip; undefined before it is known */
  function paceOf(trip) {
    let [length, early] = [0, []]; // of a step; of each of the last steps: when it came, as if it were step 0

    function reset(step, now, tick) {
      [length, early] = [tick, tick ? [now - step * tick] : []];
    }

    function came(step, now) {
      early.push(now - step * length);
      if (early.length > KEPT) early.shift();
    }

    const base = () => Math.min(...early);

    /* when this step is due here, and how much later nearly all of the last ones came */
    const due = (step) => base() + step * length;
    function cushion() {
      const late = early.map((one) => one - base()).sort((one, other) => one - other);
      return Math.min(MOST_CUSHION, late[Math.floor(0.9 * (late.length - 1))] ?? 0);
    }

    /* until when a key can be pressed that counts in this step, and in which step one counts that is pressed at `now` */
    const closes = (step) => due(step) - (trip() ?? 0);
    const stepAt = (now) => Math.max(1, Math.ceil((now + (trip() ?? 0) - base()) / length));

    return { reset, came, due, cushion, closes, stepAt, isSure: () => early.length > 1 && trip() !== undefined };
  }

  play.paceOf = paceOf;
})();
