/* The end of a game, as a card: over the middle of the board where the page is wide and the board large enough to stay
   in sight around it, else where the actions were. One's own result comes from the server ([data-result]), if the
   study tells it; the next page then need not repeat it. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const slot = play?.querySelector("[data-over]");
  if (!slot) return;

  const WIDE = matchMedia("(min-width: 64rem)");
  const LEAST = 1.4; // how many times as wide, and as high, as the card a board has to be
  const box = slot.querySelector("[data-result]");
  let asked = false;

  const isOver = () => Boolean(slot.querySelector("#over.is-over"));
  const boards = () => [...play.querySelectorAll("[data-stage], [data-board], [data-scene-frame]")];
  const board = () => boards().find((one) => one.checkVisibility())?.getBoundingClientRect();

  function place() {
    if (!isOver()) return;
    const [seen, own, page] = [board(), slot.getBoundingClientRect(), play.getBoundingClientRect()];
    const fits = WIDE.matches && seen && seen.width >= LEAST * own.width && seen.height >= LEAST * own.height;
    slot.classList.toggle("is-on-board", Boolean(fits));
    if (!fits) return;
    slot.style.setProperty("--board-x", `${Math.round(seen.left + seen.width / 2 - page.left)}px`);
    slot.style.setProperty("--board-y", `${Math.round(seen.top + seen.height / 2 - page.top)}px`);
  }

  async function tellResult() {
    if (!box || asked) return;
    asked = true;
    try {
      const answer = await fetch(box.dataset.result, { credentials: "same-origin" });
      if (!answer.ok) return;
      box.innerHTML = await answer.text();
    } catch {
      return; // the next page has it
    }
    const link = slot.querySelector("[data-over-continue]");
    link.href += `${link.search ? "&" : "?"}result=${box.dataset.position}`;
    place();
    if (document.activeElement === link) link.scrollIntoView({ block: "nearest" });
  }

  function look() {
    if (!isOver()) return;
    place();
    tellResult();
  }

  play.addEventListener("brigade:panels", look);
  addEventListener("resize", place);
  look();
})();
