/* What the page says, for the scene: nothing is shown there that is not on the page, and nothing is done that
   its menu does not offer. The drawing of the world (static/js/stage.js) is read, also while it is hidden. */

export function readPage(play) {
  const stage = () => play.querySelector("[data-stage]");
  const menu = () => play.querySelector("#menu");

  const hrefOf = (element) => element?.querySelector("use")?.getAttribute("href") || "";

  /* words for people, without the keys that are written beside them */
  function textOf(element) {
    const found = [];
    const walk = element && document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walk?.nextNode()) {
      if (!walk.currentNode.parentElement.closest("kbd, [aria-hidden=true]")) found.push(walk.currentNode.data);
    }
    return found.join("").replace(/\s+/g, " ").replace(/ ([;:,.])/g, "$1").trim();
  }

  function stations() {
    return [...stage().querySelectorAll("[data-spot]")].map((button) => ({
      spot: button.dataset.spot,
      name: textOf(button.querySelector(".station-name")),
      picture: hrefOf(button.querySelector("svg")),
      told: textOf(button),
      element: button.closest("[data-place]"),
    }));
  }

  function bots() {
    return [...stage().querySelectorAll("[data-bot]")].map((bot) => ({
      seat: Number(bot.dataset.bot),
      spot: bot.closest("[data-place]")?.dataset.place,
      you: bot.classList.contains("you"),
      refused: bot.classList.contains("refused"),
      holds: hrefOf(bot.querySelector("[data-thing]")),
    }));
  }

  const choosing = () => Boolean(play.querySelector('#bar[data-phase="choose"]')) && !menu()?.querySelector("fieldset[data-actions]")?.disabled;

  /* the actions of a place, as the drawing offers them; `rare`: what the menu says of those that it folds away */
  function actionsAt(spot) {
    const actions = play.stageActions(spot);
    return actions.map((radio) => ({
      value: radio.value,
      words: radio.dataset.text || radio.closest("label").querySelector(".action-text").firstChild.textContent,
      picture: hrefOf(radio.closest("label")),
      atOnce: actions.length === 1 && !radio.closest("[data-ask]"),
      rare: textOf(radio.closest("details")?.querySelector("summary")),
    }));
  }

  /* the one door: the menu's form */
  function send({ value }) {
    const radio = [...menu().querySelectorAll('input[name="command"]:not(:disabled)')].find((one) => one.value === value);
    if (!radio) return;
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    radio.form.requestSubmit();
  }

  /* whether the study has an action asked for once more before it is sent */
  const asks = () => "asks" in play.dataset;

  function news() {
    const told = ["#notice", "#over h2", "#hint p:last-child", "#spoken"].map((one) => textOf(play.querySelector(one)));
    return {
      step: textOf(play.querySelector("#bar")),
      phase: textOf(play.querySelector("#phase")),
      told: told.find(Boolean) || "",
    };
  }

  return { play, stations, bots, choosing, actionsAt, asks, send, news, textOf, hrefOf };
}
