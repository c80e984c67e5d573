/* What somebody sees who plays under a clock, noted in the page: run before the page's own scripts. `feel` of the window
   has milliseconds from keys to frames, corrections, and how far everybody went between two frames. */
"use strict";

let onKey = () => {};
window.addEventListener("keydown", (event) => onKey(event), true); // before the page's own scripts hear of it

document.addEventListener("DOMContentLoaded", () => {
  const play = document.querySelector("[data-play].is-ticking");
  if (!play) return;

  const feel = (window.feel = { moves: [], interacts: [], late: [], corrections: 0, met: 0, hands: 0, own: [], other: [], lags: [], trips: [] });
  const FRAME = 1000 / 60;
  let [pressed, predicted, lastSeen, tick] = [null, null, null, 167];
  const otherOf = (seen) => String(seen?.players[1 - seat()].at);

  const you = () => document.querySelector("[data-moves] .actor:has(.ring-you)");
  const other = () => document.querySelector("[data-moves] .actor:not(:has(.ring-you))");
  const seat = () => Number(document.getElementById("seen").dataset.seat);
  const nose = () => you()?.querySelector(".nose")?.getAttribute("transform");
  const held = () => you()?.querySelector(".held")?.innerHTML;
  const moves = { ArrowUp: "north", ArrowDown: "south", ArrowLeft: "west", ArrowRight: "east" };

  function drawn(list, since) {
    requestAnimationFrame(() => {
      const after = new MessageChannel();
      after.port1.onmessage = () => list.push(performance.now() - since);
      after.port2.postMessage(null);
    });
  }

  onKey = (event) => {
    if (event.repeat || !predicted) return;
    const isUse = event.key === " ";
    pressed = { isUse, at: event.timeStamp, shows: isUse ? held() : nose(), known: !isUse || play.prediction?.knows(predicted, [], ["interact"]) };
  };

  new MutationObserver(() => {
    if (!pressed || (pressed.isUse ? held() : nose()) === pressed.shows) return;
    drawn(!pressed.isUse ? feel.moves : pressed.known ? feel.interacts : feel.late, pressed.at);
    pressed = null;
  }).observe(document.querySelector("[data-moves]"), { subtree: true, childList: true, attributes: true, attributeFilter: ["transform"] });

  play.addEventListener("brigade:tick", ({ detail }) => {
    const before = predicted?.players[seat()];
    predicted = detail.predicted ?? detail.observation;
    tick = detail.tick;
    const now = predicted.players[seat()];
    if (!detail.walks || !before) return;
    feel.lags.push(Math.max(0, detail.walks.due - performance.now()));
    const [were, are] = [otherOf(lastSeen), otherOf(detail.observation)];
    lastSeen = detail.observation;
    if (String(before.at) !== String(now.at)) {
      feel.corrections += 1;
      feel.met += String(before.at) === are || String(now.at) === were;
    }
    feel.hands += JSON.stringify(before.holds) !== JSON.stringify(now.holds);
  });

  /* px between two frames, as if a frame took a sixtieth of a second; and the same in cells a step */
  const last = new Map();
  let then = performance.now();
  const placeOf = (element) => element?.transform.baseVal[0]?.matrix;

  /* a message that is posted to a channel arrives when all of the frame's own callbacks have run */
  const after = new MessageChannel();
  after.port1.onmessage = ({ data: now }) => look(now);
  const wait = () => requestAnimationFrame((now) => after.port2.postMessage(now));

  function look(now) {
    const frames = Math.max(1, (now - then) / FRAME);
    then = now;
    const board = document.querySelector("[data-moves]");
    const [scale, cell] = [board.getScreenCTM().a, Number(document.getElementById("board").dataset.cell)];
    for (const [name, element] of [["own", you()], ["other", other()]]) {
      const place = placeOf(element);
      const before = last.get(name);
      if (place && before) {
        const way = Math.hypot(place.e - before.e, place.f - before.f) / frames;
        if (way > 0) feel[name].push([way * scale, (way / cell) * (tick / FRAME)]);
      }
      if (place) last.set(name, { e: place.e, f: place.f });
    }
    wait();
  }
  wait();

  /* which key to press next: space where it does something, often; else another direction */
  window.nextKey = (chance) => {
    const own = predicted?.players[seat()];
    if (!own) return null;
    if (chance < 0.6 && play.prediction.knows(predicted, [], ["interact"])) return " ";
    const others = Object.keys(moves).filter((key) => moves[key] !== own.face);
    return others[Math.floor(chance * 997) % others.length];
  };
});
