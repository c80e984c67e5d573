/* What can be done with one cell of the building site. The menu has only the nearest cells. What it does not have is added
   to it, unseen, when a cell is chosen on the map: an action goes out by the menu alone (play/choosing.js). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const { choosing, mapBlocks } = play;
  const { filled } = play.cellWords;
  const REMOVE = "remove";
  const nameOf = (kind) => mapBlocks.world.ground.names[kind] ?? mapBlocks.world.now.placeable.find(([item]) => item === kind)?.[1] ?? kind.replaceAll("_", " ");

  /* the words of each, and the command: what is in the hand is placed if it is wanted there or, without a plan, anyway */
  function commands(at) {
    const kind = mapBlocks.blockAt(...at);
    if (kind) return [[filled(stage.dataset.removeWords, { item: nameOf(kind) }), REMOVE, ...at]];
    return play.hotbar.itemsFor(at).map((item) => [item, nameOf(item)]).map(([item, name]) => [filled(stage.dataset.placeWords, { item: name }), "place", item, ...at]);
  }

  /* what a click does, or why nothing; empty where there is nothing to say */
  function say(at) {
    const [kind, wanted] = [mapBlocks.blockAt(...at), mapBlocks.wantedAt(...at)];
    const { ground, now } = mapBlocks.world;
    if (kind) return ground.blueprint && kind !== wanted ? filled(stage.dataset.wrong, { name: nameOf(kind) }) : nameOf(kind);
    const { hotbar } = play;
    const [first, second] = hotbar.itemsFor(at);
    if (!ground.blueprint && second) return stage.dataset.anyWords;
    if (!ground.blueprint && !first && now.you < 0) return "";
    if (!ground.blueprint && !first) return now.placeable.length && hotbar.chooses() ? stage.dataset.chooseWords : stage.dataset.noneWords;
    if (!ground.blueprint) return filled(stage.dataset.placeWords, { item: nameOf(first) });
    if (!wanted) return stage.dataset.emptyWords;
    if (now.you >= 0 && mapBlocks.holds(wanted) && !first) return filled(stage.dataset.other, { item: nameOf(wanted), n: hotbar.digitOf(wanted) });
    if (play.blockAsking.canAsk(at)) return filled(stage.dataset.asks, { item: nameOf(wanted) });
    const words = now.you < 0 || !mapBlocks.holds(wanted) ? stage.dataset.lacks : stage.dataset.placeWords;
    return filled(words, { item: nameOf(wanted) });
  }

  /* makes the button of the site one of this cell, with its actions alone; a right block is never removed unasked */
  function offer(at, button) {
    const menu = document.querySelector("#menu [data-actions]");
    button.dataset.spot = `cell-${at.join("_")}`;
    button.dataset.nothing = say(at);
    if (!menu || !choosing.may()) return;
    menu.querySelector("[data-cell-actions]")?.remove();
    const added = document.createElement("div");
    added.dataset.cellActions = "";
    added.hidden = true;
    for (const [words, ...command] of commands(at)) {
      const value = JSON.stringify(command.map(String));
      if (!choosing.radioOf(value)) added.append(actionOf(value, words, at));
    }
    menu.append(added);
  }

  /* with the tool in the hand, or what the plan does not want */
  function takesAtOnce(at) {
    const wrong = mapBlocks.world.ground.blueprint && mapBlocks.blockAt(...at) !== mapBlocks.wantedAt(...at);
    return play.hotbar.isTool() || Boolean(wrong);
  }

  function actionOf(value, words, at) {
    const [label, radio] = [document.createElement("label"), document.createElement("input")];
    Object.assign(radio, { type: "radio", name: "command", value });
    Object.assign(radio.dataset, { text: words, places: `cell-${at.join("_")}` });
    if (value.startsWith(`["${REMOVE}"`) && !takesAtOnce(at)) label.dataset.ask = "";
    label.append(radio);
    return label;
  }

  /* adds one command to the menu, unseen, without changing what is offered at the site */
  function add(value) {
    const menu = document.querySelector("#menu [data-actions]");
    const [verb, item] = JSON.parse(value);
    const at = JSON.parse(value).slice(-3);
    if (!menu || !choosing.may()) return;
    menu.querySelector("[data-cell-actions]")?.remove();
    const added = document.createElement("div");
    added.dataset.cellActions = "";
    added.hidden = true;
    const words = verb === REMOVE ? stage.dataset.undo : verb === "give" ? stage.dataset.give : stage.dataset.placeWords;
    added.append(actionOf(value, filled(words, { item: nameOf(item) }), at));
    menu.append(added);
  }

  play.cellActions = { offer, say, add };
})();
