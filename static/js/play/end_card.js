/* The end of a game, as a card where the actions were, beside or below the board, which stays in sight. One's own
   result comes from the server ([data-result]), if the study tells it; the next page then need not repeat it. It is
   filled in when the card is in sight: a screen reader says nothing of what changes while it is hidden. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const slot = play?.querySelector("[data-over]");
  const box = slot?.querySelector("[data-result]");
  if (!box) return;

  const SETTLED = 200; // milliseconds after which a screen reader listens to what has just come into sight
  let asked = false;

  async function inSight() {
    if (play.matches(".is-ending")) await new Promise((done) => play.addEventListener("brigade:end", done, { once: true }));
    await new Promise((done) => setTimeout(done, SETTLED));
  }

  async function tellResult() {
    asked = true;
    try {
      const answer = await fetch(box.dataset.result, { credentials: "same-origin" });
      if (!answer.ok) return;
      const told = await answer.text();
      await inSight();
      box.innerHTML = told;
    } catch {
      return; // the next page has it
    }
    const link = slot.querySelector("[data-over-continue]");
    link.href += `${link.search ? "&" : "?"}result=${box.dataset.position}`;
    if (document.activeElement === link) link.scrollIntoView({ block: "nearest" });
  }

  function look() {
    if (!asked && slot.querySelector("#over.is-over")) tellResult();
  }

  play.addEventListener("brigade:panels", look);
  look();
})();
