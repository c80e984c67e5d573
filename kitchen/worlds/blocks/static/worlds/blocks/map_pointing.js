/* Pointing at the map: what lies under the mouse or a finger, what a click would do there, and drags. In a building site it
   is the very cell that one sees. `mapPointing` of [data-play]. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const DRAG = 6; // pixels from which a press on the map is a drag
  const FINGER = 22; // pixels around a click in which something is meant
  const SMALL = 44; // pixels of a cell below which words beside it would cover builders
  const SITE = "site";
  const { cellActions, choosing, ghostBuilding, mapBlocks, mapCamera, mapPainting, mapSpots } = play;
  const { say } = play.cellWords;
  const { world, blockAt, wantedAt, inSite } = mapBlocks;
  const { view, pixels } = mapCamera;
  const { canvas } = mapPainting;
  const tip = stage.querySelector("[data-pointed]");
  let picked = null; // the spot that was clicked, and where
  let pointer = null; // where the mouse is, while it is on the canvas
  let press = null; // the pointer that is down: where it began, how far the view was dragged then, whether it drags
  let named = null; // the cell of the action of the menu that is pointed at

  /* the cell of the site under a pixel */

  function siteCell([x, y]) {
    if (!world.ground.box) return null;
    const seen = view.angled ? cubeAt([x, y]) : null;
    const at = seen ?? mapCamera.cellAt(x, y, view.level, 0.5);
    return inSite(at) ? at : null;
  }

  /* what is nearest to the eye: a block or a bright ghost; behind nothing else, also a pale ghost */
  function cubeAt([x, y]) {
    const found = [];
    for (let level = mapBlocks.highest(); level >= world.ground.box[0][1]; level -= 1) {
      const [east, , south] = mapCamera.cellAt(x, y, level);
      for (const at of [[1, 1], [1, 0], [0, 1], [0, 0], [1, -1], [-1, 1], [-1, 0], [0, -1], [-1, -1]].map(([right, down]) => [east + right, level, south + down])) {
        if (inSite(at) && (blockAt(...at) || wantedAt(...at)) && mapCamera.isOnCube([x, y], at)) found.push(at);
      }
    }
    const depth = (at) => at[0] + at[1] + at[2];
    found.sort((one, other) => depth(other) - depth(one));
    if (!world.ground.blueprint) return found.find((at) => at[1] === view.level);
    const wall = found.findIndex((at) => blockAt(...at) && !ghostBuilding.isSeeThrough(at));
    const free = (wall < 0 ? found : found.slice(0, wall)).find(canPlace);
    if (free) return free;
    return found.find((at) => at[1] <= view.level || (blockAt(...at) && !ghostBuilding.isSeeThrough(at))) ?? found[0];
  }

  /* who knows the plan, and holds what it wants there, reaches the cell even through a builder */
  const canPlace = (at) => !blockAt(...at) && at[1] <= view.level && Boolean(wantedAt(...at)) && mapBlocks.holds(wantedAt(...at));

  /* whose head or body is under the pixel, not the feet: they stand on the cell */
  function builderAt([x, y]) {
    const size = mapSpots.builderSize();
    const bodies = mapPainting.things.filter((one) => one.body);
    const [left, up] = view.moved;
    return bodies.find((one) => Math.abs(one.x + left - x) < size * 0.36 && y > one.y + up - size * 0.82 && y < one.y + up + size * 0.05) ?? null;
  }

  /* what lies at a place of the page: a cell of the site, or the nearest thing */
  function thingAt({ clientX, clientY }) {
    const frame = canvas.getBoundingClientRect();
    const [x, y] = [clientX - frame.left, clientY - frame.top];
    const cell = siteCell([x, y]);
    const builder = cell && !canPlace(cell) ? builderAt([x, y]) : null;
    if (builder) return builder;
    if (cell) return { at: cell, spot: SITE };
    const [left, up] = view.moved;
    const far = (one) => Math.hypot(one.x + left - x, one.y + up - y) - (one.ahead ?? 0);
    const near = mapPainting.things.filter((one) => far(one) < Math.max(FINGER, view.cell * 0.6));
    return near.reduce((best, one) => (best && far(best) < far(one) ? best : one), null);
  }

  /* clicks */

  function pick(event) {
    if (wasDrag()) return;
    const thing = thingAt(event);
    const button = thing && mapSpots.button(thing.spot);
    if (!button || choosing.twice || world.now.you < 0) return;
    event.stopPropagation();
    pointer = null; // until it moves: what was just done is seen
    if (gives(thing) || refuses(thing)) return;
    pickAt(thing, button);
    button.click();
  }

  /* what is in the hand goes to the builder that is pressed */
  function gives({ spot }) {
    const words = play.hotbar.chooses() && spot.startsWith("seat-") && play.blockQueue.isFree() && !choosing.asksFirst ? play.hotbar.gift(spot.slice(5)) : null;
    if (words) play.blockQueue.command(words);
    return Boolean(words);
  }

  /* what is in the hand does not belong there: the page says what does, and shows its slot */
  function refuses({ spot, at }) {
    if (spot !== SITE || !play.hotbar.chooses() || blockAt(...at) || play.hotbar.itemsFor(at).length) return false;
    play.buildingFinish.say(cellActions.say(at), true);
    play.hotbar.nudge(wantedAt(...at));
    return true;
  }

  function pickAt({ spot, at }, button) {
    picked = { spot, at };
    if (spot === SITE) {
      cellActions.offer(at, button);
      const words = [cellActions.say(at), say(at)].filter(Boolean).join(": ");
      button.querySelector(".station-name").textContent = words;
    }
    play.mapView.paintNow();
  }

  /* the button of the site stands for the cell that is marked, before stage.js looks what can be done there */
  function pickSite({ target }) {
    const button = mapSpots.button(SITE);
    if (button && target.closest("button") === button && button.dataset.spot === SITE) pickAt({ spot: SITE, at: siteAt() }, button);
  }

  /* the button of the site, from cell to cell; returns whether there is a cell */
  function moveCell(button, [east, south], up = 0) {
    const from = siteAt();
    const to = [from[0] + east, from[1] === view.level ? from[1] + up : view.level, from[2] + south];
    if (!inSite(to)) return false;
    pickAt({ spot: SITE, at: to }, button);
    document.getElementById("stage-said").textContent = button.textContent;
    return true;
  }

  const siteAt = () => (picked?.spot === SITE ? picked.at : world.now.spots.find(({ spot }) => spot === SITE).at);

  /* drags: the view moves with the pointer, and stays until the own builder walks */

  function beginPress({ button, isPrimary, pointerId, clientX, clientY }) {
    press = !button && isPrimary ? { pointerId, from: [clientX, clientY], dragged: view.dragged, drags: false } : null;
  }

  function drag({ pointerId, clientX, clientY }) {
    if (press?.pointerId !== pointerId || press.ended) return;
    const [right, below] = [press.from[0] - clientX, press.from[1] - clientY];
    if (!press.drags && Math.hypot(right, below) < DRAG) return;
    if (world.ground.by_block && !stage.classList.contains("is-larger")) return; // all is in sight: lines are drawn there
    if (!press.drags) canvas.setPointerCapture(pointerId);
    press.drags = true;
    const [[x, , z], [east, south]] = [mapCamera.usualEyes(), mapCamera.groundCells(right, below)];
    const { area } = world.ground;
    const within = (value, axis) => Math.max(area[0][axis], Math.min(area[1][axis], value));
    mapCamera.stopGliding();
    view.dragged = [within(x + press.dragged[0] + east, 0) - x, within(z + press.dragged[1] + south, 2) - z];
    play.mapView.draw();
  }

  /* the click that ends a drag chooses nothing */
  function endPress() {
    if (press) press.ended = true;
  }

  function wasDrag() {
    const drags = Boolean(press?.drags);
    press = null;
    return drags;
  }

  /* what is pointed at is marked, and said beside it */

  function point({ type, pointerType, clientX, clientY }) {
    pointer = type === "pointerleave" || pointerType === "touch" ? null : { clientX, clientY };
    play.mapView.draw();
  }

  /* the menu's action for a cell, while it is pointed at or has the focus */
  function nameCell({ type, target }) {
    const leaves = type === "pointerout" || type === "focusout";
    const places = leaves ? "" : target.closest?.("label")?.querySelector("[data-places]")?.dataset.places ?? "";
    const cell = places.match(/cell-(-?\d+)_(-?\d+)_(-?\d+)/)?.slice(1).map(Number) ?? null;
    if (String(cell) === String(named)) return;
    named = cell;
    play.mapView.draw();
  }

  function hinted() {
    const value = document.getElementById("hint")?.dataset.try;
    const words = value ? JSON.parse(value) : [];
    return ["place", "remove"].includes(words[0]) ? words.slice(-3).map(Number) : null;
  }

  /* again after each change: what was missing there may stand now */
  function show() {
    const thing = pointer && !press?.drags ? thingAt(pointer) : null;
    canvas.classList.toggle("is-apt", Boolean(thing && mapSpots.button(thing.spot)));
    const site = mapSpots.button(SITE);
    const hasFocus = site && document.activeElement === site;
    const menu = stage.querySelector("[data-spot-menu]");
    const chosen = picked?.spot === SITE && (!menu.hidden || hasFocus) ? picked.at : hasFocus ? siteAt() : null;
    const pointed = thing?.spot === SITE && menu.hidden ? thing.at : null;
    const cell = pointed ?? chosen ?? named;
    if (world.ground.box && view.yaw === mapCamera.USUAL && !play.buildingFinish.isOver()) mark(cell);
    showTip(menu.hidden ? thing ?? (cell && { at: cell, spot: SITE }) : null);
  }

  function mark(cell) {
    const hint = hinted();
    if (hint && String(hint) !== String(cell) && inSite(hint)) ghostBuilding.paintMark(mapPainting.front, hint, true);
    if (play.hotbar.chooses()) for (const at of play.partnerWait?.askedCells() ?? []) ghostBuilding.paintMark(mapPainting.front, at, true);
    for (const at of play.blockQueue.cells()) ghostBuilding.paintMark(mapPainting.front, at);
    if (cell && inSite(cell)) ghostBuilding.paintMark(mapPainting.front, cell);
  }

  function showTip(thing) {
    const [words, place] = thing ? saidOf(thing) : ["", ""];
    if (tip.dataset.words !== words + place) fillTip(words, place);
    tip.hidden = !words;
    if (!words) return;
    const half = tip.offsetWidth / 2 + 6;
    const isSmall = view.cell < SMALL; // then it stands in a corner, and covers nobody
    const [x, y] = isSmall ? [0, view.height - view.cell * 0.75 - tip.offsetHeight - 14] : pixels(thing.at);
    const left = Math.max(half, Math.min(view.width - half, x));
    const above = y - view.cell * (view.angled ? 0.7 : 0.55) - tip.offsetHeight - 6;
    const top = above > view.inset && !isSmall ? above : y + view.cell * 0.75 + 6;
    tip.style.transform = `translate(${Math.round(left - tip.offsetWidth / 2)}px, ${Math.round(top)}px)`;
  }

  function saidOf({ kind, name, at, spot }) {
    if (spot === SITE) return [cellActions.say(at), say(at)];
    return [name ?? world.now.spots.find((one) => one.kind === kind)?.name ?? world.ground.names[kind] ?? kind.replaceAll("_", " "), ""];
  }

  function fillTip(words, place) {
    const [first, second] = [document.createElement("b"), document.createElement("small")];
    [first.textContent, second.textContent, tip.dataset.words] = [words, place, words + place];
    tip.replaceChildren(first, second);
  }

  const forget = () => {
    if (stage.querySelector("[data-spot-menu]").hidden && document.activeElement !== mapSpots.button(SITE)) picked = null;
  };

  canvas.addEventListener("click", pick);
  stage.addEventListener("click", pickSite);
  canvas.addEventListener("pointerdown", beginPress);
  canvas.addEventListener("pointermove", drag);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, endPress);
  for (const name of ["pointermove", "pointerleave"]) canvas.addEventListener(name, point);
  for (const name of ["pointerover", "pointerout", "focusin", "focusout"]) play.addEventListener(name, (event) => event.target.closest?.("#menu") && nameCell(event));
  for (const name of ["focusin", "focusout"]) stage.addEventListener(name, () => play.mapView?.draw());
  play.mapPointing = { show, moveCell, forget, siteCell, picked: () => picked };
})();
