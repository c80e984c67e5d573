/* Blocks that are to be placed one after another: a press on a cell adds one, and a line drawn over cells adds each of them.
   Nothing that is pressed while a step is played is lost. Escape, or a press on a cell of the line, takes back what is left.
   The last block that this person placed can be undone (block_owners.js). `blockQueue` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const REST = ["go_on", "stop", "noop"];
  const PACE = 150; // milliseconds between two blocks, in which each is seen to land
  const { blockOwners, cellActions, choosing, hotbar, mapBlocks } = play;
  const { world, blockAt, inSite } = mapBlocks;
  const keyOf = (at) => at.join("_");
  const waiting = []; // where what is to be placed
  let timer = 0;
  let pace = 0; // milliseconds before the next one: the first one waits for nothing
  let drawn = null; // the line that is being drawn: its cells

  const cells = () => [...waiting.map(({ at }) => at), ...(drawn ?? [])];
  const isWaiting = (at) => cells().some((one) => keyOf(one) === keyOf(at));

  /* whether a press places what is in the hand here: what is wanted or, without a plan, anything */
  function canLay(at) {
    if (!at || world.now.you < 0 || choosing.phase === "over" || choosing.asksFirst || !inSite(at) || blockAt(...at)) return false;
    return hotbar.itemsFor(at).length === 1 && !isWaiting(at);
  }

  const itemAt = (at) => hotbar.itemsFor(at)[0];

  /* while an action of several steps goes on, one may only stop it */
  const isFree = () => Boolean(choosing?.may()) && choosing.offered().some(({ value }) => !REST.includes(JSON.parse(value)[0]));
  const isEnough = (at) => cells().filter((one) => itemAt(one) === itemAt(at)).length < hotbar.amountOf(itemAt(at));

  function add(list) {
    for (const at of list) if (canLay(at) && isEnough(at)) waiting.push({ at, item: itemAt(at) });
    play.mapView.draw();
    goOn();
  }

  function clear() {
    if (!waiting.length) return;
    waiting.length = 0;
    play.mapView.draw();
  }

  /* the next one, as soon as one may choose again */
  function goOn() {
    if (timer || !waiting.length || !isFree()) return;
    timer = setTimeout(send, pace);
  }

  function send() {
    timer = 0;
    if (choosing.phase === "over") return clear();
    if (!isFree()) return undefined;
    while (waiting.length && blockAt(...waiting[0].at)) waiting.shift(); // somebody else was faster
    const next = waiting.shift();
    if (!next) return play.mapView.draw();
    if (!hotbar.amountOf(next.item)) return clear();
    return command(["place", next.item, ...next.at]);
  }

  function command(words) {
    const value = JSON.stringify(words.map(String));
    if (!choosing.radioOf(value)) cellActions.add(value);
    const radio = choosing.radioOf(value);
    if (radio) choosing.send(radio);
  }

  /* whatever sent it: the map, the menu or the keyboard */
  function note() {
    const words = choosing.sent ? JSON.parse(choosing.sent.value) : [];
    if (words[0] === "place") pace = PACE;
    goOn();
  }

  function undo() {
    const at = blockOwners.last();
    clear();
    if (at && isFree()) command(["remove", ...at]);
  }

  document.addEventListener("keydown", ({ key }) => key === "Escape" && clear());
  play.addEventListener("brigade:choice", note);
  play.addEventListener("brigade:panels", () => goOn());
  play.blockQueue = {
    add, clear, isFree, canLay, isEnough, cells, undo, command,
    draw: (line) => {
      drawn = line;
      play.mapView.draw();
    },
  };
})();
