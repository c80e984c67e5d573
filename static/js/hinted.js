/* What the hint is about is marked: the place where it is done ([data-spot]) and its action in the menu. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  let shown = ""; // the hint whose place has been brought into sight

  function mark() {
    const value = document.getElementById("hint")?.dataset.try || "";
    const place = value && JSON.parse(value)[1];
    for (const spot of play.querySelectorAll("[data-spot]")) {
      spot.toggleAttribute("data-hinted", Boolean(place) && spot.dataset.spot === place);
    }
    for (const radio of play.querySelectorAll('input[name="command"]')) {
      radio.closest("label").toggleAttribute("data-hinted", Boolean(value) && radio.value === value);
    }
    if (value !== shown) play.querySelector("[data-spot][data-hinted]")?.scrollIntoView({ block: "nearest" }); // where it is covered
    shown = value;
  }

  play.addEventListener("brigade:panels", mark);
  mark();
})();
