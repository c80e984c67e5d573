/* A press, or a line, on cells that want what one does not hold: it is sent to the other builders as a request in words, who
   understand it as if it had been typed. What stands in the message box stays there. `blockAsking` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const { mapBlocks } = play;
  const { world, blockAt, wantedAt, inSite } = mapBlocks;
  const { filled } = play.cellWords;

  function canAsk(at) {
    if (!at || !world.ground.ask || world.now.you < 0 || play.choosing.phase === "over" || !inSite(at) || blockAt(...at)) return false;
    return Boolean(wantedAt(...at)) && !mapBlocks.holds(wantedAt(...at));
  }

  /* of a line, the cells that lie side by side from the first one on, in its row or its column: a request names a whole
     stretch, and its reader does not know where the plan has gaps */
  function straight(cells) {
    const [first] = cells;
    const fits = (at) => at[1] === first[1] && wantedAt(...at) === wantedAt(...first);
    const side = (axis) => stretch(cells.filter((at) => fits(at) && at[2 - axis] === first[2 - axis]), first, axis);
    const [row, column] = [side(0), side(2)];
    return row.length >= column.length ? row : column;
  }

  function stretch(cells, first, axis) {
    const places = new Set(cells.map((at) => at[axis]));
    let [low, high] = [first[axis], first[axis]];
    while (places.has(low - 1)) low -= 1;
    while (places.has(high + 1)) high += 1;
    return cells.filter((at) => at[axis] >= low && at[axis] <= high);
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

  /* a line with a corner is several stretches; one message asks for all of them */
  function* stretches(cells) {
    for (let left = cells; left.length; ) {
      const part = straight(left);
      yield part;
      left = left.filter((at) => !part.includes(at));
    }
  }

  /* what cannot be sent now is put into the message box, and the page says so */
  function ask(cells) {
    const text = [...stretches(cells)].map(words).join(". ");
    const before = newestOwn();
    if (!play.talk.sendAside(text)) return unsent(text);
    sent = { text, before };
    return play.buildingFinish.say(text, true);
  }

  function unsent(text) {
    keep(text);
    play.buildingFinish.say(filled(stage.dataset.unsent, { text }), true);
  }

  /* the server takes only some messages in a step, and refuses the others with a notice; what other notices say is not
     about what was asked (kitchen/play/coplayers/answer_messages.py) */
  const REFUSALS = ["unsent", "unreadable", "not_allowed", "not_your_turn", "too_long", "too_many", "busy", "talking", "choose_one", "over", "elsewhere"];
  const newestOwn = () => document.getElementById("talk")?.dataset.mine;
  let sent = null; // what was asked last, until the server answers

  function onNotice({ detail: { target, fragment } }) {
    if (!sent || target.id !== "notice" || !REFUSALS.includes(fragment.firstElementChild.dataset.code)) return;
    unsent(sent.text);
    sent = null;
  }

  function onMessage() {
    if (sent && newestOwn() !== sent.before) sent = null;
  }

  function keep(text) {
    const box = document.querySelector('#talk-form [name="text"]');
    if (!box || box.value.includes(text)) return;
    box.value = [box.value, text].filter(Boolean).join(" ");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  document.addEventListener("htmx:oobBeforeSwap", onNotice);
  document.addEventListener("htmx:wsAfterMessage", onMessage);
  play.blockAsking = { canAsk, ask };
})();
