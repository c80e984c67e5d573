/* How long the server takes to answer this page: measured with messages that are sent anyway, and told to it with the
   next ones. `roundTrip` of [data-play] keeps the last times, in milliseconds. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const KEPT = 9; // times of which the middle one is the usual one
  const WAITING = 4; // times that wait to be told
  const last = [];
  const untold = [];

  function add(milliseconds) {
    const time = Math.max(0, Math.round(milliseconds));
    for (const [list, most] of [[last, KEPT], [untold, WAITING]]) {
      list.push(time);
      if (list.length > most) list.shift();
    }
  }

  /* a field for the next message, with the time that waits longest */
  const told = () => (untold.length ? { trip: untold.shift() } : {});

  function usual() {
    return [...last].sort((one, other) => one - other)[Math.floor(last.length / 2)];
  }

  play.roundTrip = { add, told, usual };
})();
