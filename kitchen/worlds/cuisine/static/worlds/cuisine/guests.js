/* The guests behind the serving table, from one message to the next: who comes walks in, who stays moves up, and who has
   got a dish is the one who waited for it (the server knows only the dish). Less motion: all are where they are. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-stage]")) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const WAY = { duration: 420, easing: "cubic-bezier(0.2, 0.7, 0.3, 1)" };
  let before = [];

  const hrefOf = (guest, part) => guest.querySelector(`${part} use`).getAttribute("href");

  function look() {
    return [...play.querySelectorAll("[data-guest]")].map((guest) => ({
      guest,
      id: guest.id,
      mood: guest.dataset.guest,
      looks: hrefOf(guest, "svg"),
      dish: hrefOf(guest, ".asks"),
      left: guest.getBoundingClientRect().left,
    }));
  }

  const isWaiting = ({ mood }) => mood === "calm" || mood === "late";

  /* the first one with this dish who waits no more */
  function whoGot(dish, now) {
    const gone = before.find((one) => isWaiting(one) && one.dish === dish && !now.some(({ id }) => id === one.id));
    if (gone) gone.dish = "";
    return gone;
  }

  function move(one) {
    const from = before.find(({ id }) => id === one.id);
    const far = from ? from.left - one.left : 48;
    if (CALM.matches || !one.left || Math.abs(far) < 2) return;
    one.guest.animate([{ transform: `translateX(${far}px)`, opacity: from ? 1 : 0 }, {}], WAY);
  }

  function show() {
    const now = look();
    for (const one of now.filter(({ mood }) => mood === "happy")) {
      const looks = whoGot(one.dish, now)?.looks;
      if (looks) one.guest.querySelector("use").setAttribute("href", looks);
    }
    now.filter(isWaiting).forEach(move);
  }

  document.addEventListener("htmx:wsBeforeMessage", () => {
    before = look();
  });
  document.addEventListener("htmx:wsAfterMessage", show);
})();
