/* The characters on a grid (templates/kitchen/play/characters.html), which grid.js moves: where they look, what they
   hold, do and think of, and what is seen over the grid for a moment.

   `painters` of [data-play], which a world's own script sets, may have `pose(player)`, which names what a character does,
   and `changed(before, after, tools)`, which shows what has come of a step: with `tools.show(element, at, lasts, from)`
   something is seen for a moment at a cell, or on its way to it; with `tools.act(seat, pose)` a character does something
   for a moment; `tools.gain(text, mood, seats)` draws what was earned, for the place `tools.beside(from, to)`. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-moves]")) return;

  const MOMENT = 900; // milliseconds for which a character does what was done at once
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const FACES = { cheer: "happy", sad: "sad", wait: "wait" }; // by pose; all others look calm
  const thoughtOf = (count) => `M${-19 - 14 * count}-34h${3 + 14 * count}q3 0 3 3v13q0 3-3 3h-1l2 4-6-4h${2 - 14 * count}q-3 0-3-3v-13q0-3 3-3z`;

  /* `tools` are those of grid.js, `directions` the moves by name, `layers` its groups, `pictureOf` names a picture */
  function charactersOf({ tools, directions, cell, layers, pictureOf }) {
    const { make, picture } = tools;
    const painters = play.painters ?? {};
    const shown = []; // by seat
    let before = null; // what was seen last, as the server said

    const part = (name, more = {}) => make("use", { href: `#${name}`, ...more });

    function create(seat) {
      const [held, thought, face, arms] = [make("g", { class: "held" }), make("g", { class: "thought" }), part("face-calm"), part("arms-stand")];
      const drawn = make("g", { transform: "translate(0 -3.45) scale(1.15)" }, part(`whole-${seat + 1}`), face, arms);
      shown[seat] = { held, thought, face, arms, holds: "", thinks: "", pose: "stand", does: "", until: 0, row: 0, element: null };
      return make("g", { class: "figure" }, drawn, held, thought);
    }

    /* `element` is the group that grid.js moves */
    function update(seat, element, player) {
      const one = shown[seat];
      const { at, face, holds } = player;
      Object.assign(one, { element, row: at[1], pose: painters.pose?.(player) || (holds ? "carry" : "stand") });
      if (face) look(one, directions[face]);
      const shows = JSON.stringify(holds ?? null);
      if (one.holds !== shows) {
        one.holds = shows;
        one.held.replaceChildren(...(holds ? [picture(pictureOf(holds), 16, -23, 17)] : []));
      }
      pose(one);
    }

    /* from behind there is hair in place of a face */
    function look(one, [east, south]) {
      one.face.setAttribute("x", east * 2.2);
      one.isBehind = south < 0;
    }

    function pose(one) {
      const now = one.until > performance.now() ? one.does : one.pose;
      one.face.setAttribute("href", one.isBehind ? "#face-behind" : `#face-${FACES[now] ?? "calm"}`);
      one.arms.setAttribute("href", `#arms-${now === "sad" ? "stand" : now}`);
    }

    function act(seat, does) {
      const one = shown[seat];
      Object.assign(one, { does, until: performance.now() + MOMENT });
      pose(one);
      setTimeout(() => pose(one), MOMENT + 20);
    }

    /* who stands further down is in front */
    function stack() {
      const sorted = shown.filter(Boolean).sort((one, other) => one.row - other.row).map(({ element }) => element);
      if (sorted.some((element, place) => layers.actors.children[place] !== element)) layers.actors.append(...sorted);
    }

    /* the thing of its next action, or several of them, in a bubble at its head, where the page says what others are about to do */
    function think(itemOf) {
      for (const [seat, one] of shown.entries()) {
        const item = (one && itemOf(seat)) || "";
        if (!one || one.thinks === item) continue;
        one.thinks = item;
        const items = item ? item.split(" ") : [];
        const pictures = items.map((name, place) => picture(pictureOf(name), -24.5 - 14 * place, -24.5, 14));
        one.thought.replaceChildren(...(item ? [make("path", { class: "thought-shape", d: thoughtOf(items.length) }), ...pictures] : []));
      }
    }

    function showMoment(element, [x, y], lasts, from = null) {
      if (CALM.matches && from) return;
      const at = (column, row) => `translate(${(column + 0.5) * cell}px, ${(row + 0.5) * cell}px)`;
      const bow = from && { transform: `${at((from[0] + x) / 2, Math.min(from[1], y) - 1)} scale(1.6)`, offset: 0.5 };
      const way = [{ transform: at(...(from ?? [x, y])) }, ...(bow ? [bow] : []), { transform: at(x, y) }];
      layers.moments.append(element);
      element.animate(way, { duration: lasts, easing: "ease-in-out", fill: "both" }).finished.finally(() => element.remove());
    }

    /* what was earned, over the shapes of the seats that helped */
    function gain(text, mood, seats) {
      const mark = make("text", { class: `gain-mark ${mood}` });
      mark.textContent = text;
      const shapes = seats.map((seat, place) => make("use", { href: `#seat-${seat + 1}`, x: 17 * (place - seats.length / 2), y: 2, width: 15, height: 15 }));
      return make("g", { class: "gain-of" }, make("g", { class: "gain-rise" }, mark, ...shapes));
    }

    /* a place for it: not over the guest, nor over who serves */
    function beside([fromX, fromY], [x, y]) {
      return fromX === x ? [x + (x > 0 ? -0.95 : 0.95), y - 0.1 * Math.sign(y - fromY)] : [x, y + (y > 0 ? -0.8 : 0.8)];
    }

    function tell(after) {
      if (before && after !== before) painters.changed?.(before, after, { ...tools, act, gain, beside, show: showMoment });
      before = after;
    }

    return { create, update, stack, think, tell };
  }

  play.charactersOf = charactersOf;
})();
