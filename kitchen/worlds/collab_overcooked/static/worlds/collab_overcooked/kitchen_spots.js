/* The drawing as something to press: a button over each place where this cook can do something now. The menu has the same
   actions for keys and screen readers. `kitchen` of [data-play] places things over the drawing for the other scripts. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const over = play?.querySelector("[data-over-kitchen]");
  if (!over) return;

  const { choosing } = play;
  const { places, reach, shared } = JSON.parse(document.getElementById("board").dataset.rules);
  const { width, height } = document.getElementById("board").viewBox.baseVal;
  const side = Number(document.getElementById("board").dataset.cell);
  const PANTRY = "ingredient_dispenser";
  let shown = "";

  const seen = () => JSON.parse(document.getElementById("seen").value);
  const own = () => Number(document.getElementById("seen").dataset.seat);
  const at = (seat) => seen().players[seat].at;

  /* the middle of an element is the middle of the cell */
  function put(element, [x, y]) {
    element.style.left = `${(100 * (x + 0.5) * side) / width}%`;
    element.style.top = `${(100 * (y + 0.5) * side) / height}%`;
    if (element.parentElement !== over) over.append(element);
  }

  const isIn = (cells, cell) => cells.some((one) => String(one) === String(cell));

  /* the cells at which a command can be carried out */
  function cellsOf([verb, ...words], { counters }) {
    const last = words.at(-1);
    if (verb === "pickup" && last === "counter") {
      return counters.filter(({ at: cell, thing }) => isIn(reach, cell) && thing.replace(/_in_dish$/, "") === words[0]).map((one) => one.at);
    }
    if (verb === "place_obj_on_counter") {
      const free = reach.filter((cell) => !counters.some((one) => String(one.at) === String(cell)));
      const passing = free.filter((cell) => isIn(shared, cell));
      return passing.length ? passing : free;
    }
    if (verb === "deliver") return [places.serving];
    return places[last] ? [places[last]] : [];
  }

  function spots() {
    if (!(choosing.may() || choosing.mayPrefer()) || document.querySelector(".typed-plan")) return [];
    const now = seen();
    const hinted = document.getElementById("hint")?.dataset.try;
    const found = new Map();
    for (const radio of choosing.listed()) {
      for (const cell of cellsOf(JSON.parse(radio.value), now)) {
        const isPantry = String(cell) === String(places[PANTRY]);
        found.set(String(cell), { cell, value: isPantry ? "" : radio.value, words: isPantry ? over.dataset.pantry : choosing.words(radio), isHinted: radio.value === hinted });
      }
    }
    return [...found.values()];
  }

  function buttonOf({ cell, value, words, isHinted }) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "kitchen-spot", title: words, tabIndex: -1 });
    button.setAttribute("aria-label", words);
    button.dataset.cell = cell;
    button.toggleAttribute("data-hinted", isHinted);
    button.addEventListener("click", () => press(value, button));
    put(button, cell);
    return button;
  }

  function press(value, button) {
    if (!value) return play.pantry.open(button);
    const radio = choosing.listed().find((one) => one.value === value);
    if (!radio) return undefined;
    if (!choosing.may()) return choosing.prefer(radio); // while the teammate answers
    return choosing.asks(radio) ? choosing.mark(radio) : choosing.send(radio);
  }

  function show() {
    const now = spots();
    const text = JSON.stringify(now);
    if (text === shown) return;
    shown = text;
    for (const one of over.querySelectorAll(".kitchen-spot")) one.remove();
    over.prepend(...now.map(buttonOf));
  }

  play.kitchen = { put, at, own };
  play.sendsByKey = true; // as A, W and the keys of requests
  play.addEventListener("brigade:panels", show);
  play.addEventListener("brigade:choice", show);
  show();
})();
