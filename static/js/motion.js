/* Motion that explains, for every world: what is elsewhere after a message is seen to go there.

   Templates say what may move; where its person wants less motion nothing does (docs/developers.md):
   [data-bot="0"]      the body of a seat: it glides to where it is now; [data-turn] says after how many others
   [data-hops]         a stage whose bodies hop from one row to another
   [data-thing="rice"] a thing: gone here and new there, it hops over; with its body it goes along
   [data-source]       a place from which things come: what is new in it comes out of there
   [data-out]          a place through which things leave: what was in it and is gone flies to the [data-guest] there
   [data-leaves]       moves up when others go; gone itself it is stamped and lifts off, or burns if [data-lost] names
                       its id; with less motion the stamp stands still
   [data-bubble]       words beside a body, kept inside [data-stage] */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const STILL = matchMedia("(prefers-reduced-motion: reduce)");
  const EASE = "cubic-bezier(0.2, 0.7, 0.3, 1)";
  const GLIDE = 240; // milliseconds of a move
  const SWAY = 160;
  const SWAYS = [{ transform: "rotate(-5deg)" }, { transform: "translateY(-3px) rotate(5deg)" }];
  const APART = 80; // between one body's and the next one's
  const BURN = 900; // a loss is to be seen
  const FLIGHT = 840; // and so is what was done well
  const STAYS = 700; // for so long the place of a sheet that leaves is its own
  const NEAR = 4; // pixels that are no move
  const ABOVE = 56; // pixels from below a body to above it
  const sizes = new ResizeObserver(() => fit());
  const moves = new Set(); // that go on
  let before = null;
  let followed = null;

  /* what is where */

  function look() {
    return { bots: seen("[data-bot]"), things: seen("[data-thing]"), sheets: seen("[data-leaves]") };
  }

  function seen(selector) {
    return [...play.querySelectorAll(selector)].map(where).filter((one) => one.box.width);
  }

  /* within the stage, or the list, that it belongs to: where that itself is scrolled to is no move */
  function where(element) {
    const bot = element.closest("[data-bot]");
    const list = element.parentElement.id ? `#${element.parentElement.id}` : "[data-play]";
    const frame = element.closest("[data-stage]") ? "[data-stage]" : list;
    const out = element.closest("[data-out]");
    return {
      element, frame, box: within(frame, element), bot: bot?.dataset.bot,
      delay: APART * Number(bot?.dataset.turn || 0),
      out: out && within(frame, out),
      source: sourceOf(frame, element),
    };
  }

  /* the picture of the place that it comes out of */
  function sourceOf(frame, element) {
    const picture = element.closest("[data-source]")?.querySelector("svg");
    return picture ? within(frame, picture) : null;
  }

  function within(frame, element) {
    const box = element.getBoundingClientRect();
    const { left, top } = corner(frame);
    return new DOMRect(box.left - left, box.top - top, box.width, box.height);
  }

  /* where a frame begins in the window now */
  function corner(frame) {
    const found = play.querySelector(frame) || play;
    const box = found.getBoundingClientRect();
    return { left: box.left - found.scrollLeft, top: box.top - found.scrollTop };
  }

  const apart = (from, to) => Math.hypot(from.left - to.left, from.top - to.top) > NEAR;

  /* moves */

  function glide(element, from, to, delay = 0, high = 0) {
    if (!apart(from, to)) return null;
    const [x, y] = [from.left - to.left, from.top - to.top];
    const there = `translate(${x}px, ${y}px)`;
    const lasts = delay + GLIDE; // to wait is part of the way: during a delay browsers draw each frame themselves
    const frames = [{ transform: there }, { transform: there, offset: delay / lasts, easing: EASE }, { transform: "none" }];
    const top = { transform: `translate(${x / 2}px, ${y / 2 - high}px) scale(1.12)`, offset: (delay + GLIDE / 2) / lasts };
    if (high) frames.splice(2, 0, top);
    return start(element, frames, { duration: lasts });
  }

  /* What moves on an element that is gone would still cost each frame: `stop` ends it. */
  function start(element, frames, timing) {
    const going = element.animate(frames, timing);
    moves.add(going);
    going.finished.then(() => moves.delete(going), () => moves.delete(going));
    return going;
  }

  function stop() {
    for (const going of moves) if (!going.effect.target.isConnected) going.cancel();
  }

  function glideBots(was, now) {
    for (const one of now) {
      const from = was.find((other) => other.bot === one.bot);
      if (from) walk(one.element, glide(one.element, from.box, one.box, one.delay, hopOver(one, from.box)));
    }
  }

  /* how high it hops on its way: over what stands between two rows of a [data-hops] stage */
  function hopOver({ element, box }, from) {
    const rows = element.closest("[data-hops]") && Math.abs(box.top - from.top) > box.height;
    return rows ? box.height / 3 : 0;
  }

  /* its character sways as long: no class, which would be one more layout */
  function walk(element, going) {
    const iterations = going ? going.effect.getTiming().duration / SWAY : 0;
    const timing = { duration: SWAY, iterations, direction: "alternate", easing: "ease-in-out" };
    const character = going && element.querySelector(".character");
    if (character) start(character, SWAYS, timing);
  }

  function hop(was, now) {
    const gone = was.filter((one) => !one.element.isConnected);
    const fresh = now.filter((one) => !was.some((other) => other.element === one.element));
    const carried = (one) => one.bot !== undefined && take(gone, one, (other) => other.bot === one.bot);
    for (const one of fresh.filter((each) => !carried(each))) {
      const from = take(gone, one, () => true);
      if (from) glide(one.element, from.box, one.box, Math.max(from.delay, one.delay));
      else appear(one);
    }
    for (const one of gone) if (one.out) flyOut(one);
  }

  /* one like it that is gone, which is then accounted for */
  function take(gone, one, fits) {
    const like = (other) => other.element.dataset.thing === one.element.dataset.thing && fits(other);
    const found = gone.findIndex(like);
    return found < 0 ? null : gone.splice(found, 1)[0];
  }

  function appear(one) {
    const { source } = one;
    if (source) {
      const middle = { left: source.left + (source.width - one.box.width) / 2, top: source.top + source.height / 2 };
      glide(one.element, middle, one.box, one.delay);
    } else {
      start(one.element, [{ transform: "scale(0.4)", opacity: 0 }, {}], { duration: GLIDE, easing: EASE });
    }
  }

  /* what is no more on the page is shown once more, to no one but the eye */

  function ghost(one, frames, duration, delay = 0) {
    const copy = one.element.cloneNode(true);
    for (const part of [copy, ...copy.querySelectorAll("[id]")]) part.removeAttribute("id");
    for (const name of ["data-bot", "data-thing", "data-leaves"]) copy.removeAttribute(name);
    copy.setAttribute("aria-hidden", "true");
    copy.inert = true;
    copy.classList.add("ghost");
    const from = corner(one.frame);
    const place = { left: one.box.left + from.left, top: one.box.top + from.top, width: one.box.width, height: one.box.height };
    for (const [side, far] of Object.entries(place)) copy.style[side] = `${far}px`;
    play.append(copy);
    const going = copy.animate(frames, { duration, delay, easing: EASE, fill: "both" });
    going.finished.finally(() => copy.remove());
    return copy;
  }

  /* whether its middle was in sight, and not behind the own place or the bar: nothing flies over what one plays with */
  function inSight({ box, frame }) {
    const { left, top } = corner(frame);
    const there = document.elementFromPoint(left + box.left + box.width / 2, top + box.top + box.height / 2);
    return Boolean(there) && !there.closest("[data-play-area], .topbar");
  }

  /* in a bow, to whom it is for */
  function flyOut(one) {
    if (!inSight(one)) return;
    const guest = play.querySelector('[data-out] [data-guest="happy"]') ?? play.querySelector("[data-out] [data-guest]");
    const to = guest ? within(one.frame, guest) : one.out;
    const x = to.left + to.width / 2 - one.box.left - one.box.width / 2;
    const y = to.top + to.height / 2 - one.box.top - one.box.height / 2;
    const frames = [
      { transform: "none" },
      { transform: `translate(${x / 2}px, ${Math.min(0, y) - 36}px) scale(1.8)`, opacity: 1, offset: 0.45 },
      { transform: `translate(${x}px, ${y}px) scale(1.2)`, opacity: 1, offset: 0.85 },
      { transform: `translate(${x}px, ${y}px) scale(0.2)`, opacity: 0 },
    ];
    ghost(one, frames, FLIGHT - Math.min(one.delay, GLIDE), one.delay);
  }

  const lostIds = () => [...play.querySelectorAll("[data-lost]")].flatMap((one) => one.dataset.lost.split(" "));

  /* what stays moves up, and what is new comes, when the place is free: no sheet is printed over another */
  function leave(was, now) {
    const lost = lostIds();
    const gone = was.filter((one) => !one.element.isConnected && (lost.includes(one.element.id) || !document.getElementById(one.element.id)));
    const shown = gone.filter((one) => (lost.includes(one.element.id) ? burn(one) : stamp(one)));
    const delay = shown.length ? STAYS : 0;
    for (const one of now) {
      const from = was.find((other) => other.element === one.element);
      if (from) glide(one.element, from.box, one.box, delay);
      else if (delay) one.element.animate([{ opacity: 0 }, {}], { duration: GLIDE, delay, fill: "backwards" });
    }
  }

  function stamp(one) {
    if (!inSight(one)) return null;
    const still = [{}, { opacity: 1 }];
    const frames = [{}, { transform: "scale(1.04)", offset: 0.2 }, { transform: "none", opacity: 1, offset: 0.75 }, { transform: "translateY(-1.5rem)", opacity: 0 }];
    return shownAs("stamped", ghost(one, STILL.matches ? still : frames, FLIGHT));
  }

  function shownAs(name, copy) {
    copy.classList.add(name);
    return copy;
  }

  /* Its foot goes first: a frame around it moves up while it stays where it is. To clip it would be a layout of each
     picture, this is only two moves. */
  function burn(one) {
    if (!inSight(one)) return null;
    const frames = [
      { filter: "none", opacity: 1 },
      ...[0.06, 0.12, 0.18, 0.24].map((offset, number) => ({ filter: "grayscale(1)", opacity: 1, transform: `translateX(${number % 2 ? 5 : -5}px)`, offset })),
      { filter: "sepia(1) saturate(5) hue-rotate(-20deg)", opacity: 1, transform: "translateY(5%)", offset: 0.45 },
      { filter: "sepia(1) brightness(0.3)", opacity: 0.6, transform: "translateY(100%)" },
    ];
    const copy = shownAs("lost", ghost(one, frames, BURN));
    const frame = document.createElement("div");
    frame.className = "burning";
    frame.style.cssText = copy.style.cssText;
    Object.assign(copy.style, { left: 0, top: 0 });
    copy.replaceWith(frame);
    frame.append(copy);
    const up = [{}, { transform: "none", offset: 0.24 }, { transform: "translateY(-5%)", offset: 0.45 }, { transform: "translateY(-100%)" }];
    frame.animate(up, { duration: BURN, easing: EASE, fill: "both" }).finished.finally(() => frame.remove());
    return copy;
  }

  /* words beside a body stay inside the stage: below it, or above where there is no room; none lies over another */

  function fit() {
    const placed = [];
    follow();
    for (const bubble of play.querySelectorAll("[data-bubble]")) {
      const stage = bubble.closest("[data-stage]").getBoundingClientRect();
      if (!stage.width) continue; // hidden: it is fitted when it is seen
      bubble.style.translate = "-50% 0";
      const box = bubble.getBoundingClientRect();
      const [left, right] = [stage.left + NEAR - box.left, stage.right - NEAR - box.right];
      const x = left > 0 ? left : Math.min(0, right);
      const y = free(new DOMRect(box.left + x, box.top, box.width, box.height), placed, stage);
      bubble.style.translate = `calc(-50% + ${x}px) ${y}px`;
    }
  }

  /* the stage that is there now tells of each change of its size, such as that it is seen again */
  function follow() {
    const stage = play.querySelector("[data-stage]");
    if (stage === followed) return;
    sizes.disconnect();
    followed = stage;
    if (stage) sizes.observe(stage);
  }

  /* how far down, or up where the stage ends, there is room for it; it is noted there */
  function free(box, placed, stage) {
    const top = box.top;
    const up = box.bottom > stage.bottom - NEAR;
    if (up) box.y -= box.height + ABOVE;
    const meets = (other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
    for (let hit = placed.find(meets); hit; hit = placed.find(meets)) {
      box.y = up ? hit.top - NEAR - box.height : hit.bottom + NEAR;
    }
    placed.push(box);
    return box.top - top;
  }

  function move() {
    const was = before;
    before = null;
    stop();
    fit();
    if (!was) return;
    if (STILL.matches) return stampAll(was.sheets);
    const now = look(); // all is measured before anything moves: the page is laid out once
    glideBots(was.bots, now.bots);
    hop(was.things, now.things);
    leave(was.sheets, now.sheets);
  }

  function stampAll(was) {
    const lost = lostIds();
    const served = (one) => !one.element.isConnected && !document.getElementById(one.element.id) && !lost.includes(one.element.id);
    was.filter(served).forEach(stamp);
  }

  document.addEventListener("htmx:wsBeforeMessage", () => {
    before = before || look();
  });
  document.addEventListener("htmx:wsAfterMessage", move);
  fit();
})();
