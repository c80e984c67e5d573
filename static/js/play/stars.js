/* A star that the team earns lights up, is heard and is told. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const said = document.getElementById("stars-said");
  const shown = () => document.getElementById("stars");
  if (!said || !shown()) return;

  const LASTS = 1600; // milliseconds
  let known = Number(shown().dataset.earned);

  play.addEventListener("brigade:panels", () => {
    const earned = Number(shown().dataset.earned);
    const before = known;
    known = earned;
    if (earned === before) return;
    said.textContent = shown().querySelector(".visually-hidden").textContent;
    if (earned < before) return;
    const fresh = [...shown().querySelectorAll(".star")].slice(before, earned);
    for (const star of fresh) star.classList.add("is-new");
    setTimeout(() => fresh.forEach((star) => star.classList.remove("is-new")), LASTS);
    play.dispatchEvent(new CustomEvent("brigade:cue", { detail: "star" }));
  });
})();
