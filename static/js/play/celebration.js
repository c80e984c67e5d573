/* What was reached is celebrated for a moment when the game ends: the characters cheer, and
   shapes of the seats fall over what was played on. Not at the end of a game in which nothing was reached; nothing falls
   for people who want less motion. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const LASTS = 1200; // milliseconds
  const SHAPES = 28;
  const SVG = "http://www.w3.org/2000/svg";
  const isOver = () => play.querySelector("#over.is-over") !== null;
  let wasOver = isOver(); // a page that is opened after the end celebrates nothing

  const reached = () => play.querySelector("#over[data-reached]") !== null; // as the server says

  function shape(number) {
    const svg = document.createElementNS(SVG, "svg");
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `#confetti-${(number % 4) + 1}`);
    svg.append(use);
    return svg;
  }

  function celebrate(frame) {
    const { left, top, width, height } = frame.getBoundingClientRect();
    const rain = document.createElement("div");
    rain.className = "confetti";
    rain.setAttribute("aria-hidden", "true");
    Object.assign(rain.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    play.append(rain);
    for (let number = 0; number < SHAPES; number += 1) {
      const one = shape(number);
      const aside = 30 * Math.sin(number * 5);
      one.style.left = `${(100 * (number + 0.5)) / SHAPES}%`;
      rain.append(one);
      const way = [
        { transform: "translateY(-2rem) rotate(0)", opacity: 1 },
        { transform: `translate(${aside}px, ${height * (0.45 + 0.1 * (number % 5))}px) rotate(${90 + 40 * (number % 7)}deg)`, opacity: 1, offset: 0.8 },
        { transform: `translate(${aside}px, ${height * (0.55 + 0.1 * (number % 5))}px) rotate(${140 + 40 * (number % 7)}deg)`, opacity: 0 },
      ];
      one.animate(way, { duration: LASTS - 40 * (number % 8), delay: 40 * (number % 8), easing: "ease-out", fill: "both" });
    }
    setTimeout(() => rain.remove(), LASTS);
  }

  /* all characters are glad */
  function cheer() {
    for (const one of play.querySelectorAll("i.character")) one.className = one.className.replace(/pose-\w+/, "pose-cheer");
    for (const [part, glad] of [["pose", "cheer"], ["arms", "cheer"], ["face", "happy"]]) {
      for (const use of play.querySelectorAll(`.character > use[href^="#${part}-"], .actor use[href^="#${part}-"]`)) use.setAttribute("href", `#${part}-${glad}`);
    }
  }

  play.addEventListener("brigade:panels", () => {
    const now = isOver();
    const frame = play.querySelector("[data-stage], [data-board]");
    const isGlad = now && !wasOver && Boolean(frame) && reached();
    if (isGlad) setTimeout(cheer); // after the scripts of the world have drawn
    if (isGlad && frame.getClientRects().length && !CALM.matches) celebrate(frame);
    wasOver = now;
  });
})();
