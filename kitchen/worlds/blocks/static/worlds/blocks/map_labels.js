/* The words at things on the map: none lies over another one. Each in turn, the most important first, is put below its
   thing, else above it, else it is left out; a thing that is pointed at or marked always has its words. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const HIGH = 20; // pixels of a line
  const BELOW = 16; // pixels from the middle of a thing
  const widths = new Map(); // pixels, by words

  const widthOf = (label) => {
    const words = label.textContent;
    if (!widths.has(words)) widths.set(words, label.offsetWidth);
    return widths.get(words);
  };
  const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const boxAt = ([x, y], wide, down) => ({ left: x - wide / 2, right: x + wide / 2, top: y + down, bottom: y + down + HIGH });

  /* `spots`: each with its button, its middle in pixels, and `body`, the room that its picture takes or null */
  function arrange(spots) {
    const taken = spots.map(({ body }) => body).filter(Boolean);
    const rank = ({ button }) => 4 * button.matches("[data-hinted], .picked, :focus-visible, :hover") + 2 * button.matches(".is-used") + button.matches(".is-station");
    const labelled = spots.filter(({ button }) => button.matches(".is-station, .is-used") && !button.matches(".is-beyond, .is-builder"));
    for (const one of [...labelled].sort((first, second) => rank(second) - rank(first))) {
      const wide = widthOf(one.button.querySelector(".station-name"));
      const [below, above] = [boxAt(one.middle, wide, BELOW), boxAt(one.middle, wide, -BELOW - HIGH)];
      const free = [below, above].find((box) => taken.every((other) => !meet(box, other)));
      put(one.button, "is-unnamed", !free && rank(one) < 4);
      put(one.button, "is-named-above", free === above);
      taken.push(free ?? below);
    }
  }

  function put(button, name, isSo) {
    if (button.classList.contains(name) !== isSo) button.classList.toggle(name, isSo);
  }

  play.mapLabels = { arrange };
})();
