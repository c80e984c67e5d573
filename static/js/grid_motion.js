/* How whoever is on a grid gets from one cell to the next.

   `glide` goes there at once, from where somebody is drawn. `follow` is for others under a clock: they walk in the time
   that a step lasts, from when it is due. So they walk evenly although steps come now earlier, now later; and after a
   pause of the line they catch up on their way, instead of jumping. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-moves]")) return;

  const FAR = 2.5; // cells: who is that far from where the server says is put there
  const HASTE = 3; // times as fast as usual, who catches up
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");

  const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);
  const between = (from, to, share) => from.map((value, axis) => value + (to[axis] - value) * share);

  /* `draw(element, at)` puts an element at a place, in cells */
  function motionOf(draw) {
    const actors = [];
    let [frame, last] = [0, 0];

    function add(element) {
      const actor = { element, at: null, from: null, to: null, began: 0, lasts: 0, legs: [] };
      actors.push(actor);
      return actor;
    }

    function put(actor, to) {
      actor.legs = [];
      actor.from = actor.at = actor.to = [...to];
      draw(actor.element, to);
      actor.element.classList.remove("is-walking");
    }

    function begin(actor) {
      actor.element.classList.add("is-walking");
      if (frame) return;
      last = performance.now();
      frame = requestAnimationFrame(paint);
    }

    const isGoingTo = (actor, to) => actor.to && apart(actor.to, to) === 0;

    /* from where it is drawn now */
    function glide(actor, to, lasts, most = FAR) {
      if (isGoingTo(actor, to)) return;
      if (!actor.at || CALM.matches || !lasts || apart(actor.at, to) > most) return put(actor, to);
      Object.assign(actor, { from: actor.at, to: [...to], began: performance.now(), lasts, legs: [] });
      begin(actor);
    }

    /* `due`: when it sets out, on a way of `lasts` milliseconds */
    function follow(actor, to, due, lasts) {
      if (isGoingTo(actor, to)) return;
      if (!actor.at || CALM.matches || apart(actor.to, to) > FAR) return put(actor, to);
      actor.legs.push({ from: actor.to, to: [...to], due, lasts });
      actor.to = [...to];
      begin(actor);
    }

    /* as far as is due by now, and no faster than who is in haste */
    function walk(actor, now, passed) {
      let left = (HASTE * passed) / actor.legs[0].lasts; // cells
      while (actor.legs.length && left > 0 && actor.legs[0].due < now) {
        const { from, to, due, lasts } = actor.legs[0];
        const share = Math.min(1, (now - due) / lasts);
        const goal = between(from, to, share);
        const way = apart(actor.at, goal);
        actor.at = way > left ? between(actor.at, goal, left / way) : goal;
        left -= way;
        if (left < 0 || share < 1) return;
        actor.legs.shift();
      }
    }

    function paint(now) {
      frame = 0;
      const passed = now - last;
      last = now;
      for (const actor of actors) move(actor, now, passed);
    }

    function move(actor, now, passed) {
      if (!actor.at || (!actor.legs.length && apart(actor.at, actor.to) === 0)) return;
      if (actor.legs.length) walk(actor, now, passed);
      else actor.at = between(actor.from, actor.to, Math.min(1, Math.max(0, (now - actor.began) / actor.lasts)));
      draw(actor.element, actor.at);
      if (!actor.legs.length && apart(actor.at, actor.to) === 0) actor.element.classList.remove("is-walking");
      else frame ||= requestAnimationFrame(paint);
    }

    return { add, glide, follow };
  }

  play.motionOf = motionOf;
})();
