/* How things and utensils of the two rooms are drawn: by what was done to them, in the colour of their ingredient, with
   three letters of its name. Drawn by static/js/grid.js; below the drawing are the whole names. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const SVG = "http://www.w3.org/2000/svg";
  const FLIGHT = 800; // milliseconds of what is delivered on its way to the guest
  const RISE = 1400; // milliseconds for which what has come of it is seen
  const { labels, job, moves, serving } = JSON.parse(board.dataset.rules);
  const COLOURS = {
    apple: "#d9493a", bean: "#8f5a34", beef: "#a8423c", bell_pepper: "#d3372b", broccoli: "#3f8f35", carrot: "#ee8a2b",
    cauliflower: "#efe6cf", chicken: "#eac79b", chickpea: "#dcb56a", coconut: "#cfc0ad", corn: "#f3cf3f", egg: "#f7e3c4",
    eggplant: "#6a3f86", green_bean: "#5da03f", green_pea: "#7fc04f", lentil: "#a9703f", mushroom: "#c9b49b",
    onion: "#e6cf9a", pea: "#8cc152", peanut: "#c99a5b", potato: "#cfa463", pumpkin: "#e8792b", romaine_lettuce: "#8fc25d",
    spinach: "#2f7d3b", sweet_potato: "#d0703c", taro: "#b39ac2", tofu: "#f1ead9", tomato: "#e0402f", zucchini: "#5f9a4a",
  };
  const EDGE = "#3b2f1e";
  const RAW = Object.keys(COLOURS).sort((one, other) => other.length - one.length);

  function make(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const disc = (x, y, r, fill, more = {}) => make("circle", { cx: x, cy: y, r, fill, stroke: EDGE, "stroke-width": r / 8, ...more });

  /* the ingredient that a code names first */
  function ingredient(code) {
    const bare = code.replace(/^(baked|boiled|mashed|sliced)_/, "");
    return RAW.find((name) => bare.startsWith(name)) ?? "";
  }

  const head = (name) => name.slice(0, 3);

  /* Where a name first differs from those that begin with the same three letters; 2 if there are none. */
  function ownPlace(name, names) {
    const alike = names.filter((other) => other !== name && head(other) === head(name));
    const places = alike.map((other) => [...name].findIndex((letter, at) => letter !== other[at]));
    return places.length ? Math.max(2, Math.min(...places)) : 2;
  }

  /* Three letters for each name, no two alike: the first two, and the first later one that tells it from the others. */
  function shortNames(names) {
    const chosen = new Map();
    for (const name of [...names].sort((one, other) => ownPlace(one, names) - ownPlace(other, names))) {
      const letters = [...name.slice(ownPlace(name, names))].filter((letter) => letter.trim());
      const taken = [...chosen.values()];
      chosen.set(name, letters.map((letter) => name.slice(0, 2) + letter).find((one) => !taken.includes(one)) ?? head(name));
    }
    return chosen;
  }

  const short = shortNames(Object.values(labels));

  function label(code, x, y, size) {
    const text = make("text", { class: "food-label", x, y: y + size / 8, "font-size": size / 2.9 });
    text.textContent = short.get(labels[ingredient(code)]) ?? head(code);
    return text;
  }

  /* slices are three stripes, mash is a cloud, food of several things fills a bowl */
  function shape(code, x, y, size) {
    const fill = COLOURS[ingredient(code)] ?? "#cbbfa8";
    const r = size / 2.3;
    if (/_(soup|stew|patty)$/.test(code)) return [disc(x, y, r, "#fdfdfa"), disc(x, y, r * 0.75, fill)];
    if (code.endsWith("_slices")) return [-1, 0, 1].map((step) => make("ellipse", { cx: x + (step * r) / 2, cy: y, rx: r / 2.2, ry: r, fill, stroke: EDGE, "stroke-width": r / 8 }));
    if (code.startsWith("mashed_")) return [-1, 1, 0].map((step) => disc(x + (step * r) / 2, y + (step ? r / 4 : -r / 4), r / 1.6, fill));
    return [disc(x, y, r, fill)];
  }

  /* what was boiled has a blue ring, what was baked a brown one */
  function ring(code, x, y, size) {
    const heat = { boiled: "#2f74b5", baked: "#7a3f12" }[code.split("_")[0]];
    return heat ? [make("circle", { cx: x, cy: y, r: size / 2.05, fill: "none", stroke: heat, "stroke-width": size / 10 })] : [];
  }

  function thing(code, x, y, size) {
    const dish = code === "dish" || code.endsWith("_in_dish");
    const food = code.replace(/_in_dish$/, "");
    const plate = dish ? [disc(x, y, size / 2, "#fdfdfa", { stroke: "#5d6f78" })] : [];
    if (food === "dish") return make("g", {}, ...plate, disc(x, y, size / 3, "#eef2f3", { stroke: "#b4c1c6" }));
    const within = dish ? size * 0.75 : size;
    return make("g", {}, ...plate, ...shape(food, x, y, within), ...ring(food, x, y, within), label(food, x, y, within));
  }

  const PLACES = [[-10, -7], [10, -7], [0, 10]];

  function utensils({ contents, left, ready }) {
    if (ready) return [thing(ready, 0, 0, 30), make("circle", { class: "ready-mark", cx: 15, cy: -15, r: 7 }), make("path", { class: "ready-check", d: "M11-15l3 3 5-6" })];
    const inside = contents.map((name, number) => thing(name, ...PLACES[number], 19));
    if (left === null) return inside;
    const around = 2 * Math.PI * 19;
    const arc = make("circle", { class: "job-left", r: 19, "stroke-dasharray": `${(around * left) / job} ${around}`, transform: "rotate(-90)" });
    const number = make("text", { class: "job-steps", x: 16, y: -11 });
    number.textContent = left;
    return [...inside, make("circle", { class: "job-track", r: 19 }), arc, make("circle", { class: "job-disc", cx: 16, cy: -15, r: 7.5 }), number];
  }

  /* what a character does, by the first word of its action where it stands still at a utensil */
  const POSES = { cut: "chop", cook: "stir", bake: "stir", stir: "stir", wait: "wait" };

  const pose = ({ doing, holds }) => (holds ? "" : POSES[doing?.[0]] ?? "");

  const helped = new Set(); // seats that have put something down
  const isRight = () => play.querySelector("#over.is-over") !== null; // a right delivery ends the game

  /* what is delivered flies to the guest behind the hatch, who likes it or not; who helped is seen beside */
  function changed(before, after, { show, act, gain, beside, make }) {
    after.players.forEach((now, seat) => {
      const was = before.players[seat];
      const place = [now.at[0] + moves[now.face][0], now.at[1] + moves[now.face][1]];
      if (!was.holds || now.holds) return;
      helped.add(seat);
      if (place.join() !== serving.join()) return;
      const mood = isRight() ? "happy" : "sad";
      show(make("g", {}, thing(was.holds, 0, 0, 26)), place, FLIGHT, now.at);
      show(gain(isRight() ? "✓" : "✕", mood, isRight() ? [...helped].sort() : [seat]), beside(now.at, place), RISE);
      act(seat, isRight() ? "cheer" : "sad");
      guest.setAttribute("href", `#guest-${mood}`);
    });
  }

  const guest = make("use", { href: "#guest-calm", x: serving[0] * 48 + 12, y: serving[1] * 48 + 5, width: 24, height: 28 });
  document.querySelector("[data-moves]")?.append(guest);
  play.painters = { utensils, thing, pose, changed };
})();
