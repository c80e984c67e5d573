/* Request actions from the teammate, plan own actions, and accept requests. A picker has a list for each word of an action:
   verb, thing and place. Several requested actions are sent with one message. One press accepts a request: its first
   action is sent as the choice, and the other actions become the plan. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !document.getElementById("requests")) return;

  const LONGEST = 50; // as kitchen/contract/agent.py says of plans
  const panel = () => document.getElementById("ask"); // replaced when the page connects again
  const formOf = () => panel().querySelector("[data-asks-for]");
  const word = (name) => panel().querySelector(`[data-word="${name}"]`).textContent;
  const read = (list) => JSON.parse(list ?? "[]").map(([value, text, words]) => ({ value, text, words: words.map(([code, name]) => ({ code, name })) }));
  const macros = read(panel().dataset.macros); // the teammate's
  const own = read(panel().dataset.own).map((macro) => ({ ...macro, own: true }));

  /* Things to offer: those in the kitchen, requested ones, those that earlier actions fetch, and what one job makes of them. */

  const madeWith = new Map(JSON.parse(panel().dataset.madeWith ?? "[]"));
  const now = (name) => JSON.parse(document.getElementById("ask-now")?.dataset[name] ?? "[]");
  const taken = (value) => JSON.parse(value)[0] === "pickup" ? [JSON.parse(value)[1]] : [];

  /* Sort verbs that are possible now first, and the many things to fetch last. */
  function inOrder(offered) {
    const first = now(offered[0]?.own ? "ownFirst" : "first");
    const rank = ({ words }) => (words[0].code === "fetch" ? 2 : first.includes(words[0].code) ? 0 : 1);
    return [...offered].sort((one, other) => rank(one) - rank(other));
  }

  function possible(offered, before) {
    const known = [...now("things"), ...before.flatMap(taken)];
    const things = new Set([...known, ...known.flatMap((thing) => madeWith.get(thing) ?? [])]);
    return inOrder(offered).filter(({ value, words }) => words[0].code === "fetch" || taken(value).every((thing) => things.has(thing)));
  }

  const valuesIn = (selector) => [...document.querySelectorAll(`${selector} input`)].map((input) => input.value);

  /* The picker: each list offers the words that fit the words before it. The hint's action is selected at first. */

  const pickerOf = () => formOf()?.querySelector("[data-macro-picker]");
  const chosenWords = (picker) => [...picker.querySelectorAll("select")].map((select) => select.value);
  const fits = (macro, codes) => codes.every((code, place) => macro.words[place]?.code === code);

  function show(picker, offered, codes, wanted) {
    const place = codes.length;
    const known = offered.filter((macro) => fits(macro, codes) && macro.words.length > place);
    const options = new Map(known.map((macro) => [macro.words[place].code, macro.words[place].name]));
    if (!options.size) return;
    const select = document.createElement("select");
    select.setAttribute("aria-label", `${picker.getAttribute("aria-label")} ${place + 1}`);
    for (const [code, name] of options) select.add(new Option(name, code));
    const first = known.find((macro) => fits(macro, [...codes, wanted[place]])) ?? known.find((macro) => now("hinted").includes(macro.value));
    if (first) select.value = first.words[place].code;
    select.addEventListener("change", () => {
      while (select.nextSibling) select.nextSibling.remove();
      picker.dataset.touched = "";
      show(picker, offered, chosenWords(picker), []);
    });
    picker.append(select);
    show(picker, offered, chosenWords(picker), wanted);
  }

  function picked(picker, offered) {
    const codes = chosenWords(picker);
    return offered.find((macro) => macro.words.length === codes.length && fits(macro, codes));
  }

  /* Rebuild the lists if the possible actions have changed. Keep the selected words that are still possible. */
  function refill(picker, offered, wanted) {
    const made = JSON.stringify([offered.map(({ value }) => value), wanted]);
    if (picker.dataset.made === made) return;
    const focused = [...picker.children].indexOf(document.activeElement);
    const chosen = "touched" in picker.dataset ? chosenWords(picker) : (wanted?.words.map(({ code }) => code) ?? []);
    picker.dataset.made = made;
    picker.replaceChildren();
    show(picker, offered, [], chosen);
    picker.children[focused]?.focus();
  }

  function fillPicker() {
    const picker = pickerOf();
    const before = valuesIn("[data-request-list]");
    const next = now("hinted").find((value) => !before.includes(value));
    const offered = possible(macros, before);
    if (picker) refill(picker, offered, offered.find(({ value }) => value === next));
    fillPlanPicker();
  }

  /* Replace the plan's long list by a picker. The hidden list takes the picked action. */
  function fillPlanPicker() {
    const choice = document.querySelector("[data-plan-choice]");
    const known = own.filter((macro) => choice && [...choice.options].some(({ value }) => value === macro.value));
    if (!known.length) return;
    const label = document.querySelector(`label[for="${choice.id}"]`);
    let picker = choice.previousElementSibling;
    if (!choice.hidden) {
      picker = Object.assign(document.createElement("div"), { className: "macro-picker" });
      picker.setAttribute("role", "group");
      picker.setAttribute("aria-label", label.textContent);
      choice.before(picker);
      choice.hidden = true;
      label.hidden = true;
      picker.addEventListener("change", () => {
        choice.value = picked(picker, known).value;
      });
    }
    const chosen = play.choosing.chosen()?.value;
    refill(picker, possible(known, [...(chosen ? [chosen] : []), ...valuesIn("[data-plan-list]")]));
    choice.value = picked(picker, known).value;
  }

  function add(macro) {
    const list = formOf().querySelector("[data-request-list]");
    if (!macro || list.children.length >= LONGEST) return;
    const item = panel().querySelector("[data-request-item]").content.cloneNode(true);
    item.querySelector("[data-text]").textContent = macro.text;
    item.querySelector("input").value = macro.value;
    const remove = item.querySelector("[data-remove-request]");
    remove.setAttribute("aria-label", `${remove.textContent}: ${macro.text}`);
    list.append(item);
    tell("");
    if (now("hinted").length) delete pickerOf().dataset.touched; // the next one that the hint asks for
  }

  /* one press: what is picked is added, and all of the request is sent */
  function askThis() {
    if (sent?.items.some((item) => item.isConnected)) return; // until the server has answered
    add(picked(pickerOf(), macros));
    formOf().requestSubmit();
  }

  function tell(text) {
    const note = formOf().querySelector("[data-not-read]");
    note.textContent = text;
    note.hidden = !text;
  }

  function refuse(event, text) {
    event.preventDefault();
    event.stopImmediatePropagation();
    tell(text);
  }

  function onSubmit(event) {
    const form = event.target;
    if (form !== formOf()) return;
    const written = [...form.querySelectorAll('[name="text"], [name="typed"]')].some((box) => box.value.trim());
    tell("");
    if (!written && !form.querySelector('[name="requests"]')) refuse(event, word("nothing"));
  }

  /* Remove sent requests from the list when the conversation has our new message. */
  const mine = () => document.getElementById("talk")?.dataset.mine; // number of our newest message
  let sent = null; // our newest message before the sent one, and the list items that were sent
  let step = ""; // the step that was shown last

  /* Empty a text box when its text was accepted: requests as above, own actions when their step was played. */
  const menu = () => document.getElementById("menu");
  const typed = new Map(); // form id → the sent text, and its step

  function onSend(event) {
    if (event.target.matches(".refuse-form")) refused = event.target.querySelector("button").id;
    if (event.target === formOf()) sent = { mine: mine(), items: [...formOf().querySelectorAll("[data-request-list] > li")] };
    const box = event.target.elements?.typed;
    if (box) typed.set(event.target.id, { text: box.value, step: play.choosing.step });
  }

  /* The server refuses what was sent with a notice. The text then stays in its box. A request is accepted once more,
     because it may have been pressed a moment too late; not again, because a refusal can last. */
  function onNotice({ detail: { target, fragment } }) {
    if (target.id !== "notice" || !fragment.textContent.trim()) return;
    typed.delete("menu");
    if (accepting && retried !== accepting.request) {
      retried = accepting.request;
      queue = [retried, ...queue];
    }
    accepting = null;
  }

  function emptyTyped(form) {
    const box = form?.elements.typed;
    if (box && box.value === typed.get(form.id)?.text) box.value = "";
    typed.delete(form?.id);
  }

  function onMessage() {
    fillPicker();
    readAcceptAnswer();
    markAccepted();
    markNews();
    acceptNext();
    focusAfterRefusal();
    focusNew();
    const own = document.querySelector(".col-own"); // who only leads has none
    if (own && play.choosing.step !== step) own.scrollTop = 0; // a new hint, or a request
    step = play.choosing.step;
    const written = typed.get("menu");
    if (written && written.step !== play.choosing.step) emptyTyped(menu());
    if (sent === null || mine() === sent.mine) return;
    for (const item of sent.items) item.remove(); // requests that were added since stay
    sent = null;
    emptyTyped(formOf());
  }

  /* Choose the first action of the teammate's request, and plan the others. A busy person plans all of them. */
  const numberOf = (button) => button.dataset.idea ?? button.closest("[data-request]").dataset.request;

  function accept(button) {
    const { phase, step: open } = play.choosing;
    const then = JSON.parse(button.dataset.then);
    if (phase === "answer") {
      accepting = { request: numberOf(button), step: open, phase };
      play.planning.replace([button.dataset.accept, ...then.map(([value]) => value)], open);
      return;
    }
    const radio = play.choosing.radioOf(button.dataset.accept);
    if (!radio || !play.choosing.may()) return;
    const list = document.querySelector("[data-plan-list]");
    const template = document.querySelector("[data-plan-item]");
    const added = list && template ? [] : then.map(([value]) => follow(value)); // in a wait there is no list
    if (list && template) {
      list.replaceChildren();
      for (const [value, text] of then) {
        const item = template.content.cloneNode(true);
        item.querySelector("[data-text]").textContent = text;
        item.querySelector("input").value = value;
        list.append(item);
      }
    }
    accepting = { request: numberOf(button), step: open, phase };
    play.choosing.send(radio);
    play.waitOn?.after(accepting.request);
    for (const input of added) input.remove();
  }

  /* A number accepts the request that shows it. A new request takes the focus from where it is of no use, so that Enter
     accepts it. */
  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  let newestSeen = 0;

  function onKey(event) {
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat;
    const isFree = !event.target.closest?.(WRITING) && !document.querySelector("dialog[open]");
    if (!isPlain || !isFree || !document.querySelector("[data-keys-switch]")?.checked) return;
    const button = [...document.querySelectorAll("#requests [data-key]:not(:disabled)")].find((one) => one.dataset.key === event.key && one.checkVisibility());
    if (!button) return;
    event.preventDefault();
    press(button);
  }

  /* While one request is carried out, others and own ideas can be put next. So is what was pressed a moment too late. What
     cannot begin when it is its turn stays in the queue, and lets the others pass. */
  let queue = []; // the requests (by number) and ideas (by key) that are accepted as soon as they can be, in this order
  let retried = ""; // the number of the request that was refused and accepted once more, until something is pressed

  const acceptable = () => [...document.querySelectorAll("#requests [data-key], #ideas [data-idea]")];
  const isLater = (button) => "later" in button.dataset; // the server lets nobody accept it now

  function press(button) {
    const number = numberOf(button);
    if (accepting?.request === number) return; // pressed twice
    const isOnItsWay = play.choosing.phase === "choose" && !play.choosing.may(); // something else
    retried = "";
    if (queue.includes(number)) queue = queue.filter((one) => one !== number);
    else if (isLater(button) || isOnItsWay) putNext(number);
    else accept(button);
    markNext();
  }

  /* A step that waits for an answer goes on: to put it next is the answer. */
  function putNext(number) {
    queue.push(number);
    if (play.choosing.phase === "answer") document.getElementById("pass-turn")?.click();
  }

  function markNext() {
    const isBusy = document.querySelector("#requests .is-accepted") !== null && !play.classList.contains("is-over");
    for (const button of acceptable()) {
      const isNext = queue.includes(numberOf(button));
      const canQueue = (isNext || isBusy) && play.choosing.phase !== "over";
      if (button.disabled && canQueue) {
        button.disabled = false;
        button.dataset.later = "";
      } else if (isLater(button) && !canQueue) {
        if (button === document.activeElement) play.choosing.focus();
        button.disabled = true;
        delete button.dataset.later;
      }
      if (isNext || isLater(button)) button.setAttribute("aria-pressed", String(isNext));
      else button.removeAttribute("aria-pressed");
    }
    return isBusy;
  }

  function acceptNext() {
    const isBusy = markNext();
    if (!queue.length || isBusy || !play.choosing.may()) return;
    const buttons = queue.map((number) => acceptable().find((button) => numberOf(button) === number)).filter(Boolean);
    const first = buttons.find((button) => !isLater(button) && !button.disabled);
    queue = buttons.filter((button) => button !== first).map(numberOf); // what is done is gone
    markNext();
    if (first) accept(first);
  }

  function focusNew() {
    const open = [...document.querySelectorAll("#requests [data-key]:not(:disabled)")];
    const number = Math.max(newestSeen, ...open.map((button) => button.closest("[data-request]").dataset.request));
    if (number === newestSeen) return;
    newestSeen = number;
    const isIdle = [document.body, document.getElementById("menu-title"), null].includes(document.activeElement);
    if (isIdle && play.choosing.may()) open[0].focus({ preventScroll: true, focusVisible: false });
  }

  let refused = ""; // the button that refused a request, until it is gone

  function focusAfterRefusal() {
    if (!refused || document.getElementById(refused)) return;
    refused = "";
    if (document.activeElement !== document.body) return;
    const next = document.querySelector("#requests :is([data-key], .refuse):not(:disabled)");
    if (next) next.focus({ preventScroll: true });
    else play.choosing.focus();
  }

  /* Send a command along with the next choice, to follow it. */
  function follow(value) {
    const input = Object.assign(document.createElement("input"), { type: "hidden", name: "then", value });
    menu().append(input);
    return input;
  }

  /* Mark a request as accepted when the server has taken the choice, until this person chooses again: from then on the
     server says how it stands. It can be accepted again if the plan was dropped. */
  const accepted = new Map(); // request → its step
  let accepting = null; // the pressed request and its step, until the server answers

  function readAcceptAnswer() {
    if (!accepting || (play.choosing.step === accepting.step && play.choosing.phase === accepting.phase)) return;
    accepted.set(accepting.request, accepting.step);
    accepting = null;
  }

  function markAccepted() {
    for (const [request, step] of accepted) if (play.choosing.may() && play.choosing.step !== step) accepted.delete(request);
    for (const card of document.querySelectorAll("#requests [data-request]")) {
      const note = card.querySelector("[data-accepted]"); // none on a card that is done
      const on = note !== null && (note.dataset.accepted === "underway" || accepted.has(card.dataset.request));
      card.classList.toggle("is-accepted", on);
      if (note) note.hidden = !on;
    }
  }

  /* Keep what was picked or written when a new connection sends the panel again. */
  function keep(event) {
    const { target, fragment } = event.detail;
    if (target.id !== "ask" || !formOf() || fragment.firstElementChild.dataset.macros !== target.dataset.macros) return;
    const state = fragment.querySelector("i#ask-now"); // the only part of it that changes
    if (state) document.getElementById("ask-now").replaceWith(state);
    event.detail.shouldSwap = false;
    event.stopImmediatePropagation(); // panels.js would move what is equal into the new panel
  }

  /* On a narrow page, show one panel below the kitchen. Mark the tabs of the others if they have something new. */

  const tabs = [...document.querySelectorAll("[data-panel-tab]")];
  const newest = { act: "0", talk: "" }; // the newest entry when the panel was shown last
  const shown = () => play.dataset.panel ?? "act";
  const news = {
    act: () => String(Math.max(0, ...[...document.querySelectorAll("#requests [data-request]")].map((card) => card.dataset.request))),
    talk: () => document.querySelector("#talk .said:last-child")?.id ?? "",
  };

  function markNews() {
    for (const tab of tabs) {
      const name = tab.dataset.panelTab;
      if (!news[name]) continue;
      if (name === shown()) newest[name] = news[name]();
      tab.querySelector(".news-dot").hidden = newest[name] === news[name]();
    }
  }

  function showPanel(name) {
    play.dataset.panel = name;
    if (name === "ask" && document.querySelector(".ask-fold")) document.querySelector(".ask-fold").open = true;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.panelTab === name));
    markNews();
  }

  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-panel-tab]");
    if (tab) showPanel(tab.dataset.panelTab);
    const accepted = event.target.closest("[data-accept]");
    if (accepted) press(accepted);
    if (event.target.closest("[data-ask-this]")) askThis();
    if (event.target.closest("[data-add-request]")) add(picked(pickerOf(), macros));
    if (event.target.closest("[data-remove-request]")) {
      event.target.closest("li").remove();
      formOf().querySelector("[data-add-request]").focus();
    }
    if (event.target.closest("[data-ask-this], [data-add-request], [data-remove-request], [data-plan-add], [data-plan-remove]")) fillPicker();
  });
  fillPicker();
  markNews();
  play.addEventListener("brigade:choice", fillPlanPicker);
  play.addEventListener("brigade:panels", () => { /* the end stands where the actions stood */
    if (play.classList.contains("is-over")) return;
    if (document.querySelector("#over.is-over")) showPanel("act");
  });
  document.addEventListener("input", (event) => {
    if (event.target.form === formOf()) tell("");
  });
  document.addEventListener("htmx:oobBeforeSwap", keep, true);
  document.addEventListener("htmx:oobBeforeSwap", onNotice);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:wsAfterSend", onSend);
  document.addEventListener("htmx:wsAfterMessage", onMessage);
})();
