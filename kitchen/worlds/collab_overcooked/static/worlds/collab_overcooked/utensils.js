/* How things and utensils of the two rooms are drawn, with the pictures of foods.svg. Drawn by static/js/grid.js; below
   the drawing are the names. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const SVG = "http://www.w3.org/2000/svg";
  const FLIGHT = 800; // milliseconds of what is delivered on its way to the guest
  const PASS = 420; // milliseconds of what is taken or put down
  const RISE = 1400; // milliseconds for which what has come of it is seen
  const LOSS = 2500; // milliseconds for which the smoke of lost food is seen
  const { labels, job, limit, moves, serving, dressing } = JSON.parse(board.dataset.rules);
  const MIDDLE = [2, 1.6]; // between the rooms
  const { foods } = document.querySelector("[data-foods]").dataset; // the file with a picture of each thing

  function make(name, attributes, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  /* a picture, and the name for who points at it */
  function thing(code, x, y, size) {
    const name = make("title", {}, labels[code] ?? code);
    return make("use", { class: "food-thing", href: `${foods}#${code}`, x: x - size / 2, y: y - size / 2, width: size, height: size }, name);
  }

  const PLACES = [[-10, -7], [10, -7], [0, 10]];

  function utensils({ contents, left, ready }) {
    if (ready) return [thing(ready, 0, 0, 34), make("circle", { class: "ready-mark", cx: 15, cy: -15, r: 7 }), make("path", { class: "ready-check", d: "M11-15l3 3 5-6" })];
    const inside = contents.map((name, number) => thing(name, ...(contents.length > 1 ? [...PLACES[number], 22] : [0, 0, 32])));
    if (left === null) return inside;
    const around = 2 * Math.PI * 20;
    const arc = make("circle", { class: "job-left", r: 20, "stroke-dasharray": `${(around * left) / job} ${around}`, transform: "rotate(-90)" });
    const number = make("text", { class: "job-steps", x: 16, y: -11 });
    number.textContent = left;
    return [...inside, make("circle", { class: "job-track", r: 20 }), arc, make("circle", { class: "job-disc", cx: 16, cy: -15, r: 7.5 }), number];
  }

  /* what a character does, by the first word of its action where it stands still at a utensil */
  const POSES = { cut: "chop", cook: "stir", bake: "stir", stir: "stir", wait: "wait" };

  const pose = ({ doing, holds }) => (holds ? "" : POSES[doing?.[0]] ?? "");

  /* A job that is done is a small feast at its utensil. Contents that made nothing go up in smoke. */
  const rays = [0, 45, 90, 135, 180, 225, 270, 315].map((turn) => make("path", { d: "M0-15V-23", transform: `rotate(${turn})` }));
  const burst = () => make("g", { class: "job-done" }, ...rays.map((ray) => ray.cloneNode()));
  const smoke = () => make("g", { class: "job-lost" }, ...[[-9, 2, 9], [8, 0, 10], [0, -9, 11]].map(([cx, cy, r]) => make("circle", { cx, cy, r })));

  function showJobs(before, after, { show, act, gain }) {
    after.utensils.forEach((now, number) => {
      const was = before.utensils[number];
      const seat = now.at[0] < MIDDLE[0] ? 1 : 0;
      const isBeside = Math.abs(after.players[seat].at[0] - now.at[0]) + Math.abs(after.players[seat].at[1] - now.at[1]) === 1;
      const isLost = was.contents.length > 0 && was.left === null && !now.contents.length && !now.ready;
      if (now.ready && !was.ready) show(burst(), now.at, RISE);
      if (isLost) show(smoke(), now.at, LOSS);
      if (isLost) {
        show(gain("✕", "sad", [seat]), MIDDLE, RISE);
        play.sounds?.play("missed");
      }
      if ((isLost || (now.ready && !was.ready)) && isBeside) act(seat, isLost ? "sad" : "cheer");
    });
  }

  /* The stars that are still possible, which the guest's face shows, too; 3 where there are none. */
  const starsLeft = () => (document.querySelector(".bar .star") ? document.querySelectorAll(".bar .star.is-earned").length : 3);
  let possible = starsLeft();

  const helped = new Set(); // seats that have put something down

  /* A handover beside the best run: the steps ahead or behind, and from the second one without a loss how many in a row */
  function showPace([, text, combo], { show, act, gain }) {
    const isBehind = text.startsWith("+");
    show(gain(combo > 1 ? `×${combo}` : text, combo > 1 || !isBehind ? "happy" : "sad", [0, 1]), MIDDLE, RISE);
    if (combo > 1) for (const seat of [0, 1]) act(seat, "cheer");
  }

  /* What is taken or put down flies between the hands and its place. What is delivered flies to the guest behind the
     hatch, who likes it or not; who helped is seen beside. A request that was met soon is a tick for both, and
     a thing that came unasked is a star, for which both cheer. What the chef cannot use is a cross. */
  function changed(before, after, { show, act, gain, beside, make }) {
    if (after.utensils) showJobs(before, after, { show, act, gain });
    if (after.ideas > before.ideas) {
      show(gain("★", "happy", [1]), after.players[1].at, RISE);
      for (const seat of [0, 1]) act(seat, "cheer");
    }
    if (after.ideas < before.ideas) show(gain("−★", "sad", [1]), after.players[1].at, RISE);
    if (starsLeft() < possible) show(gain("☆", "sad", []), MIDDLE, RISE);
    possible = starsLeft();
    if (after.useless > before.useless) {
      show(gain("✕", "sad", [1]), after.players[1].at, RISE);
      act(1, "sad");
    }
    const isPaced = after.pace && after.pace[0] !== before.pace?.[0];
    if (isPaced) showPace(after.pace, { show, act, gain });
    else if (after.met > before.met) show(gain("✓", "happy", [0, 1]), MIDDLE, RISE);
    after.players.forEach((now, seat) => {
      const was = before.players[seat];
      const place = [now.at[0] + moves[now.face][0], now.at[1] + moves[now.face][1]];
      if (!was.holds && now.holds) show(make("g", {}, thing(now.holds, 0, 0, 26)), now.at, PASS, place);
      if (!was.holds || now.holds) return;
      helped.add(seat);
      if (place.join() !== serving.join()) {
        show(make("g", {}, thing(was.holds, 0, 0, 26)), place, PASS, now.at);
        return;
      }
      const isRight = after.delivered?.[seat]; // as the server says
      const mood = isRight ? "happy" : "sad";
      show(make("g", {}, thing(was.holds, 0, 0, 30)), place, FLIGHT, now.at);
      show(gain(isRight ? "✓" : "✕", mood, isRight ? [...helped].sort() : [seat]), beside(now.at, place), RISE);
      for (const cook of isRight ? [0, 1] : [seat]) act(cook, isRight ? "cheer" : "sad");
      look(mood);
    });
  }

  /* over the teammate's head: what it was asked for and has not done yet, or what it wants */
  function thinks(seat) {
    const own = Number(document.getElementById("seen").dataset.seat); // -1 for who looks on
    if (own < 0 || seat === own) return "";
    return document.getElementById("asked")?.dataset.item || document.getElementById("requests")?.dataset.item || "";
  }

  /* Each order has colours of the room and a guest of its own. */
  const GUESTS = 6;
  play.dataset.dressing = dressing;
  const face = make("use", { href: "#face-calm", y: 1 });
  const guest = make("svg", { viewBox: "-15 -24 30 40", x: serving[0] * 48 + 12, y: serving[1] * 48 + 5, width: 24, height: 28 }, make("use", { href: `#guest-${1 + (dressing % GUESTS)}` }), face);
  const look = (mood) => face.setAttribute("href", `#face-${mood}`);
  document.querySelector("[data-moves]")?.append(guest);

  /* The guest waits as long as there are steps left: a ring around the hatch. A star that is lost is felt: the guest
     waits, then is sad, as when few steps are left. */
  const round = 2 * Math.PI * 21;
  const ring = make("circle", { class: "patience-left", r: 21, transform: "rotate(-90)" });
  const steps = make("text", { x: 17, y: -12.5 });
  const patience = make("g", { class: "patience", transform: `translate(${serving[0] * 48 + 24} ${serving[1] * 48 + 24})` }, make("circle", { class: "patience-track", r: 21 }), ring, make("circle", { class: "patience-disc", cx: 17, cy: -16, r: 9 }), steps);
  document.querySelector("[data-moves]")?.append(patience);

  function showPatience() {
    const { left } = JSON.parse(document.getElementById("seen")?.value ?? "{}");
    patience.toggleAttribute("hidden", left === undefined);
    if (left === undefined) return;
    const isShort = 4 * left < limit;
    ring.setAttribute("stroke-dasharray", `${(round * left) / limit} ${round}`);
    steps.textContent = left;
    patience.classList.toggle("is-short", isShort);
    if (play.classList.contains("is-over") || ["#face-happy", "#face-sad"].includes(face.getAttribute("href"))) return;
    look(isShort || starsLeft() < 2 ? "sad" : starsLeft() < 3 ? "wait" : "calm");
  }
  play.addEventListener("brigade:panels", showPatience);
  showPatience();
  play.painters = { utensils, thing, pose, changed, thinks };
})();
