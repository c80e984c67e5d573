/* What the page says, for the scene: nothing is shown there that is not on the page, and nothing is done that
   its menu does not offer. The drawing of the world (stage.js) is read, also while it is hidden. */

export function readPage(play) {
  const { choosing } = play; // play/choosing.js
  const stage = () => play.querySelector("[data-stage]");

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

  function places() {
    return [...stage().querySelectorAll("[data-spot]")].map((button) => ({
      spot: button.dataset.spot,
      name: textOf(button.querySelector(".station-name")),
      picture: hrefOf(button.querySelector("svg")),
      told: textOf(button),
      hinted: button.hasAttribute("data-hinted"), // as hinted.js marks it
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

  /* the actions of a place, as the drawing offers them; `rare`: what the menu says of those that it folds away */
  function actionsAt(spot) {
    const actions = choosing.at(spot);
    return actions.map((radio) => ({
      value: radio.value,
      words: choosing.words(radio),
      picture: hrefOf(radio.closest("label")),
      atOnce: actions.length === 1 && !radio.closest("[data-ask]"),
      rare: textOf(radio.closest("details")?.querySelector("summary")),
    }));
  }

  function news() {
    const told = ["#notice", "#over h2", "#hint p:last-child", "#spoken"].map((one) => textOf(play.querySelector(one)));
    return {
      step: textOf(play.querySelector("#bar")),
      phase: textOf(play.querySelector("#phase")),
      told: told.find(Boolean) || "",
    };
  }

  return {
    play, places, bots, actionsAt, news, textOf, hrefOf,
    choosing: choosing.may, twice: () => choosing.twice, asks: () => choosing.asksFirst, send: choosing.send,
  };
}
