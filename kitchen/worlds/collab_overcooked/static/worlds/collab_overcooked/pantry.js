/* The ingredients as a drawer: it opens at the box in the drawing, at a button of the menu, or by its key, and closes
   with Escape, or when something was taken. A field finds food: what does not fit is hidden. The drawer comes anew with
   each step, and what was written stays. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector(".is-collab")) return;

  const OPEN = "show-pantry"; // class of the page, which `data-fold` of menu.js sets, too
  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  let written = "";
  let wasIn = false; // whether one was writing when a message came, which may replace several panels
  let isTouch = false; // a field that had the focus would open the keyboard of a phone

  const menu = () => document.getElementById("menu"); // null for somebody who watches
  const opener = () => menu()?.querySelector("[data-open-pantry]");
  const field = () => document.querySelector("#menu [data-pantry-search]");
  const foods = () => [...(field()?.closest("fieldset").querySelectorAll(".action") ?? [])];
  const isOpen = () => play.classList.contains(OPEN);
  const bare = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();

  function filter() {
    const wanted = bare(written.trim());
    for (const one of foods()) one.hidden = !bare(one.querySelector("[data-name]")?.textContent ?? "").includes(wanted);
  }

  function onInput({ target }) {
    if (target !== field()) return;
    written = target.value;
    filter();
  }

  function focusIn() {
    if (!isOpen() || !field()) return;
    play.querySelector('[data-panel-tab="act"]')?.click(); // on a narrow page another panel may be shown
    if (isTouch) menu().querySelector("[data-close-pantry]").focus({ preventScroll: true });
    else field().focus({ preventScroll: true });
    menu().querySelector("[data-actions]").scrollTop = 0;
  }

  function open() {
    if (!opener()) return;
    if (!isOpen()) opener().click();
    else focusIn();
  }

  function close({ focus = true } = {}) {
    if (!isOpen()) return;
    play.classList.remove(OPEN);
    opener()?.setAttribute("aria-expanded", "false");
    written = "";
    if (field()) field().value = "";
    filter();
    if (focus) opener()?.focus({ preventScroll: true });
  }

  /* Enter in the field does not send the menu's form; it goes to what was found */
  function onKey(event) {
    if (event.key === "Escape" && isOpen() && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      return close();
    }
    if (event.target === field() && event.key === "Enter") {
      event.preventDefault();
      return foods().find((one) => !one.hidden)?.control?.focus();
    }
    return isOpen() || !isKeyOf(event) ? undefined : openByKey(event);
  }

  function isKeyOf(event) {
    const key = opener()?.querySelector(".key").textContent.toLowerCase();
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat;
    return isPlain && event.key.toLowerCase() === key && !event.target.closest?.(WRITING) && document.querySelector("[data-keys-switch]")?.checked;
  }

  function openByKey(event) {
    if (!play.choosing.may()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    isTouch = false;
    open();
  }

  function onClick(event) {
    if (event.target.closest("[data-open-pantry]")) focusIn(); // menu.js has opened it
    if (event.target.closest("[data-close-pantry]")) close();
  }

  function keep() {
    const now = field();
    if (isOpen() && !now) close({ focus: false }); // something was taken
    if (!now) return;
    if (now.value !== written) now.value = written;
    if (wasIn) now.focus({ preventScroll: true });
    wasIn = false;
    filter();
  }

  play.pantry = { open };
  document.addEventListener("input", onInput);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("pointerdown", (event) => (isTouch = event.pointerType === "touch"), true);
  document.addEventListener("click", onClick);
  document.addEventListener("htmx:wsBeforeMessage", () => {
    wasIn = field() !== null && document.activeElement === field();
  });
  play.addEventListener("brigade:panels", keep);
})();
