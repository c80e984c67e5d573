/* A star that the team earns lights up, is heard and is told. Under a clock the page counts the stars from the score. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const said = document.getElementById("stars-said");
  const shown = () => document.getElementById("stars");
  if (!said || !shown()) return;

  const LASTS = 1600; // milliseconds
  const earned = () => Number(shown().dataset.earned);
  const words = () => shown().querySelector(".visually-hidden");
  let known = earned();

  function look() {
    const before = known;
    known = earned();
    if (known === before) return;
    said.textContent = words().textContent;
    const fresh = [...shown().querySelectorAll(".star")].slice(before, known);
    if (!fresh.length) return;
    for (const star of fresh) star.classList.add("is-new");
    setTimeout(() => fresh.forEach((star) => star.classList.remove("is-new")), LASTS);
    play.dispatchEvent(new CustomEvent("brigade:cue", { detail: "star" }));
  }

  function count({ detail: { score } }) {
    const { metric, better, targets, sentences } = shown().dataset;
    const value = score?.[metric];
    if (typeof value !== "number") return;
    const now = JSON.parse(targets).filter((target) => (better === "lower" ? value <= target : value >= target)).length;
    if (now === earned()) return;
    shown().dataset.earned = now;
    [...shown().querySelectorAll(".star")].forEach((star, place) => star.classList.toggle("is-earned", place < now));
    words().textContent = JSON.parse(sentences)[now];
    look();
  }

  play.addEventListener("brigade:panels", look);
  play.addEventListener("brigade:tick", count);
})();
