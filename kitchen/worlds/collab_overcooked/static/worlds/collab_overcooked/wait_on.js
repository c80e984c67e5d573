/* Wait for the teammate: one press of the button or of the key W, and the cook waits step after step until there is
   something to do, or until any key or press stops it. An action that leaves nothing to do goes over into the wait by
   itself: a request of the teammate when it is done, and others while the teammate or a utensil works. The server says in
   #wait-on what has happened; what is newer than at the press ends the wait. What has ended it is written beside the button. It is not live: `spoken` or
   `talk-said` has said it.
   A clock at the own cook shows for how many steps it has waited. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !document.getElementById("wait-on")) return;

  const { choosing, kitchen } = play;
  const VALUE = '["wait","1"]';
  const KEY = "w";
  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const PACE = 220; // milliseconds between two steps, in which each can be seen
  const MODIFIERS = ["shift", "control", "alt", "meta", "capslock"];
  const PRESSING = ["Enter", " "];
  const state = { on: false, steps: 0, step: "", message: 0, news: 0, timer: 0, stopped: false, after: "" };
  const ACTION = "*"; // what is waited after, if it is no request
  const said = document.getElementById("wait-said-why");
  const clock = document.querySelector("[data-wait-clock]");

  const panel = () => document.getElementById("wait-on");
  const known = () => ({ message: Number(panel().dataset.message), news: Number(panel().dataset.newsStep) });
  const may = () => choosing.may() && "possible" in panel().dataset; // else steps pass by themselves
  const words = (name) => panel().querySelector(`[data-${name}]`)?.textContent ?? "";

  function start() {
    state.after = "";
    if (state.on || !may()) return;
    Object.assign(state, { on: true, steps: 0, step: "" }, known());
    said.textContent = "";
    step();
  }

  function stop(why = "") {
    if (!state.on) return;
    state.on = false;
    clearTimeout(state.timer);
    state.timer = 0;
    if (why) said.textContent = why;
    show();
  }

  /* one step of waiting; the amount that somebody typed beside it stays */
  function step() {
    state.timer = 0;
    const radio = choosing.radioOf(VALUE);
    if (!state.on || !radio || !choosing.may() || document.hidden) return stop();
    const field = radio.closest("[data-amount]")?.querySelector("input[type=number]");
    const typed = field?.value;
    if (field) field.value = "1";
    state.step = choosing.step;
    state.steps += 1;
    choosing.send(radio);
    if (field) field.value = typed;
    return show();
  }

  function reason() {
    const { message, news } = known();
    if (message > state.message) return words("written");
    return news > state.news ? words("news") : "";
  }

  function look() {
    if (!panel()) return;
    if (state.on) goOn();
    else if (state.after) startAfter();
    show();
  }

  /* The request with this number was accepted, or another action was sent. */
  function waitAfter(what) {
    state.after = what;
    state.message = known().message;
  }

  function startAfter() {
    if (choosing.phase === "over" || choosing.phase === "answer") state.after = "";
    if (!state.after || !may()) return; // it is carried out
    const needsNobody = state.after === ACTION ? isPending() && onlyWaits() : isDone(state.after) && !openRequest() && !openIdea();
    const { message } = known();
    if (needsNobody && message === state.message) return void start();
    state.after = "";
  }

  const openRequest = () => document.querySelector("#requests .request-card:not(.is-done, .is-accepted) [data-accept]:not(:disabled, [data-later])");
  const openIdea = () => [...document.querySelectorAll("#ideas [data-accept]:not(:disabled, [data-later])")].some((button) => button.checkVisibility());
  const mayAsk = () => document.querySelector("#quick-ask[data-docked]:not(:has(.is-asked))") !== null; // and asked for nothing
  const isDone = (number) => number.startsWith("idea") || document.querySelector(`#requests [data-request="${number}"]`)?.classList.contains("is-done");
  const onlyWaits = () => !openRequest() && choosing.offered().every(({ value }) => ["wait", "go_on"].includes(JSON.parse(value)[0]));

  /* what a wait can end with: something that runs, or the teammate who works */
  function isPending() {
    const { utensils = [], players = [] } = JSON.parse(document.getElementById("seen")?.value ?? "{}");
    const other = players[1 - (kitchen?.own() ?? 0)]?.doing;
    return utensils.some(({ left }) => left !== null) || Boolean(other && other[0] !== "wait");
  }

  function goOn() {
    if (choosing.phase === "over" || choosing.phase === "answer") return stop();
    if (reason()) return stop(reason());
    if (!may() || choosing.step === state.step || state.timer) return undefined;
    state.timer = setTimeout(step, PACE);
    return undefined;
  }

  function show() {
    const button = panel()?.querySelector("[data-wait-on]");
    play.classList.toggle("is-waiting-on", state.on);
    showClock();
    if (!button) return;
    button.disabled = !state.on && !may();
    button.classList.toggle("secondary", state.on || !may() || !onlyWaits() || openIdea() || mayAsk()); // what is left to do stands out
    button.querySelector("[data-at-rest]").hidden = state.on;
    button.querySelector("[data-running]").hidden = !state.on;
  }

  function showClock() {
    if (!clock) return; // where there is no drawing
    clock.hidden = !state.on;
    if (!state.on) return;
    clock.querySelector("text").textContent = state.steps;
    kitchen.put(clock, kitchen.at(kitchen.own()));
  }

  /* what stops the wait at the button is followed by a click, which must not begin it again */
  function onPress(event) {
    const wasOn = state.on;
    if (event.type === "keydown" && MODIFIERS.includes(event.key.toLowerCase())) return;
    state.after = "";
    stop();
    state.stopped = wasOn && presses(event);
    if (!wasOn && isKey(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      start();
    }
  }

  function presses(event) {
    const isAtButton = Boolean(event.target.closest?.("[data-wait-on]"));
    return isAtButton && (event.type === "pointerdown" || PRESSING.includes(event.key));
  }

  function isKey(event) {
    if (event.type !== "keydown" || event.key.toLowerCase() !== KEY || event.repeat) return false;
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const isFree = !event.target.closest?.(WRITING) && !document.querySelector("dialog[open]");
    return isFree && document.querySelector("[data-keys-switch]")?.checked && !document.querySelector(".typed-plan");
  }

  /* assistive technology clicks without any press before */
  function onClick(event) {
    if (!event.target.closest("[data-wait-on]")) return;
    if (state.on) return stop();
    if (!state.stopped) start();
    state.stopped = false;
  }

  document.addEventListener("pointerdown", onPress, true);
  document.addEventListener("keydown", onPress, true);
  document.addEventListener("visibilitychange", () => document.hidden && stop());
  document.addEventListener("click", onClick);
  play.addEventListener("brigade:panels", look);
  play.waitOn = { after: waitAfter };
  play.addEventListener("brigade:choice", () => {
    if (choosing.sent && !state.on && !state.after && !play.classList.contains("is-going") && JSON.parse(choosing.sent.value ?? '["wait"]')[0] !== "wait") waitAfter(ACTION);
    if (choosing.sent && !state.on) said.textContent = ""; // something else was chosen since
    show();
  });
  document.addEventListener("htmx:wsAfterMessage", () => play.classList.contains("is-elsewhere") && stop());
  show();
})();
