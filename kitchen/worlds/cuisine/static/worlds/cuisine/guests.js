/* The guests behind the serving table, from one message to the next: who comes walks in, who stays moves up, and who has
   got a dish is the one who waited for it (the server knows only the dish). Less motion: all are where they are. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-stage]")) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const WAY = { duration: 420, easing: "cubic-bezier(0.2, 0.7, 0.3, 1)" };
  const CALLS = [{ transform: "scale(0)" }, { transform: "scale(1.5)", offset: 0.6 }, {}]; // the bubble of who has come
  const moves = [];
  let before = [];

  const looksOf = (guest) => guest.querySelector(".guest-body").className.match(/look-\d/)[0];

  function look() {
    return [...play.querySelectorAll("[data-guest]")].map((guest) => ({
      guest,
      id: guest.id,
      mood: guest.dataset.guest,
      looks: looksOf(guest),
      dish: guest.querySelector(".asks use").getAttribute("href"),
    }));
  }

  /* where each is; a page whose guests are the same is not laid out for it */
  const measured = (guests) => guests.map((one) => ({ ...one, left: one.guest.getBoundingClientRect().left }));
  const names = (guests) => guests.map(({ id }) => id).join();

  const isWaiting = ({ mood }) => mood === "calm" || mood === "late";

  /* the first one with this dish who waits no more */
  function whoGot(dish, now) {
    const gone = before.find((one) => isWaiting(one) && one.dish === dish && !now.some(({ id }) => id === one.id));
    if (gone) gone.dish = "";
    return gone;
  }

  function move(one) {
    const from = before.find(({ id }) => id === one.id);
    const far = from ? from.left - one.left : 16; // from outside, and within a narrow page
    if (CALM.matches || !one.left || Math.abs(far) < 2) return;
    moves.push(one.guest.animate([{ transform: `translateX(${far}px)`, opacity: from ? 1 : 0 }, {}], WAY));
    if (!from) moves.push(one.guest.querySelector(".asks").animate(CALLS, { ...WAY, delay: 300, fill: "backwards" }));
  }

  function show() {
    const now = look();
    for (const one of now.filter(({ mood }) => mood === "happy")) {
      const looks = whoGot(one.dish, now)?.looks;
      if (looks) one.guest.querySelector(".guest-body").classList.replace(one.looks, looks);
    }
    if (names(now) === names(before)) return;
    for (const going of moves.splice(0)) going.cancel(); // from where they are seen they go on
    measured(now.filter(isWaiting)).forEach(move);
  }

  document.addEventListener("htmx:wsBeforeMessage", () => {
    before = measured(look());
  });
  document.addEventListener("htmx:wsAfterMessage", show);
})();
