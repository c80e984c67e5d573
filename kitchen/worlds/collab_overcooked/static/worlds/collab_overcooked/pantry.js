/* The field that finds food in the pantry of the menu: what does not fit is hidden. The pantry comes anew with each step,
   and what was written stays. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play?.querySelector(".is-collab")) return;

  let written = "";
  let wasIn = false; // whether one was writing when a message came, which may replace several panels

  const field = () => document.querySelector("#menu [data-pantry-search]");
  const bare = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  const fitting = () => [...field().closest("fieldset").querySelectorAll(".action")].filter((one) => !one.hidden);

  function filter() {
    const wanted = bare(written.trim());
    for (const one of field()?.closest("fieldset").querySelectorAll(".action") ?? []) {
      one.hidden = !bare(one.querySelector("[data-name]")?.textContent ?? "").includes(wanted);
    }
  }

  function onInput({ target }) {
    if (target !== field()) return;
    written = target.value;
    filter();
  }

  /* Enter does not send the menu's form; it goes to what was found */
  function onKey(event) {
    if (event.target !== field() || event.key !== "Enter") return;
    event.preventDefault();
    fitting()[0]?.control?.focus();
  }

  function keep() {
    const now = field();
    if (!now) return;
    if (now.value !== written) now.value = written;
    if (wasIn) now.focus({ preventScroll: true });
    wasIn = false;
    filter();
  }

  document.addEventListener("input", onInput);
  document.addEventListener("keydown", onKey);
  document.addEventListener("htmx:wsBeforeMessage", () => {
    wasIn = field() !== null && document.activeElement === field();
  });
  play.addEventListener("brigade:panels", keep);
})();
