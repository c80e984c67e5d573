/* What the grids show beside plain things: pots, soups with their ingredients, the guest at each serving place, and how
   a soup gets there. Drawn by static/js/grid.js. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const board = document.getElementById("board");
  if (!play || !board) return;

  const RING = 11; // radius
  const ACROSS = [[-6.5, -4], [6.5, -4], [0, 7]];
  const FLIGHT = 800; // milliseconds of a soup on its way to the guest
  const RISE = 1400; // milliseconds for which its points are seen
  const { time, serving, moves, credits, names } = JSON.parse(board.dataset.rules); // kitchen/worlds/overcooked/page.py
  const guests = []; // the faces at the serving places
  const makers = { pots: {}, hands: [], counters: {} }; // whose ingredients are where, as far as they were seen

  const timeOf = (contents) => (typeof time === "number" ? time : contents.reduce((sum, name) => sum + time[name], 0));

  function pots({ contents, left }, { make, picture, tick }) {
    const broth = make("circle", { class: "broth", r: left === null ? 7 + 2 * contents.length : 13.5 }); // it rises
    if (contents.includes("tomato")) broth.classList.add("red");
    if (left === null) return [broth, ...contents.map((name, number) => picture(name, ...ACROSS[number], 13))];
    if (left === 0) return [broth, picture("steam", 0, -18, 30), make("circle", { class: "ready", r: 9 }), make("path", { class: "check", d: "M-4 .5l3 3 5.500-6" })];
    const round = 2 * Math.PI * RING;
    const arc = make("circle", { class: "arc", r: RING, "stroke-dasharray": `${(round * left) / timeOf(contents)} ${round}`, transform: "rotate(-90)" });
    const number = make("text", { class: "left", y: 4.5 });
    number.textContent = tick ? Math.ceil((left * tick) / 1000) : left;
    const heat = make("path", { class: "heat", d: "M-12 21q2-6 0-9 6 3 4 9zM-2 23q2-6 0-9 6 3 4 9zM8 21q2-6 0-9 6 3 4 9z" });
    heat.classList.toggle("low", left % 2 === 1);
    return [heat, broth, make("circle", { class: "track", r: RING }), arc, number];
  }

  /* a thing by its picture: a word, or a soup with its ingredients */
  function picture(thing) {
    if (typeof thing === "string") return thing;
    return thing[1].includes("tomato") ? "soup-red" : "soup";
  }

  const shownPoints = () => Number(play.querySelector("[data-points]")?.textContent ?? 0);
  let points = shownPoints();

  /* who has put what into which soup: told when it is served */

  const isSoup = (thing) => Array.isArray(thing);
  const aheadOf = ({ at, face }) => [at[0] + moves[face][0], at[1] + moves[face][1]];

  function changed(before, after, tools) {
    const gained = "points" in after ? after.points - before.points : shownPoints() - points; // a clock tells it here
    points = shownPoints();
    after.players.forEach((now, seat) => {
      const was = before.players[seat];
      if (JSON.stringify(was.holds) !== JSON.stringify(now.holds)) handled(seat, was.holds, now, [...before.pots, ...after.pots], gained, tools);
    });
  }

  function handled(seat, had, now, known, gained, tools) {
    const place = aheadOf(now);
    const key = place.join();
    const isPot = known.some(({ at }) => at.join() === key);
    const isServing = serving.some((at) => at.join() === key);
    if (isSoup(had) && isServing) served(seat, had, now.at, place, gained, tools);
    else if (isSoup(had)) makers.counters[key] = makers.hands[seat];
    else if (isSoup(now.holds) && isPot) makers.hands[seat] = takeFrom(makers.pots, key);
    else if (isSoup(now.holds)) makers.hands[seat] = takeFrom(makers.counters, key);
    else if (had && had !== "dish" && isPot) (makers.pots[key] ??= new Set()).add(seat);
    if (had && isPot) tools.act(seat, "stir");
  }

  function takeFrom(places, key) {
    const found = places[key];
    delete places[key];
    return found;
  }

  /* it flies to the guest, and its points rise with the shapes of those who helped */
  function served(seat, soup, from, to, gained, tools) {
    const { act, beside, gain, show } = tools;
    const helped = [...(makers.hands[seat] ?? [])].sort();
    makers.hands[seat] = undefined;
    show(tools.picture(picture(soup), 0, 0, 26), to, FLIGHT, from);
    const mood = gained > 0 ? "happy" : "sad";
    if (gained > 0) act(seat, "cheer");
    smile(to, mood);
    const text = gained > 0 ? `+${gained}` : "0";
    show(gain(text, mood, [...new Set([...helped, seat])]), beside(from, to), RISE);
    tellHelp(seat, helped);
  }

  function smile(place, mood) {
    const guest = guests.find(({ at }) => at.join() === place.join());
    if (!guest) return;
    guest.element.setAttribute("href", `#guest-${mood}`);
    clearTimeout(guest.calms);
    guest.calms = setTimeout(() => guest.element.setAttribute("href", "#guest-calm"), 2 * RISE);
  }

  /* who helped, in words: read aloud is only that it was delivered */
  function tellHelp(seat, helped) {
    const box = play.querySelector("[data-helped]");
    const own = Number(document.getElementById("seen").dataset.seat);
    const who = (one) => (one === own ? "you" : "other");
    if (!box) return;
    const others = helped.filter((one) => one !== seat);
    const code = !helped.length ? `served_${who(seat)}` : !others.length ? `alone_${who(seat)}` : `${helped.includes(seat) ? "together" : "shared"}_${who(others[0])}_${who(seat)}`;
    const maker = names[others[0] ?? seat];
    box.textContent = (credits[code] ?? "").replaceAll("{maker}", maker).replaceAll("{server}", names[seat]);
  }

  /* behind the hatch of each serving place */
  function drawGuests() {
    const frame = document.querySelector("[data-moves]");
    const side = Number(board.dataset.cell);
    for (const at of serving) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", "use");
      const [x, y] = [at[0] * side + side / 4, at[1] * side + 5];
      for (const [name, value] of Object.entries({ href: "#guest-calm", x, y, width: side / 2, height: side * 0.58 })) element.setAttribute(name, value);
      frame?.append(element);
      guests.push({ at, element, calms: 0 });
    }
  }

  drawGuests();
  play.painters = { pots, picture, changed };
})();
