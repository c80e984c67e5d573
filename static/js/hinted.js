/* What the hint is about is marked: the place where it is done ([data-spot]) and its action in the menu. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  let shown = ""; // the hint whose place has been brought into sight

  function mark() {
    const value = document.getElementById("hint")?.dataset.try || "";
    const radios = [...play.querySelectorAll('input[name="command"]')];
    const radio = radios.find((one) => one.value === value);
    const places = radio ? play.choosing.placesOf(radio) : [];
    for (const spot of play.querySelectorAll("[data-spot]")) spot.toggleAttribute("data-hinted", places.includes(spot.dataset.spot));
    for (const one of radios) one.closest("label").toggleAttribute("data-hinted", one === radio);
    if (value !== shown) bringOut(play.querySelector("[data-spot][data-hinted]"));
    shown = value;
  }

  /* only what is covered, by the bar or by the own place at the foot, makes the page move */
  function bringOut(spot) {
    if (!spot) return;
    const own = play.querySelector("[data-play-area]");
    const foot = own && getComputedStyle(own).position === "fixed" ? own.getBoundingClientRect().top : innerHeight;
    const { top, bottom } = spot.getBoundingClientRect();
    if (top < play.querySelector(".topbar").getBoundingClientRect().bottom || bottom > foot) spot.scrollIntoView({ block: "nearest" });
  }

  play.addEventListener("brigade:panels", mark);
  mark();
})();
