/* Drag own pages and parts of a study's flow by mouse or touch. The picture shows where the page would come; dropping it sends a
   form. The buttons Up and Down do the same by keyboard; the one that was pressed keeps the focus. */
"use strict";

(() => {
  const flow = document.querySelector(".flow");
  const form = document.getElementById("flow-moved");
  if (!flow || !form) return;
  const PRESSED = `flow-pressed:${location.pathname}`;
  const moved = 8; // pixels: less is a click
  const edge = 60; // pixels at the edge of the window from which it scrolls
  let drag = null;

  function slots(item) {
    const others = [...flow.children].filter((one) => one !== item);
    const found = [];
    let number = 0;
    for (const one of others) {
      const next = others.slice(others.indexOf(one)).find((later) => !later.dataset.own);
      const moves = item.dataset.moves?.split(" "); // a part goes before another part and its pages
      if (next?.dataset.place && (!moves || (number === 0 && moves.includes(next.dataset.place)))) found.push({ before: one, place: next.dataset.place, number });
      number = one.dataset.own ? number + 1 : 0;
    }
    return found;
  }

  function nearest(y) {
    let best = null;
    for (const slot of drag.slots) {
      const away = Math.abs(slot.before.getBoundingClientRect().top - y);
      if (!best || away < best.away) best = { ...slot, away };
    }
    return best;
  }

  function mark(slot) {
    for (const one of flow.querySelectorAll(".flow-drop")) one.classList.remove("flow-drop");
    slot?.before.classList.add("flow-drop");
  }

  function stop() {
    mark(null);
    drag?.item.classList.remove("flow-dragged");
    if (drag) drag.item.style.translate = "";
    drag = null;
  }

  const addressOf = (item) => item.dataset.own ?? item.dataset.part;

  function focusAgain() {
    const [address, words] = JSON.parse(sessionStorage.getItem(PRESSED) ?? "[]");
    sessionStorage.removeItem(PRESSED);
    const item = [...flow.children].find((one) => address && addressOf(one) === address);
    const buttons = [...(item?.querySelectorAll(".row-actions button") ?? [])];
    (buttons.find((one) => one.textContent === words) ?? buttons[0])?.focus();
  }

  flow.addEventListener("submit", (event) => {
    const item = event.target.closest("[data-own], [data-part]");
    if (item) sessionStorage.setItem(PRESSED, JSON.stringify([addressOf(item), event.submitter?.textContent]));
  });
  focusAgain();

  flow.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest(".flow-handle");
    if (!handle || event.button) return;
    event.preventDefault();
    const item = handle.closest("[data-own], [data-part]");
    handle.setPointerCapture(event.pointerId);
    drag = { item, slots: slots(item), from: event.pageY, slot: null };
  });

  flow.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = event.pageY - drag.from;
    if (!drag.slot && Math.abs(by) < moved) return;
    drag.item.classList.add("flow-dragged");
    drag.item.style.translate = `0 ${by}px`;
    drag.slot = nearest(event.clientY);
    mark(drag.slot);
    if (event.clientY < edge) scrollBy(0, -edge / 4);
    if (event.clientY > innerHeight - edge) scrollBy(0, edge / 4);
  });

  flow.addEventListener("pointerup", () => {
    const { item, slot } = drag ?? {};
    stop();
    if (!slot) return;
    form.action = addressOf(item);
    form.elements.before.value = slot.place;
    form.elements.number.value = slot.number;
    form.submit();
  });
  flow.addEventListener("pointercancel", stop);
  document.addEventListener("keydown", (event) => event.key === "Escape" && stop());
})();
