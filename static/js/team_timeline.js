/* The timeline of a team in the replay: one of its steps is in the order of Tab, the arrow keys choose another, and
   a press on the drawing presses the step below it. The step that the page shows is marked. */
"use strict";

(() => {
  const part = document.querySelector("[data-team-timeline]");
  const slider = document.getElementById("replay-step");
  if (!part || !slider) return;

  const drawing = part.querySelector("[data-drawing]");
  const now = part.querySelector("[data-now]");
  const steps = [...part.querySelectorAll("button[data-column]")];
  const WIDTH = now.width.baseVal.value;

  /* the last column that begins at this number of steps taken, or before */
  function columnAt(taken) {
    let found = 0;
    for (const [column, step] of steps.entries()) if (Number(step.value) <= taken) found = column;
    return found;
  }

  function reach(column) {
    for (const [number, step] of steps.entries()) step.tabIndex = number === column ? 0 : -1;
  }

  function mark() {
    const column = columnAt(Number(slider.value));
    for (const [number, step] of steps.entries()) {
      if (number === column) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
    now.setAttribute("x", String(column * WIDTH));
    if (!steps.includes(document.activeElement)) reach(column);
  }

  const MOVES = {
    ArrowLeft: (at) => at - 1,
    ArrowRight: (at) => at + 1,
    Home: () => 0,
    End: () => steps.length - 1,
  };
  part.addEventListener("keydown", (event) => {
    const at = steps.indexOf(event.target);
    if (at < 0 || !(event.key in MOVES) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(steps.length - 1, MOVES[event.key](at)));
    reach(to);
    steps[to].focus();
  });
  drawing.addEventListener("click", (event) => {
    const column = event.target.closest("[data-column]")?.dataset.column;
    if (column !== undefined) steps[Number(column)].click();
  });
  document.addEventListener("replay-step", mark);
  mark();
  for (const one of part.querySelectorAll("[data-with-script]")) one.hidden = false;
})();
