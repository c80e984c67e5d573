/* Questions that hold the game, and the slider beside it. When a question appears, the focus goes to it, and afterwards
   back to where it was. What was typed stays until the server has it (panels.js: `isSameQuestion`). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const OFTEN = 1000; // milliseconds between two values of the slider that are sent
  const { choosing, connection } = play;
  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  let socket = null;
  let asked = ""; // the step whose question is shown
  let before = null; // what had the focus then

  /* questions */

  const panel = () => document.getElementById("probe");

  /* the focus goes to where it was, or to the game */
  function giveBack(focused) {
    const back = focused?.isConnected && focused !== document.body ? focused : document.getElementById(focused?.id);
    if (back) back.focus({ preventScroll: true });
    else choosing.focus();
  }

  function showSlider(box) {
    const [range, value] = box.querySelectorAll("input");
    if ("ready" in range.dataset) return;
    range.dataset.ready = "yes";
    range.setCustomValidity(box.dataset.asks);
    const answer = () => {
      value.value = range.value;
      range.setCustomValidity("");
      range.removeAttribute("aria-valuetext");
      box.classList.remove("unanswered");
    };
    range.addEventListener("input", answer);
    range.addEventListener("pointerup", answer); // pressed where it is already
  }

  function look() {
    const now = panel()?.dataset.step ?? "";
    if (now === asked) return;
    const isNew = now !== "" && asked === "";
    asked = now;
    play.classList.toggle("is-probing", now !== "");
    if (now) {
      for (const box of panel().querySelectorAll("[data-probe-slider]")) showSlider(box);
      if (isNew) before = document.activeElement;
      document.getElementById("probe-title").focus({ preventScroll: true });
    } else {
      giveBack(before);
      before = null;
    }
  }

  /* without a connection nothing is sent, and nothing is lost */
  function onSubmit(event) {
    if (!event.target.matches("[data-probe-form]")) return;
    const reached = connection.reached();
    event.target.querySelector("[data-probe-unsent]").textContent = reached ? "" : SAY.notConnected;
    if (reached) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /* keys in a question are not keys of the game */
  function onKey(event) {
    const { target, key } = event;
    if (!target.closest?.("#probe, [data-rating-slider]")) return;
    event.stopPropagation();
    if (target === slider && pressed) event.preventDefault(); // a key of the game that is still down rates nothing
    if (target.type !== "range" || key !== " ") return;
    event.preventDefault(); // the value at which the slider is already
    target.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /* the slider */

  const box = play.querySelector("[data-rating-slider]");
  const slider = box?.querySelector("input");
  const rating = { at: 0, timer: null, sent: null };
  let pressed = null; // what had the focus when the pointer went down on the slider

  function send() {
    rating.timer = null;
    if (rating.sent === slider.value) return;
    if (!socket || !connection.reached()) {
      rating.timer = setTimeout(send, OFTEN);
      return;
    }
    rating.at = Date.now();
    rating.sent = slider.value;
    socket.send(JSON.stringify({ type: "slider", value: Number(slider.value) }));
  }

  function rate() {
    box.classList.remove("unanswered");
    slider.removeAttribute("aria-valuetext");
    rating.timer ??= setTimeout(send, Math.max(0, rating.at + OFTEN - Date.now()));
  }

  /* Who rates with the pointer has the keys for the game again; who came by Tab keeps the slider. */

  function press() {
    const { activeElement: here } = document;
    pressed = here === slider ? document.body : here;
  }

  function release() {
    if (!pressed) return;
    const back = asked ? document.getElementById("probe-title") : pressed;
    pressed = null;
    setTimeout(() => document.activeElement === slider && giveBack(back)); // a click on its label has focused it by then
  }

  box?.addEventListener("pointerdown", press);
  for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, release, true);
  slider?.addEventListener("input", rate);
  slider?.addEventListener("pointerup", rate);
  document.addEventListener("htmx:wsOpen", (event) => (socket = event.detail.socketWrapper));
  document.addEventListener("submit", onSubmit, true);
  window.addEventListener("keydown", onKey, true);
  play.addEventListener("brigade:panels", look);
  look();
})();
