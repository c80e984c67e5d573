/* What the grids show beside plain things: pots, and soups with their ingredients. Drawn by static/js/grid.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const RING = 11; // radius
  const ACROSS = [[-6.5, -4], [6.5, -4], [0, 7]];
  const { time } = JSON.parse(board.dataset.rules); // ticks of cooking: of any soup, or what each ingredient adds

  const timeOf = (contents) => (typeof time === "number" ? time : contents.reduce((sum, name) => sum + time[name], 0));

  function pots({ contents, left }, { make, picture, tick }) {
    if (left === null) return contents.map((name, number) => picture(name, ...ACROSS[number], 13));
    const broth = make("circle", { class: "broth", r: 13.5 });
    if (contents.includes("tomato")) broth.classList.add("red");
    if (left === 0) return [broth, picture("steam", 0, -18, 30), make("circle", { class: "ready", r: 9 }), make("path", { class: "check", d: "M-4 .5l3 3 5.500-6" })];
    const round = 2 * Math.PI * RING;
    const arc = make("circle", { class: "arc", r: RING, "stroke-dasharray": `${(round * left) / timeOf(contents)} ${round}`, transform: "rotate(-90)" });
    const number = make("text", { class: "left", y: 4.5 });
    number.textContent = tick ? Math.ceil((left * tick) / 1000) : left;
    return [broth, make("circle", { class: "track", r: RING }), arc, number];
  }

  /* a thing by its picture: a word, or a soup with its ingredients */
  function picture(thing) {
    if (typeof thing === "string") return thing;
    return thing[1].includes("tomato") ? "soup-red" : "soup";
  }

  play.painters = { pots, picture };
})();
