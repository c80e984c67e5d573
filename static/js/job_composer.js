/* A leader gives jobs: one press on a job gives it to the chosen member, by a click or by a number key. After a job,
   the next member without a job is chosen; nothing else changes the choice. */
"use strict";

(() => {
  const form = document.getElementById("job-form");
  if (!form) return;

  const play = document.querySelector("[data-play]");
  const more = document.getElementById("job-more");
  const several = form.querySelector("[data-several]");
  const text = form.elements.text;
  const WRITES = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const unsent = document.getElementById("job-unsent");
  let aim = ""; // of the button that was pressed, while its job is being sent
  let number = null; // of the last job that the page has shown
  let sending = null; // a job that is on its way: its aim, words and members, as values and as words
  let isLost = false; // whether the connection broke meanwhile

  const members = () => [...form.querySelectorAll('input[name="to"]:not([type="hidden"])')].filter((one) => one.value);
  const everybody = () => form.querySelector("[data-everybody] input");
  const buttons = () => [...form.querySelectorAll("[data-aim]")];
  const given = () => document.getElementById("job_given").dataset.number;
  const isRefused = () => Boolean(document.getElementById("notice").textContent.trim()); // it says why
  const isConnected = () => document.getElementById("connection").dataset.state === "connected";
  const isFree = (one) => Boolean(document.querySelector(`#worker-${one.value} .worker-free`));

  /* jobs that all of the chosen can do, with their number keys */
  function showPossible() {
    const chosen = members().filter((one) => one.checked);
    const asked = chosen.length ? chosen : members();
    let key = 0;
    for (const button of buttons()) {
      const able = button.dataset.for.split(" ");
      button.hidden = !asked.every((one) => able.includes(one.value));
      if (!button.hidden) key += 1;
      button.querySelector("kbd").textContent = key > 9 ? "" : key;
    }
  }

  function pick(input) {
    if (!input) return;
    for (const one of members()) one.checked = one === input;
    if (everybody()) everybody().checked = everybody() === input;
    showPossible();
  }

  /* the next one without a job, after those who have just got one */
  function pickNext() {
    const all = members();
    const last = all.findLastIndex((one) => one.checked);
    if (last < 0 || several?.checked) return;
    pick([...all.slice(last + 1), ...all.slice(0, last + 1)].find(isFree));
  }

  function give(button) {
    if (button.disabled) return;
    aim = button.dataset.aim;
    form.requestSubmit();
    aim = "";
  }

  /* a job of the list goes with the button below it, not with a press on another job */
  function onConfigSend(event) {
    if (event.target === form && aim) event.detail.parameters.aim = aim;
  }

  function look() {
    const before = number;
    number = given();
    showPossible();
    if (before === null && !members().some((one) => one.checked && isFree(one))) pickNext();
    if (before !== null && number !== before) onGiven();
    else if (sending && (isRefused() || (isLost && isConnected()))) showUnsent();
  }

  function onGiven() {
    sending = null;
    unsent.hidden = true;
    if (form.elements.aim) form.elements.aim.value = "";
    pickNext();
  }

  /* a job that was not sent is kept, so that one press sends it */

  function describe() {
    const all = [...form.querySelectorAll('input[name="to"]')];
    const chosen = all.filter((one) => one.type === "hidden" || one.checked);
    const value = aim || form.elements.aim?.value || "";
    const button = buttons().find((one) => one.dataset.aim === value)?.querySelector("[data-words]");
    const option = [...(form.elements.aim?.options ?? [])].find((one) => one.value === value && value);
    return {
      aim: value,
      text: text.value,
      to: chosen.map((one) => one.value),
      names: chosen.map((one) => one.labels?.[0]?.textContent.trim() ?? form.dataset.name).join(", ") || form.dataset.everybody,
      words: [(button ?? option)?.textContent, text.value.trim()].filter(Boolean).join(": "),
    };
  }

  function onSend(event) {
    if (event.target !== form) return;
    sending = describe();
    isLost = false;
    unsent.hidden = true;
  }

  function onUnsent() {
    sending = describe();
    showUnsent();
  }

  function showUnsent() {
    const { names, words } = sending;
    isLost = false;
    unsent.hidden = false;
    unsent.querySelector("p").textContent = unsent.dataset.words.replace("{names}", () => names).replace("{job}", () => words);
  }

  function resend() {
    if (!sending) return;
    for (const one of form.querySelectorAll('input[name="to"]:not([type="hidden"])')) one.checked = sending.to.includes(one.value);
    if (!text.value.trim()) text.value = sending.text;
    aim = sending.aim;
    form.requestSubmit();
    aim = "";
    showPossible();
  }

  /* where several can be chosen, the choices are boxes to tick: none ticked is everybody */
  function onSeveral() {
    for (const one of members()) one.type = several.checked ? "checkbox" : "radio";
    everybody().closest("label").hidden = several.checked;
    everybody().disabled = several.checked;
    if (several.checked) everybody().checked = false;
    else pick(members().find((one) => one.checked) ?? everybody());
    showPossible();
  }

  /* words that are not sent stay in sight, because they go with the next job */
  function onFold() {
    if (!more.open && text.value.trim()) more.open = true;
  }

  /* a job that was not done fills the form again, for the leader to choose who gets it: not over words not sent */
  function onAgain(button) {
    const fills = !text.value.trim() || text.value === button.dataset.text;
    document.getElementById("talk-said").textContent = fills ? form.dataset.filled : form.dataset.notFilled;
    if (more) more.open = true;
    if (!fills) {
      text.focus();
      return;
    }
    if (form.elements.aim) form.elements.aim.value = button.dataset.aim;
    text.value = button.dataset.text;
    (members().find((one) => one.checked) ?? members()[0] ?? form.querySelector("[data-send]")).focus();
  }

  function onClick(event) {
    const button = event.target.closest("[data-aim], [data-again], [data-pick], [data-resend]");
    if (!button) return;
    if (button.matches("[data-resend]")) resend();
    else if (button.matches("[data-again]")) onAgain(button);
    else if (button.matches("[data-aim]")) give(button);
    else pick(document.getElementById(`job-to-${button.dataset.pick}`));
  }

  /* 1 to 9 give a job, with Shift they choose who gets it; not where digits are typed or mean something else */
  function onKey(event) {
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1] ?? /^[1-9]$/.exec(event.key)?.[0];
    if (!digit || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || event.target.closest?.(WRITES)) return; // shifted keys of a row may be other signs
    if (!document.querySelector("[data-keys-switch]").checked || play.choosing.chosen()?.closest("[data-amount]")) return;
    event.preventDefault();
    if (event.shiftKey) pick(members()[digit - 1]);
    else buttons().filter((button) => !button.hidden).slice(0, 9)[digit - 1]?.click();
  }

  showPossible();
  more?.addEventListener("toggle", onFold);
  several?.addEventListener("change", onSeveral);
  form.addEventListener("change", showPossible);
  document.addEventListener("htmx:wsConfigSend", onConfigSend);
  document.addEventListener("htmx:wsAfterSend", onSend);
  document.addEventListener("htmx:wsAfterMessage", look);
  document.addEventListener("brigade:connection", () => (isLost ||= !isConnected()), true);
  form.addEventListener("brigade:unsent", onUnsent);
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
})();
