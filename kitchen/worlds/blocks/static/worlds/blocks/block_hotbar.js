/* What the own builder holds, as a row of pictures below the map: the chosen one is in the hand. Digits and presses choose.
   What is in the hand is placed on the cell that is pressed, and given to the builder that is pressed (map_pointing.js).
   `hotbar` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const bar = play?.querySelector("[data-hotbar]");
  if (!bar) return;

  const MOST = 9; // slots with a digit
  const GIFT = 5; // blocks that one press on a builder gives
  const NUDGE = 900; // milliseconds in which the slot that is needed is shown
  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const { choosing, mapBlocks, blockPictures: pictures } = play;
  const { world } = mapBlocks;
  const { filled } = play.cellWords;
  const undo = bar.querySelector("[data-undo]");
  const slots = new Map(); // by item
  let hand = ""; // empty after what was in it has run out: one chooses what comes next
  let hasHeld = false;

  const pack = () => world.now.pack ?? [];
  const amountOf = (item) => pack().find(([one]) => one === item)?.[2] ?? 0;
  const chooses = () => Boolean(world.ground?.by_block);
  const isTool = () => hand.endsWith("pickaxe");
  const isWanted = (item) => Object.values(world.ground.blueprint?.legend ?? {}).includes(item);

  /* what the plan wants comes first, then what else can be placed, then tools */
  function ordered() {
    const rank = ([item]) => 4 * !isWanted(item) + 2 * !mapBlocks.holds(item) + (item === "dirt");
    return [...pack()].sort((one, other) => rank(one) - rank(other));
  }

  function show() {
    play.querySelector(".world")?.classList.toggle("is-by-block", Boolean(world.ground?.by_block));
    const items = world.now ? ordered() : [];
    if (hand && !items.some(([item]) => item === hand)) runOut();
    if (!hasHeld && items.length) [hand, hasHeld] = [items[0][0], true];
    for (const [item, slot] of slots) {
      if (items.some(([one]) => one === item)) continue;
      slot.remove();
      slots.delete(item);
    }
    items.forEach(showSlot);
    bar.classList.toggle("is-plain", !chooses()); // there it is only shown
    bar.hidden = !items.length || world.now.you < 0;
    undo.hidden = !world.ground.box;
    undo.disabled = !(play.blockQueue?.isFree() && play.blockOwners.last());
  }

  function runOut() {
    const words = filled(bar.dataset.ranOut, { item: slots.get(hand)?.title ?? hand });
    hand = "";
    if (chooses() && !play.buildingFinish.isOver()) play.buildingFinish.note(words);
  }

  function showSlot([item, name, amount], index) {
    if (!slots.has(item)) slots.set(item, newSlot(item));
    const slot = slots.get(item);
    const words = filled(item === hand && chooses() ? bar.dataset.inHand : bar.dataset.slot, { item: name, n: amount });
    if (slot.getAttribute("aria-label") !== words) slot.setAttribute("aria-label", words);
    if (chooses()) slot.setAttribute("aria-pressed", String(item === hand));
    slot.disabled = !chooses();
    slot.title = name;
    const digit = index < MOST && chooses() ? String(index + 1) : "";
    if (digit) slot.setAttribute("aria-keyshortcuts", digit);
    else slot.removeAttribute("aria-keyshortcuts");
    write(slot.querySelector("b"), String(amount));
    write(slot.querySelector("small"), name);
    write(slot.querySelector("kbd"), digit);
    if (bar.children[index] !== slot) bar.insertBefore(slot, bar.children[index]);
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  function newSlot(item) {
    const [slot, picture] = [document.createElement("button"), document.createElement("canvas")];
    Object.assign(picture, { width: 64, height: 64 });
    picture.dataset.block = item;
    pictures.fill(picture);
    Object.assign(slot, { type: "button", className: "slot" });
    slot.dataset.item = item;
    slot.append(picture, document.createElement("small"), document.createElement("b"), document.createElement("kbd"));
    return slot;
  }

  function take(item) {
    if (!item || item === hand) return;
    hand = item;
    show();
    document.getElementById("stage-said").textContent = slots.get(item).getAttribute("aria-label");
    play.mapView.draw();
  }

  /* what a press on this cell can place: what is in the hand or, where nothing is chosen, whatever is held. Who knows the
     plan places only what it wants there. */
  function itemsFor(at) {
    const wanted = mapBlocks.wantedAt(...at);
    const held = world.now.placeable.map(([item]) => item).filter((item) => !chooses() || item === hand);
    return held.filter((item) => !world.ground.blueprint || item === wanted);
  }

  /* the slot whose block belongs where another one was to be placed */
  function nudge(item) {
    const slot = slots.get(item);
    if (!slot) return;
    slot.classList.add("is-needed");
    setTimeout(() => slot.classList.remove("is-needed"), NUDGE);
  }

  /* the command that gives what is in the hand to this seat; null if nothing is */
  function gift(seat) {
    const held = amountOf(hand);
    if (!held) return null;
    return ["give", String(seat), hand, String(Math.min(held, GIFT))];
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.(WRITING) || event.target.closest?.("[data-amount]")) return;
    if (!chooses() || !document.querySelector("[data-keys-switch]")?.checked || choosing.chosen()?.closest("[data-amount]")) return;
    if (/^[1-9]$/.test(event.key)) take(ordered()[Number(event.key) - 1]?.[0]);
    if (event.key.toLowerCase() === "u" && !undo.hidden) undo.click();
  }

  bar.addEventListener("click", (event) => {
    take(event.target.closest("[data-item]")?.dataset.item);
    if (event.target.closest("[data-undo]")) play.blockQueue.undo();
  });
  document.addEventListener("keydown", onKey);
  play.addEventListener("brigade:choice", show); // and after each look at the map (map.js)

  play.hotbar = {
    show, nudge, gift, itemsFor, chooses, isTool: () => chooses() && isTool(), amountOf,
    get hand() { return hand; },
    digitOf: (item) => ordered().findIndex(([one]) => one === item) + 1,
  };
})();
