/* Wait for the other builder, or place what the other builder asks for: one press, and the page goes on step after step
   until there is news, or until any key or press stops it. A message also ends a stay of several steps, once. What
   counts as news is in #partner-wait (kitchen/worlds/blocks/partner_wait.py), and what is new in the menu. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const panel = () => document.getElementById("partner-wait");
  if (!play || !panel()) return;

  const { choosing } = play;
  const PACE = 350; // milliseconds between two steps, in which each can be seen
  const MOST = 30; // steps without news
  const WORK = ["build", "craft", "smelt"];
  const MODIFIERS = ["shift", "control", "alt", "meta", "capslock"];
  const said = document.getElementById("partner-wait-why");
  const state = { does: "", steps: 0, step: "", timer: 0, known: null, heard: news().message, work: news().work, stopped: "" };

  function news() {
    const { message, giftStep } = panel().dataset;
    const work = choosing.offered().map(({ value }) => value).filter((value) => WORK.includes(JSON.parse(value)[0]));
    return { message: Number(message ?? 0), gift: Number(giftStep ?? 0), work };
  }

  /* what the other builder asks for: its cells, and those of them that are empty */
  function wanted() {
    if (!panel().dataset.wanted || !play.mapBlocks?.world.now) return null;
    const [item, level, rows, columns] = JSON.parse(panel().dataset.wanted);
    const range = ([first, last]) => Array.from({ length: last - first + 1 }, (_, number) => first + number);
    const cells = range(rows).flatMap((row) => range(columns).map((column) => [column, level, row]));
    return { item, total: cells.length, free: cells.filter((at) => !play.mapBlocks.blockAt(...at)) };
  }

  function valueNow() {
    if (state.does === "wait") return panel().dataset.waitsWith;
    const asked = wanted();
    return asked?.free.length ? JSON.stringify(["place", asked.item, ...asked.free[0].map(String)]) : "";
  }

  function start(does) {
    if (state.does || !choosing.may()) return;
    Object.assign(state, { does, steps: 0, step: "", known: news() });
    said.textContent = "";
    step();
  }

  function stop(why = "") {
    if (!state.does) return;
    clearTimeout(state.timer);
    Object.assign(state, { does: "", timer: 0 });
    if (why) said.textContent = panel().querySelector(`[data-${why}]`)?.textContent ?? "";
    show();
  }

  function step() {
    state.timer = 0;
    const value = state.does && panel().dataset.waitsWith ? valueNow() : "";
    if (!value || !choosing.may() || document.hidden) return stop();
    if (!choosing.radioOf(value)) play.cellActions.add(value);
    const radio = choosing.radioOf(value);
    if (!radio) return stop();
    Object.assign(state, { step: choosing.step, steps: state.steps + 1 });
    choosing.send(radio);
    return show();
  }

  function reason() {
    const { message, gift, work } = news();
    if (message > state.known.message) return "written";
    if (state.does !== "wait") return "";
    if (gift > state.known.gift) return "given";
    if (choosing.may() && panel().dataset.waitsWith && work.some((one) => !state.known.work.includes(one))) return "new-work";
    return state.steps >= MOST ? "long" : "";
  }

  function look() {
    if (!panel()) return;
    endStay();
    showNewWork();
    if (state.does) goOn();
    show();
  }

  /* what can be done since this step is not left above the sight of a list that keeps its place */
  function showNewWork() {
    const { work } = news();
    if (!choosing.may()) return;
    if (work.some((one) => !state.work.includes(one))) document.getElementById("menu-actions")?.scrollTo(0, 0);
    state.work = work;
  }

  function goOn() {
    if (["over", "answer"].includes(choosing.phase)) return stop();
    const why = reason();
    if (why) return stop(why);
    if (!panel().dataset.waitsWith || !choosing.may() || choosing.step === state.step || state.timer) return undefined;
    state.timer = setTimeout(step, PACE);
    return undefined;
  }

  /* what came before the stay, or was heard in it, does not end it */
  function endStay() {
    const { message } = news();
    const isNew = message > state.heard;
    const radio = isNew && "isStaying" in panel().dataset && choosing.radioOf('["stop"]');
    if (radio && !choosing.may()) return; // with the next panels
    state.heard = message;
    if (!radio) return;
    choosing.send(radio);
    said.textContent = panel().querySelector("[data-written]").textContent;
  }

  function show() {
    for (const [name, does] of [["[data-wait-on]", "wait"], ["[data-do-wanted]", "place"]]) {
      const button = panel().querySelector(name);
      if (!button) continue;
      const isOn = state.does === does;
      button.disabled = !isOn && !(panel().dataset.waitsWith && choosing.may());
      button.querySelector("[data-at-rest]").hidden = isOn;
      button.querySelector("[data-running]").hidden = !isOn;
    }
    showWanted();
  }

  function showWanted() {
    const words = panel().querySelector("[data-wanted-words]");
    if (!words) return;
    const asked = wanted();
    const text = asked ? words.dataset.wantedWords.replace("{built}", asked.total - asked.free.length).replace("{total}", asked.total) : "";
    if (words.textContent !== text) words.textContent = text;
    words.hidden = !asked;
    panel().querySelector("[data-do-wanted]").hidden = !asked?.free.length;
  }

  /* what stops it does nothing else at the button, which would begin it again */
  function onPress(event) {
    if (event.type === "keydown" && MODIFIERS.includes(event.key.toLowerCase())) return;
    state.stopped = state.does;
    stop();
  }

  function onClick(event) {
    const button = event.target.closest("[data-wait-on], [data-do-wanted]");
    if (button && panel().contains(button)) {
      const does = button.matches("[data-wait-on]") ? "wait" : "place";
      if (state.does) stop();
      else if (state.stopped !== does) start(does);
    }
    state.stopped = "";
  }

  document.addEventListener("pointerdown", onPress, true);
  document.addEventListener("keydown", onPress, true);
  document.addEventListener("click", onClick);
  document.addEventListener("visibilitychange", () => document.hidden && stop());
  document.addEventListener("htmx:wsAfterMessage", () => play.classList.contains("is-elsewhere") && stop());
  play.addEventListener("brigade:panels", look);
  play.addEventListener("brigade:choice", () => {
    if (choosing.sent && !state.does && JSON.parse(choosing.sent.value)[0] !== "stop") said.textContent = "";
    show();
  });
  play.partnerWait = { askedCells: () => wanted()?.free ?? [] };
  show();
})();
