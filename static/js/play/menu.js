/* The action menu: its button names what will be done, a click on an action sends it, keys choose. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const KEYS = "brigade.keys";
  const AT_ONCE = 250; // milliseconds in which an answer comes at once
  const { choosing, connection } = play;
  const state = {
    sent: null, // as we know it
    locked: 0, // the timer after which the page says that it waits
    said: null, // the line under the button while it says what was chosen, and what it said before
  };

  const menu = () => document.getElementById("menu");

  /* the submit button names what will be done */

  function submitText() {
    if (choosing.phase === "over") return SAY.over;
    if (play.classList.contains("is-elsewhere")) return SAY.elsewhere;
    if (!choosing.may()) return connection.doubted ? SAY.waitsForConnection : play.waiting.text() || SAY.playing;
    if (connection.opening) return SAY.connecting;
    if (!connection.reached()) return choosing.chosen() ? SAY.kept : SAY.notConnected;
    return choosing.chosen() ? withPlan(choosing.words(choosing.chosen())) : pressing() ? SAY.press : SAY.choose;
  }

  /* what was put together to follow goes along (plan.js) */
  function withPlan(action) {
    const number = document.querySelectorAll("[data-plan-list] > li").length;
    return number ? SAY.andThen.replace("{action}", () => action).replace("{number}", number) : action;
  }

  /* Where one press on an action sends it, the button is needed only for what keys have chosen: until then it is a line
     of text, and no button that never works. */
  const pressing = () => !choosing.asksFirst && !menu().querySelector("[data-amount]");

  function showSubmit() {
    const button = menu()?.querySelector("[data-submit]");
    if (!button || state.locked) return;
    const [may, chosen] = [choosing.may(), Boolean(choosing.chosen())];
    const text = submitText();
    if (button.textContent !== text) button.textContent = text;
    button.disabled = !(may && connection.reached());
    button.setAttribute("aria-disabled", String(may && !chosen));
    button.classList.toggle("is-set", may && chosen);
    button.classList.toggle("is-line", may && !chosen && pressing());
    play.classList.toggle("is-kept", may && chosen && !connection.reached() && !connection.opening);
    const actions = menu().querySelector("fieldset[data-actions]");
    if (actions) actions.disabled = !may;
  }

  /* No more is chosen until the answer is there; that is said only if it does not come at once. */
  function showSent() {
    if (choosing.sent === state.sent) return;
    state.sent = choosing.sent;
    clearTimeout(state.locked);
    state.locked = state.sent ? setTimeout(showLock, AT_ONCE) : 0;
    if (!state.sent) return unlock();
    if (document.activeElement === document.body || menu().contains(document.activeElement)) choosing.focus();
    return undefined;
  }

  function showLock() {
    state.locked = 0;
    play.classList.add("is-sent");
    sayChosen(state.sent.words);
    showSubmit();
  }

  function sayChosen(action) {
    const hint = menu().querySelector("[data-hint]");
    if (!hint || !action) return;
    state.said ??= [hint, hint.textContent];
    hint.textContent = SAY.chose.replace("{action}", () => action);
  }

  function unlock() {
    play.classList.remove("is-sent");
    if (state.said) state.said[0].textContent = state.said[1];
    state.said = null;
  }

  function show() {
    showSent();
    if (choosing.may()) unlock();
    showSubmit();
  }

  /* One click on an action sends it, unless that is to be asked first: then the button does. Keys only choose: their
     clicks have no detail. */

  function onAction(event) {
    const radio = event.target.closest("label")?.control;
    if (!radio || radio.name !== "command" || !event.detail || !menu().contains(radio)) return undefined;
    if (event.target !== radio) event.preventDefault();
    if (radio.disabled) return undefined;
    if (!choosing.may()) return choosing.prefer(radio) && sayChosen(choosing.words(radio));
    if (!choosing.asks(radio)) return choosing.send(radio);
    choosing.mark(radio);
    if (!event.target.matches("input:not([type=radio])")) radio.focus({ preventScroll: true }); // Enter sends it
    return undefined;
  }

  function onFold(event) {
    const fold = event.target.closest("[data-fold]");
    if (!fold) return;
    const open = play.classList.toggle(fold.dataset.fold);
    fold.setAttribute("aria-expanded", String(open));
    if (open && menu().contains(fold)) showPlayed();
  }

  /* the list of all actions lies over the foot of the page: what one plays with moves out from behind it, but not
     behind the bar, whose height depends on what it shows */
  function showPlayed(sheet = menu().closest("[data-play-area]")) {
    if (!sheet || getComputedStyle(sheet).position !== "fixed") return;
    for (const one of play.querySelectorAll("[data-stage], [data-board]")) {
      const { top, bottom } = one.getBoundingClientRect();
      const [above, below] = [top - play.querySelector(".topbar").offsetHeight, bottom - sheet.getBoundingClientRect().top];
      if (above < 0 || below > 0) scrollBy({ top: Math.min(above, Math.max(below, 0)), behavior: "instant" });
    }
  }

  /* keys: wherever the focus is but where one writes, and only if they are switched on */

  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const keysOn = () => document.querySelector("[data-keys-switch]")?.checked;

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !choosing.may()) return;
    if (document.querySelector("dialog[open]") || event.target.closest?.(WRITING)) return;
    if (event.key === "ArrowDown" && event.target.id === "menu-title") return chooseFirst(event);
    const meant = keysOn() ? radiosOf(event.key.toLowerCase()) : [];
    if (meant.length === 1 && play.sendsByKey && !choosing.asks(meant[0])) return sendByKey(meant[0], event);
    if (meant.length) choose(meant[(meant.indexOf(choosing.chosen()) + 1) % meant.length], event);
    return undefined;
  }

  /* what a key means: the action it stands at, or the group; several that are shown are gone through one by one */
  function radiosOf(key) {
    const keys = [...menu().querySelectorAll("kbd")].filter((one) => one.textContent.toLowerCase() === key);
    const places = keys.map((one) => one.closest("label") || one.closest("fieldset"));
    return places.flatMap((place) => choosing.offered().filter((radio) => place.contains(radio) && !radio.closest("[hidden]")));
  }

  /* where a press acts at once, so does the key of a single action */
  function sendByKey(radio, event) {
    event.preventDefault();
    if (!event.repeat) choosing.send(radio);
  }

  function chooseFirst(event) {
    const [first] = choosing.offered();
    if (first) choose(first, event);
  }

  function choose(radio, event) {
    event.preventDefault();
    if (event.repeat) return;
    radio.closest("details")?.setAttribute("open", "");
    choosing.mark(radio);
    if (!radio.checkVisibility()) menu().querySelector("[data-fold][aria-expanded=false]")?.click();
    radio.focus();
  }

  function setKeys(on) {
    play.classList.toggle("keys-off", !on);
    try {
      localStorage.setItem(KEYS, on ? "on" : "off");
    } catch {
      /* not remembered then */
    }
  }

  function readKeys() {
    try {
      return localStorage.getItem(KEYS) !== "off";
    } catch {
      return true;
    }
  }

  for (const news of ["brigade:choice", "brigade:connection", "brigade:panels"]) play.addEventListener(news, show);
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onAction);
  document.addEventListener("click", onFold);
  document.addEventListener("change", (event) => event.target.matches("[data-keys-switch]") && setKeys(event.target.checked));
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (state.said?.[0] === event.detail.target) state.said = null;
  });

  play.menu = { showPlayed };
  const on = readKeys();
  document.querySelector("[data-keys-switch]").checked = on;
  play.classList.toggle("keys-off", !on);
  show();
})();
