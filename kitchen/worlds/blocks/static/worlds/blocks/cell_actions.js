/* What can be done with one cell of the building site. The menu has only the nearest cells. What it does not have is added
   to it, unseen, when a cell is chosen on the map: an action goes out by the menu alone (play/choosing.js). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const { choosing } = play;

  /* `commands`: the words of each, and the command */
  function offer(at, commands) {
    const menu = document.querySelector("#menu [data-actions]");
    if (!menu || !choosing.may()) return;
    menu.querySelector("[data-cell-actions]")?.remove();
    const added = document.createElement("div");
    added.dataset.cellActions = "";
    added.hidden = true;
    for (const [words, ...command] of commands) {
      const value = JSON.stringify(command.map(String));
      if (!choosing.radioOf(value)) added.append(actionOf(value, words, at));
    }
    menu.append(added);
  }

  function actionOf(value, words, at) {
    const [label, radio] = [document.createElement("label"), document.createElement("input")];
    Object.assign(radio, { type: "radio", name: "command", value });
    Object.assign(radio.dataset, { text: words, places: `cell-${at.join("_")}` });
    label.append(radio);
    return label;
  }

  play.cellActions = { offer };
})();
