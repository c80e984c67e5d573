/* A cell of the building in words, as kitchen/worlds/blocks/cell_words.py says them. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function height(y, high) {
    if (high === 1) return "";
    return y === 0 ? "bottom" : y === high - 1 ? "top" : "level";
  }

  function spot(x, z, wide, deep) {
    if (wide === 1 || deep === 1) return wide > 1 ? "row" : deep > 1 ? "line" : "";
    const side = x === 0 ? "left" : x === wide - 1 ? "right" : "";
    const end = z === 0 ? "back" : z === deep - 1 ? "front" : "";
    return [end, side].filter(Boolean).join("-") || "inside";
  }

  /* without texts from the server, the place has no name */
  function say([x, y, z]) {
    const { words, box } = play.mapBlocks.world.ground;
    if (!words?.between) return "";
    const [wide, high, deep] = box[1].map((last) => last + 1);
    const names = [height(y, high), spot(x, z, wide, deep)].filter(Boolean);
    return names.map((name) => filled(words[name], { level: y + 1, n: x + 1, m: z + 1 })).join(words.between);
  }

  play.cellWords = { say, filled };
})();
