/* Annotation on the replay: the fields follow the step that is shown, keys press the buttons of codes, and what
   was done is said to screen readers. Notes that are not saved yet stay when the part is sent again. */
"use strict";

(() => {
  const part = document.getElementById("annotation-part");
  const slider = document.getElementById("replay-step");
  if (!part || !slider) return;

  const said = document.getElementById("annotation-said");
  const keys = document.getElementById("annotation-keys");
  const KEYS_OFF = "annotation-keys-off";
  const state = { begin: 0, followed: "", notes: new Map() };
  const field = (name) => part.querySelector(`[data-annotated=${name}]`);
  const notes = () => [...part.querySelectorAll("[name=note]")];

  /* the step that is marked: the one that is played next, or the last one */
  const marked = () => Math.min(Number(slider.value) + 1, Number(slider.max));

  function follow() {
    state.followed = slider.value;
    for (const one of part.querySelectorAll("[data-annotated=step]")) one.value = slider.value;
    if (!field("first")) return;
    field("first").value = state.begin || marked();
    field("last").value = marked();
    const button = part.querySelector("[data-begin]");
    button.hidden = false;
    button.setAttribute("aria-pressed", String(Boolean(state.begin)));
  }

  function begin() {
    if (!field("first")) return;
    state.begin = state.begin ? 0 : marked();
    said.textContent = state.begin ? said.dataset.begun.replace("0", state.begin) : said.dataset.dropped;
    follow();
  }

  function press(button) {
    if (button) button.click();
    return Boolean(button);
  }

  function pressed(key) {
    if (state.followed !== slider.value) follow(); // the step may not be drawn yet
    if (key === ",") begin();
    else if (key === "Escape" && state.begin) begin();
    else if (key === "Backspace") return press(part.querySelector("[data-undo]"));
    else return /^[a-z]$/i.test(key) && press(part.querySelector(`[data-code-key=${key.toLowerCase()}]`));
    return true;
  }

  const OWN = "input:not([type=range], [type=checkbox]), select, textarea, [contenteditable]";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keys.checked || event.repeat) return;
    if (event.target.closest?.(OWN)) return;
    if (pressed(event.key)) event.preventDefault();
  });

  part.addEventListener("click", (event) => {
    if (event.target.closest("[data-begin]")) begin();
    if (event.target.closest("[name=mark], [name=remove]")) {
      state.notes.delete(event.target.closest("form").querySelector("[name=note]").id);
    }
  });
  part.addEventListener("input", (event) => {
    if (event.target.name === "note") state.notes.set(event.target.id, event.target.value);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target !== part) return;
    said.textContent = part.querySelector("[data-said]")?.dataset.said ?? "";
    if (said.textContent) state.begin = 0;
    for (const one of notes()) if (state.notes.has(one.id)) one.value = state.notes.get(one.id);
    follow();
  });
  for (const wrong of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(wrong, () => {
      said.textContent = said.dataset.failed;
      for (const one of notes()) if (one.value !== one.defaultValue) state.notes.set(one.id, one.value);
    });
  }
  window.addEventListener("beforeunload", (event) => {
    if (notes().some((one) => one.value !== one.defaultValue)) event.preventDefault();
  });

  keys.checked = !localStorage.getItem(KEYS_OFF);
  keys.addEventListener("change", () => {
    if (keys.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "yes");
  });
  keys.closest("label").hidden = false;
  document.addEventListener("replay-step", follow);
  slider.addEventListener("input", follow);
  follow();
})();
