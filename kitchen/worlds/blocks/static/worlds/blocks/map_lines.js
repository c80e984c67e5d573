/* Lines drawn over the cells of a building site: what is in the hand is placed on each of them, and what one
   does not hold is asked for. A press is a line of one
   cell. Where only a part of the site is in sight, a drag moves the map instead. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const stage = play?.querySelector("[data-map]");
  if (!stage) return;

  const { blockAsking, blockQueue, mapCamera, mapPainting, mapPointing } = play;
  const { canvas } = mapPainting;
  let line = null; // what is drawn: by which pointer, its cells, where the pointer was last
  let ended = false; // the click that follows a line chooses nothing

  const canAsk = (at) => !play.choosing.asksFirst && blockAsking.canAsk(at);
  const isDrawn = (at) => line?.cells.some((one) => String(one) === String(at));

  function cellOf({ clientX, clientY }) {
    const frame = canvas.getBoundingClientRect();
    const at = mapPointing.siteCell([clientX - frame.left, clientY - frame.top]);
    return at && !isDrawn(at) && (blockQueue.canLay(at) || canAsk(at)) ? at : null;
  }

  const isMovable = () => stage.classList.contains("is-larger");

  function begin(event) {
    ended = false;
    const at = event.isPrimary && !event.button && !isMovable() ? cellOf(event) : null;
    if (!at) return;
    event.stopImmediatePropagation();
    line = { pointerId: event.pointerId, asks: canAsk(at), cells: [at], from: [event.clientX, event.clientY] };
    canvas.setPointerCapture(event.pointerId);
    blockQueue.draw(line.cells);
  }

  /* each cell between where the pointer was and is, of the level on which the line began */
  function extend(event) {
    if (line?.pointerId !== event.pointerId) return;
    const [x, y] = line.from;
    const [right, down] = [event.clientX - x, event.clientY - y];
    const parts = Math.max(1, Math.ceil((Math.hypot(right, down) / mapCamera.view.cell) * 4));
    for (let part = 1; part <= parts; part += 1) {
      const at = cellOf({ clientX: x + (right * part) / parts, clientY: y + (down * part) / parts });
      const fits = at && at[1] === line.cells[0][1] && canAsk(at) === line.asks;
      if (fits && (line.asks || blockQueue.isEnough(at))) line.cells.push(at);
    }
    line.from = [event.clientX, event.clientY];
    blockQueue.draw(line.cells);
  }

  function end(event) {
    if (line?.pointerId !== event.pointerId) return;
    const { cells, asks } = line;
    line = null;
    ended = true;
    blockQueue.draw(null);
    if (event.type === "pointerup") (asks ? blockAsking.ask : blockQueue.add)(cells);
  }

  canvas.addEventListener("pointerdown", begin, true);
  canvas.addEventListener("pointermove", extend);
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, end);
  canvas.addEventListener("click", (event) => {
    if (!ended) return;
    ended = false;
    event.stopImmediatePropagation();
  }, true);
  /* a finger that begins on such a cell draws, and does not move the page */
  canvas.addEventListener("touchstart", (event) => line && event.cancelable && event.preventDefault(), { passive: false });
})();
