/* Who turns away from the game, to another page, another tab or the question whether to leave, and who of the others
   has: the server is told at once, and at the players of those who are away it is seen. The page itself goes on. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const GLANCE = 300; // milliseconds in which a page may be out of sight without being told of
  const SVG = "http://www.w3.org/2000/svg";
  const state = { socket: null, told: false, timer: 0 };

  /* to the server */

  /* a clock does not wait for who reads in a window over the game */
  const covers = () => document.querySelector(play.ticking ? "dialog[open]" : "dialog[data-turns-away][open]");
  const isAway = () => document.hidden || Boolean(covers());

  function tell(away) {
    if (away === state.told || !state.socket) return;
    state.told = away;
    state.socket.send(JSON.stringify({ type: "away", away }));
  }

  function look() {
    clearTimeout(state.timer);
    if (!isAway()) tell(false);
    else if (covers()) tell(true);
    else state.timer = setTimeout(() => tell(isAway()), GLANCE);
  }

  document.addEventListener("htmx:wsOpen", (event) => {
    state.socket = event.detail.socketWrapper;
    state.told = false; // the server believes that who comes is here
    look();
  });
  document.addEventListener("visibilitychange", look);
  document.addEventListener("click", () => setTimeout(look)); // it may have opened one
  document.addEventListener("close", look, true);
  window.addEventListener("pagehide", () => tell(true));
  window.addEventListener("pageshow", look);

  /* at the players */

  /* the drawn body of a seat, in whichever world */
  function bodyOf(seat) {
    const drawn = [`#seat-${seat + 1}`, `#whole-${seat + 1}`, `#builder-${seat + 1}`];
    const uses = [...play.querySelectorAll("use")].filter((use) => drawn.includes(use.getAttribute("href")));
    const all = [...uses, ...play.querySelectorAll(`.body-${seat + 1}`)];
    return all.map((one) => one.closest(".bot, .actor, .is-builder")).filter(Boolean);
  }

  function mark() {
    const seats = (document.getElementById("away")?.dataset.seats ?? "").split(" ").filter(Boolean).map(Number);
    const bodies = seats.flatMap(bodyOf);
    for (const body of play.querySelectorAll("[data-away]")) if (!bodies.includes(body)) unmark(body);
    for (const body of bodies) if (!body.dataset.away) markOne(body);
    play.classList.toggle("has-away", bodies.length > 0);
  }

  function markOne(body) {
    body.dataset.away = SAY.away;
    if (!body.ownerSVGElement) return; // elsewhere the style shows the word
    const word = document.createElementNS(SVG, "text");
    word.setAttribute("class", "away-mark");
    word.setAttribute("y", "-23");
    word.textContent = SAY.away;
    body.append(word);
  }

  function unmark(body) {
    body.removeAttribute("data-away");
    body.querySelector(".away-mark")?.remove();
  }

  for (const news of ["brigade:panels", "brigade:away"]) play.addEventListener(news, mark);
  document.addEventListener("DOMContentLoaded", mark); // after the scripts of the world have drawn
})();
