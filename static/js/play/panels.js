/* The panels of the play page, and keeping the person's place while they are replaced.

   The server sends what has changed, each panel as one element with its id. A panel may hold others: where
   the page has them already, <template id="one other"> stands for them, and they themselves are put there.
   `brigade:panels` at [data-play] says that something else is shown now, and `brigade:end` that the end is in sight. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const WRITES = "textarea, [contenteditable], input:not([type=radio], [type=checkbox])";
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const JUST_OVER = 500; // milliseconds after the end is told for which taps and keys count for nothing
  const LAST_EVENT = 1500; // milliseconds in which the last step is seen before the end is told
  /* panels on which the style of the whole page depends: a class, and whether the page has it */
  const STATES = {
    over: (panel) => ["has-ended", panel.matches(".is-over")],
    hint: (panel) => ["has-hint", panel.querySelector("p") !== null],
  };
  const { choosing, connection } = play;
  const drawer = new Map(); // elements that are not on the page now, by id: they may come back in this episode
  let kept = null; // where the person was before a message
  let swapped = false; // whether it has changed anything
  let seen = false; // whether the page was shown before: what ends then ends under somebody's finger

  const menu = () => document.getElementById("menu");

  /* where panels stood that scroll by themselves: [data-scroll], kept within a step, or always if it says so */
  /* what is scrolled; the rest begins at its top again by itself, and is not measured for it */
  function scrolls() {
    const found = [...play.querySelectorAll("[data-scroll][id]")];
    return found.map((element) => [element.id, element.scrollTop, element.scrollLeft]).filter(([, top, left]) => top || left);
  }

  /* the place of a drawing that is there, or whose small menu is */
  const spotOf = (element) =>
    element?.closest("[data-spot]")?.dataset.spot || element?.closest("[data-spot-menu]")?.dataset.of || "";

  const isWriting = () => Boolean(document.activeElement?.matches(WRITES));

  function remember() {
    const active = document.activeElement;
    const inMenu = Boolean(active && menu()?.contains(active));
    const part = active?.closest(".bar-pass") ? play.querySelector(".talk") : active?.closest(".talk");
    swapped = false;
    kept = {
      inMenu,
      id: active?.id || "",
      writes: isWriting(),
      title: part?.querySelector("h2").id || "", // where to be if what has the focus goes
      spot: spotOf(active),
      value: inMenu && active.name === "command" ? active.value : "",
      choice: choosing.chosen()?.value || "",
      step: choosing.step,
      open: [...document.querySelectorAll("#menu details[open]")].map((details) => details.id),
      scrolls: scrolls(),
    };
  }

  /* a choice holds for one step */
  function restoreChoice() {
    const chosen = choosing.chosen();
    if (choosing.step !== kept.step && chosen) chosen.checked = false;
    if (!kept.choice || choosing.step !== kept.step || choosing.chosen()) return;
    const radio = choosing.radioOf(kept.choice);
    if (radio) radio.checked = true;
  }

  function restoreFocus() {
    const active = document.activeElement;
    if (active && active !== document.body && document.contains(active)) return;
    const radio = kept.value && choosing.step === kept.step && choosing.radioOf(kept.value);
    const same = radio || document.getElementById(kept.id);
    same?.focus({ preventScroll: true });
    if (same && document.activeElement === same) return; // it may be hidden now
    if (kept.inMenu) choosing.focus();
    else if (kept.spot) play.querySelector(`[data-spot="${kept.spot}"]`)?.focus({ preventScroll: true });
    else if (kept.id) document.getElementById(kept.title)?.focus({ preventScroll: true });
  }

  function restore() {
    if (!kept) return;
    const { sent } = choosing;
    if (sent && (sent.step !== choosing.step || choosing.phase !== "choose")) choosing.release();
    for (const id of kept.open) document.getElementById(id)?.setAttribute("open", "");
    restoreChoice();
    const sameStep = choosing.step === kept.step;
    for (const [id, top, left] of kept.scrolls) {
      const element = document.getElementById(id);
      if (element && (sameStep || element.dataset.scroll === "always")) element.scrollTo(left, top);
    }
    restoreFocus();
    const { writes } = kept;
    kept = null;
    if (swapped) play.dispatchEvent(new Event("brigade:panels"));
    showOver(writes);
  }

  /* While others choose, the actions stay where they were, only not to be chosen. */
  function keepActions(fresh) {
    const now = menu()?.querySelector("[data-actions]");
    const coming = fresh.matches("[data-actions]") ? fresh : fresh.querySelector("[data-actions]");
    const same = choosing.step === kept.step && !["choose", "over"].includes(choosing.phase);
    if (same && coming && now?.querySelector("input") && !coming.querySelector("input")) {
      coming.replaceChildren(...now.childNodes);
    }
  }

  /* Elements that the page has are taken from it: those that the server left out, and those that it sends
     as they are. */
  function keepParts(fresh) {
    for (const part of fresh.querySelectorAll("[id]")) {
      const here = document.getElementById(part.id);
      if (part.matches("template")) fill(part);
      else if (here && fresh.contains(part) && here.isEqualNode(part)) part.replaceWith(here);
    }
  }

  function fill(gap) {
    const parts = gap.id.split(" ").map((id) => document.getElementById(id) || unchosen(drawer.get(id)));
    if (parts.every(Boolean)) gap.replaceWith(...parts);
    else connection.reconnect();
  }

  function unchosen(part) {
    for (const radio of part?.querySelectorAll("input:checked") || []) radio.checked = false;
    return part;
  }

  /* What the person has opened stays open: folds, as the class of the page says, and details that come as they are. */
  function keepOpen(target, fresh) {
    for (const fold of fresh.querySelectorAll("[data-fold]")) {
      fold.setAttribute("aria-expanded", String(play.classList.contains(fold.dataset.fold)));
    }
    const open = [...target.querySelectorAll("details[open]")];
    for (const one of fresh.querySelectorAll("details:not([open])")) {
      one.open = true;
      one.open = open.some((here) => here.isEqualNode(one));
    }
  }

  /* what is being answered stays as it is, although the server sends the question again after each connection */
  const isSameQuestion = (here, fresh) => here.id === "probe" && Boolean(here.dataset.step) && here.dataset.step === fresh.dataset.step;

  function beforeSwap(event) {
    const target = event.detail.target;
    const fresh = event.detail.fragment.firstElementChild;
    if (target.id === "bar") choosing.read(fresh);
    if (target.id === "notice" && fresh.textContent) {
      if (fresh.matches("[data-again]")) choosing.owe();
      choosing.release({ refused: true });
    }
    keepOpen(target, fresh);
    event.detail.shouldSwap = !target.isEqualNode(fresh) && !isSameQuestion(target, fresh);
    if (!event.detail.shouldSwap) return;
    swapped = true;
    keepParts(fresh);
    if (menu()?.contains(target)) keepActions(fresh);
    for (const part of target.querySelectorAll("[id]")) drawer.set(part.id, part);
  }

  function place(target, fresh) {
    target.replaceWith(fresh);
    noteState(fresh);
  }

  /* `:has(#over)` of the whole page would have all of it restyled with each panel */
  function noteState(panel) {
    const state = STATES[panel?.id];
    if (state) play.classList.toggle(...state(panel));
  }

  /* A panel takes its place here, once all who listen have had their say: htmx would give each panel to several events
     for every panel before it, and touch the class and the attributes of each. It is told only of forms. */
  function swap({ detail }) {
    if (!detail.shouldSwap) return;
    detail.shouldSwap = false;
    const fresh = detail.fragment.firstElementChild;
    place(detail.target, fresh);
    if (fresh.matches("[ws-send]") || fresh.querySelector("[ws-send]")) htmx.process(fresh);
  }

  /* a tap or a key that was meant for the game hits nothing of what stands there now */
  function shield() {
    play.classList.add("is-just-over");
    setTimeout(() => play.classList.remove("is-just-over"), JUST_OVER);
  }

  function onKey(event) {
    if (play.matches(".is-just-over") && ["Enter", " "].includes(event.key)) event.preventDefault();
  }

  /* the end is told at once where nothing moves, and on a page that is opened after it */
  function showOver(writes = false) {
    const over = Boolean(document.querySelector("#over.is-over"));
    const told = play.classList.contains("is-over");
    const ends = over && !told;
    play.classList.toggle("is-over", over);
    play.classList.toggle("is-ending", over && (told ? play.matches(".is-ending") : seen && !CALM.matches));
    if (ends && play.matches(".is-ending")) setTimeout(() => tellEnd(writes), LAST_EVENT);
    else if (ends) tellEnd(writes);
    seen = true;
  }

  /* Enter, of somebody who is writing, must not leave the page */
  function tellEnd(writes) {
    const title = document.querySelector("#over.is-over h2");
    play.classList.remove("is-ending");
    play.dispatchEvent(new Event("brigade:end"));
    if (!title) return;
    if (seen) shield();
    (writes || isWriting() ? title : play.querySelector("[data-over-continue]"))?.focus();
  }

  /* panels that are all there, and came in another way */
  function put(html) {
    const writes = isWriting();
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    for (const panel of [...fresh.content.children]) {
      const here = document.getElementById(panel.id);
      if (!here) continue;
      keepOpen(here, panel);
      if (here.isEqualNode(panel) || isSameQuestion(here, panel)) continue;
      place(here, panel);
      if (panel.querySelector("[ws-send]")) htmx.process(panel);
    }
    choosing.read(document.getElementById("bar"));
    play.dispatchEvent(new Event("brigade:panels"));
    showOver(writes);
  }

  play.panels = { put };
  for (const id of Object.keys(STATES)) noteState(document.getElementById(id));
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("htmx:wsBeforeMessage", remember);
  document.addEventListener("htmx:wsAfterMessage", restore);
  document.addEventListener("htmx:oobBeforeSwap", beforeSwap);
  window.addEventListener("htmx:oobBeforeSwap", swap);
  showOver();
})();
