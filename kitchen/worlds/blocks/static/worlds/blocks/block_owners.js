/* Who placed which block, as far as the server says so (`placed` of map-now, kitchen/worlds/blocks/map_panels.py). Of all
   other blocks nothing is known: they carry no mark, and cannot be undone. `blockOwners` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector("[data-map]")) return;

  const { mapBlocks } = play;
  const { world, blockAt } = mapBlocks;
  const owners = new Map(); // seats by cell, the newest last
  const keyOf = (at) => at.join("_");
  let known = -1; // the step up to which it was read

  /* after each look at the map, with the cells that changed */
  function read(changed) {
    for (const { at } of changed) owners.delete(keyOf(at));
    for (const [step, seat, ...at] of world.now.placed ?? []) if (step > known && blockAt(...at)) note(keyOf(at), seat);
    known = Math.max(known, ...(world.now.placed ?? []).map(([step]) => step));
  }

  function note(key, seat) {
    owners.delete(key); // so that it is the newest
    owners.set(key, seat);
  }

  /* where this person's newest block is */
  function last() {
    const own = [...owners].findLast(([, seat]) => seat === world.now.you);
    return own?.[0].split("_").map(Number);
  }

  play.blockOwners = { read, last, of: (at) => owners.get(keyOf(at)) ?? null };
})();
