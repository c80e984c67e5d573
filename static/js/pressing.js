/* Keys that act at once: each key named in [data-press] of an action of the menu does what a click on it does. One
   press is one action, however long it is held, but where a clock takes the steps (ticking.js): there it lasts.
   Where actions are asked for first, it only chooses, and Enter sends. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const { choosing } = play;
  const USES = "button, a, summary, input:not([type=radio]), [role=tab]"; // these have the space bar for themselves
  const WRITES = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const SCROLLS = ".happened, .grid-scroll, .connection, dialog";

  const nameOf = (event) => (event.key === " " ? "space" : event.key.toLowerCase());

  /* whether whoever has the focus wants this key itself; a radio button in the menu has the arrows */
  function isTaken(event, name) {
    const { target } = event;
    if (!target.closest || target.closest(WRITES)) return true;
    if (name === "space") return Boolean(target.closest(USES));
    return name.startsWith("arrow") && Boolean(target.closest(`input[type=radio], [role=tab], ${SCROLLS}`));
  }

  function actionOf(name) {
    const actions = [...(document.getElementById("menu")?.querySelectorAll("[data-press]") || [])];
    return actions.find((action) => action.dataset.press.split(" ").includes(name));
  }

  function act(action) {
    const radio = choosing.may() && action.querySelector("input:not(:disabled)");
    if (!radio) return;
    if (choosing.asks(radio)) choosing.mark(radio);
    else choosing.send(radio);
  }

  /* what a key has chosen before, unless who has the focus wants Enter itself */
  function sendsChosen(event) {
    const chosen = choosing.asksFirst && choosing.may() && choosing.chosen();
    if (!chosen || event.repeat || event.target.closest?.(`${USES}, input, [data-spot]`)) return false;
    event.preventDefault();
    choosing.send(chosen);
    return true;
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const name = nameOf(event);
    if (!document.querySelector("[data-keys-switch]").checked || isTaken(event, name)) return;
    const action = actionOf(name);
    if (name === "enter" && sendsChosen(event)) return;
    if (!action && name !== "space") return;
    event.preventDefault(); // the page does not scroll under who plays
    event.stopImmediatePropagation();
    if (event.repeat || !action) return;
    if (play.ticking) play.ticking.down(action.dataset.hold);
    else act(action);
  }

  function onKeyUp(event) {
    const action = play.ticking && actionOf(nameOf(event));
    if (action) play.ticking.up(action.dataset.hold);
  }

  /* Who has read the guide, or clicked something beside the game, has the space bar for the game again; who went
     there by keys stays there. */

  const gives = () => document.querySelector("[data-keys-switch]").checked && document.querySelector("#menu [data-press]");

  function onClick(event) {
    const used = event.detail && event.target.closest?.("button, summary, input[type=checkbox]");
    if (used && !used.closest("#menu, dialog") && document.activeElement === used && gives()) used.blur();
  }

  function onClose() {
    if (document.activeElement?.matches("[data-open]") && gives()) document.activeElement.blur();
  }

  document.addEventListener("click", onClick);
  document.addEventListener("close", onClose, true);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("keyup", onKeyUp, true);
})();
