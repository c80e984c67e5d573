/* A press, or a line, on cells that want what one does not hold: it is sent to the other builders as a request in words, who
   understand it as if it had been typed. What stands in the message box stays there. `blockAsking` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const { mapBlocks } = play;
  const { world, blockAt, wantedAt, inSite } = mapBlocks;
  const { filled } = play.cellWords;

  function canAsk(at) {
    if (!at || !world.ground.ask || world.now.you < 0 || play.choosing.phase === "over" || !inSite(at) || blockAt(...at)) return false;
    return Boolean(wantedAt(...at)) && !mapBlocks.holds(wantedAt(...at));
  }

  /* of a line, the cells that are straight on from the first one, in its row or its column */
  function straight(cells) {
    const [first] = cells;
    const same = (axis) => cells.filter((at) => at[1] === first[1] && at[axis] === first[axis] && wantedAt(...at) === wantedAt(...first));
    const [row, column] = [same(2), same(0)];
    return row.length >= column.length ? row : column;
  }

  function range(values, one, several) {
    const [first, last] = [Math.min(...values) + 1, Math.max(...values) + 1];
    return first === last ? filled(one, { n: first }) : filled(several, { first, last });
  }

  function words(cells) {
    const { ask, names } = world.ground;
    const [[x, level, z]] = cells;
    const row = range(cells.map((at) => at[2]), ...ask.rows);
    const column = range(cells.map((at) => at[0]), ...ask.columns);
    const text = filled(ask.text, { item: names[wantedAt(x, level, z)], place: filled(ask.place, { level: level + 1, row, column }) });
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  function ask(cells) {
    const form = document.getElementById("talk-form");
    if (!form || form.querySelector("[data-send]").disabled) return;
    const text = words(straight(cells));
    const box = form.querySelector('[name="text"]');
    const written = box.value;
    box.value = text;
    form.requestSubmit();
    box.value = written;
    play.buildingFinish.say(text, true);
  }

  play.blockAsking = { canAsk, ask };
})();
