/* What `interact` does in the grids, as far as a page can know it: the rules of kitchen/worlds/overcooked/game_rules.py.
   static/js/grid_prediction.js shows it before the server does. A soup that still cooks may be ready when the server
   hears of the key, or not, so nothing is shown of taking it. */
"use strict";

(() => {
  const play = document.querySelector("[data-play].is-ticking");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const { grid, uses, moves, time, capacity, starts_itself: startsItself } = JSON.parse(board.dataset.rules); // page.py
  const DISH = "dish";

  const timeOf = (contents) => (typeof time === "number" ? time : contents.reduce((sum, name) => sum + time[name], 0));
  const isAt = (place) => ({ at }) => at[0] === place[0] && at[1] === place[1];
  const without = (entries, place) => entries.filter((entry) => !isAt(place)(entry));
  const start = (place, contents) => ({ at: place, contents, left: Math.max(0, timeOf(contents) - 1) });

  /* Each returns what the hands hold afterwards, and what of the kitchen has changed; null without an effect. */

  function useCounter(holds, place, { counters }) {
    const lying = counters.find(isAt(place));
    if (holds && !lying) return { holds: null, counters: [...counters, { at: place, thing: holds }] };
    return !holds && lying ? { holds: lying.thing, counters: without(counters, place) } : null;
  }

  function usePot(holds, place, { pots }) {
    const pot = pots.find(isAt(place));
    const put = (entry) => [...without(pots, place), entry];
    if (Array.isArray(holds)) return null;
    if (holds === DISH) return pot?.left === 0 ? { holds: ["soup", pot.contents], pots: without(pots, place) } : null;
    if (pot && pot.left !== null) return null;
    if (holds) return fill(holds, place, pot?.contents ?? [], put);
    return startsItself || !pot ? null : { holds: null, pots: put(start(place, pot.contents)) };
  }

  function fill(food, place, before, put) {
    if (before.length >= capacity) return null;
    const contents = [...before, food].sort();
    const starts = startsItself && contents.length === capacity;
    return { holds: null, pots: put(starts ? start(place, contents) : { at: place, contents, left: null }) };
  }

  /* until the server says what it is worth, it is seen at the hatch */
  function serve(holds, place, { counters }) {
    return Array.isArray(holds) ? { holds: null, counters: [...counters, { at: place, thing: holds }] } : null;
  }

  const USES = { counter: useCounter, pot: usePot, serving: serve };

  function interact(seen, seat) {
    const player = seen.players[seat];
    const place = player.at.map((value, axis) => value + moves[player.face][axis]);
    const use = uses[grid[place[1]]?.[place[0]]];
    if (!use) return null;
    const effect = USES[use] ? USES[use](player.holds, place, seen) : player.holds ? null : { holds: use };
    if (!effect) return null;
    const { holds, ...changed } = effect;
    return { ...seen, ...changed, players: seen.players.map((one, number) => (number === seat ? { ...one, holds } : one)) };
  }

  play.effects = { interact };
})();
