/* What keys of this person will do on a grid, before the server says so, as far as this page can know it.

   `prediction` of [data-play] has `knows(seen, ahead, command)`, whether the page knows what a command does after those
   ahead of it, and `after(seen, ahead)`, what is seen once they are carried out. A command is known for good or never:
   `shown` of an entry of `ahead` says so, so that nothing appears late that the server has refused meanwhile.

   Moves are the same in each world. For other commands a world's own script sets `effects` of [data-play], by verb:
   `effects[verb](seen, seat)` gives what is seen afterwards, or null without an effect. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const RULES = JSON.parse(board.dataset.rules); // kitchen/pages/grid_page.py
  const FLOOR = new Set(board.dataset.floor.split(" "));
  const own = Number(document.getElementById("seen").dataset.seat);
  const by = ([x, y], [east, south]) => [x + east, y + south];
  const isSame = (one, other) => one[0] === other[0] && one[1] === other[1];

  const withPlayer = (seen, seat, player) => ({ ...seen, players: seen.players.map((one, number) => (number === seat ? player : one)) });

  /* Others are taken to stay where they are. */
  function moved(seen, seat, verb) {
    const player = seen.players[seat];
    const to = by(player.at, RULES.moves[verb]);
    const isTaken = RULES.blocking && seen.players.some(({ at }, number) => number !== seat && isSame(at, to));
    const at = FLOOR.has(to.join()) && !isTaken ? to : player.at;
    return withPlayer(seen, seat, player.face ? { ...player, at, face: verb } : { ...player, at });
  }

  const effectOf = (verb) => play.effects?.[verb];

  function step(seen, seat, [verb]) {
    if (RULES.moves[verb]) return moved(seen, seat, verb);
    return effectOf(verb)?.(seen, seat) ?? seen;
  }

  function after(seen, ahead, seat = own) {
    if (!seen.players[seat]) return seen;
    return ahead.filter(({ shown }) => shown).reduce((present, { command }) => step(present, seat, command), seen);
  }

  const aheadOf = ({ at, face }) => (face ? by(at, RULES.moves[face]) : at);

  /* those who could use the same cell with the same command a moment before */
  const rivals = (seen, seat) => [...seen.players.keys()].filter(
    (one) => one !== seat && isSame(aheadOf(seen.players[one]), aheadOf(seen.players[seat])));

  function knows(seen, ahead, command, seat = own) {
    const [verb] = command;
    if (!effectOf(verb)) return true;
    const present = after(seen, ahead, seat);
    const outcome = (before) => JSON.stringify(effectOf(verb)(before, seat)?.players[seat] ?? null);
    const expected = outcome(present);
    return expected !== "null" && rivals(present, seat).every((rival) => outcome(effectOf(verb)(present, rival) ?? present) === expected);
  }

  play.prediction = { knows, after };
})();
