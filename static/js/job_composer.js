/* A leader gives jobs: one press on a job gives it to the chosen member, by a click or by a number key. After a job,
   the next member without a job is chosen; nothing else changes the choice. A job that the server has not
   acknowledged is listed as not sent, until it arrives, is sent again, or is removed. */
"use strict";

(() => {
  const form = document.getElementById("job-form");
  if (!form) return;

  const play = document.querySelector("[data-play]");
  const more = document.getElementById("job-more");
  const several = form.querySelector("[data-several]");
  const text = form.elements.text;
  const WRITES = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  const PATIENCE = 3000; // milliseconds after which a job without an answer counts as not sent
  const unsent = document.getElementById("job-unsent");
  const line = unsent.querySelector("template");
  let aim = ""; // of the button that was pressed, while its job is being sent
  let number = null; // of the last job that the page has shown
  let again = null; // a job of the list that is being sent again
  const PLACE = `brigade-unsent ${play.getAttribute("ws-connect")}`; // kept by this tab if the page is loaded again
  const pending = []; // jobs that are on their way: their aims, words and members, as values and as words
  const kept = new Map(); // jobs that were not sent, with their lines in the list
  const arrived = new Set(); // numbers of jobs that the page has seen arrive

  const members = () => [...form.querySelectorAll('input[name="to"]:not([type="hidden"])')].filter((one) => one.value);
  const everybody = () => form.querySelector("[data-everybody] input");
  const buttons = () => [...form.querySelectorAll("[data-aim]")];
  const given = () => document.getElementById("job_given").dataset.number;
  const isRefused = () => Boolean(document.getElementById("notice").textContent.trim()); // it says why
  const isConnected = () => play.connection.reached();
  const isFree = (one) => Boolean(document.querySelector(`#worker-${one.value} .worker-free`));

  /* jobs that all of the chosen can do, with their number keys, unless these choose actions of the menu now */
  function showPossible() {
    const inMenu = new Set([...document.querySelectorAll("#menu kbd")].map((one) => one.textContent));
    const chosen = members().filter((one) => one.checked);
    const asked = chosen.length ? chosen : members();
    let key = 0;
    for (const button of buttons()) {
      const able = button.dataset.for.split(" ");
      button.hidden = !asked.every((one) => able.includes(one.value));
      if (!button.hidden) key += 1;
      button.querySelector("kbd").textContent = key > 9 || inMenu.has(String(key)) ? "" : key;
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
    const { target, detail: { parameters } } = event;
    if (target !== form) return;
    if (aim) parameters.aim = aim;
    const job = again ?? known(describe(parameters.after));
    job.isAgain = Boolean(again);
    Object.assign(parameters, { after: job.after }, again && { aim: job.aim, text: job.text, to: job.to });
    wait(job);
  }

  function look(event) {
    const isFirst = number === null;
    number = given();
    showPossible();
    if (isFirst && !members().some((one) => one.checked && isFree(one))) pickNext();
    takeArrived();
    if (pending.length && isRefused() && event.detail.message.includes('id="notice"')) keep(pending[0]);
  }

  /* Which jobs have arrived: the page lists the last ones that this person gave. Words may differ, because
     forbidden ones are taken out. */
  function takeArrived() {
    const listed = JSON.parse(document.getElementById("job_given").dataset.own).filter((own) => !arrived.has(own.number));
    const waiting = () => [...kept.keys(), ...pending];
    for (const isSame of [(own, job) => own.text === job.text, () => true]) {
      for (const own of listed.filter((one) => !arrived.has(one.number))) {
        const fits = (job) => own.number > job.after && own.aim === job.aim && job.to.every((to) => own.to.includes(Number(to)));
        const job = waiting().find((one) => fits(one) && isSame(own, one));
        if (!job) continue;
        arrived.add(own.number);
        onArrived(job);
      }
    }
  }

  function onArrived(job) {
    const isFresh = !kept.has(job) && !job.isAgain;
    forget(job);
    if (form.elements.aim?.value === job.aim) form.elements.aim.value = "";
    if (isFresh) pickNext();
  }

  /* a job that was not sent is kept, so that one press sends it */

  function describe(after) {
    const all = [...form.querySelectorAll('input[name="to"]')];
    const chosen = all.filter((one) => one.type === "hidden" || one.checked);
    const value = aim || form.elements.aim?.value || "";
    const button = buttons().find((one) => one.dataset.aim === value)?.querySelector("[data-words]");
    const option = [...(form.elements.aim?.options ?? [])].find((one) => one.value === value && value);
    return {
      after, // the number of this person's last message before it: the server takes the same job after it once
      aim: value,
      text: text.value.trim(),
      to: chosen.map((one) => one.value).filter(Boolean),
      names: chosen.map((one) => one.labels?.[0]?.textContent.trim() ?? form.dataset.name).join(", ") || form.dataset.everybody,
      words: [(button ?? option)?.textContent, text.value.trim()].filter(Boolean).join(": "),
    };
  }

  /* the same job once more is the earlier one, if that was not sent */
  function known(job) {
    const isSame = (one) => one.aim === job.aim && one.text === job.text && String(one.to) === String(job.to);
    return [...pending, ...kept.keys()].find(isSame) ?? job;
  }

  function forget(job) {
    kept.get(job)?.remove();
    kept.delete(job);
    clearTimeout(job.timer);
    if (pending.includes(job)) pending.splice(pending.indexOf(job), 1);
    unsent.hidden = !kept.size;
    store();
  }

  function store() {
    const jobs = [...kept.keys(), ...pending].map(({ timer, ...job }) => job);
    try {
      if (jobs.length) sessionStorage.setItem(PLACE, JSON.stringify(jobs));
      else sessionStorage.removeItem(PLACE);
    } catch { /* nothing can be stored in this browser */ }
  }

  function restore() {
    try {
      const names = Object.keys(sessionStorage).filter((name) => name.startsWith("brigade-unsent ") && name !== PLACE);
      for (const name of names) sessionStorage.removeItem(name); // of earlier episodes
      for (const job of JSON.parse(sessionStorage.getItem(PLACE) ?? "[]")) keep(job);
    } catch { /* as above */ }
  }

  function wait(job) {
    forget(job);
    pending.push(job);
    store();
    job.timer = setTimeout(() => keep(job), PATIENCE);
  }

  function keep(job) {
    forget(job);
    const [row] = line.content.cloneNode(true).children;
    const words = unsent.dataset.words.replace("{names}", () => job.names).replace("{job}", () => job.words);
    row.querySelector("p").textContent = words;
    for (const button of row.querySelectorAll("button")) button.setAttribute("aria-label", `${button.textContent}: ${job.words}`);
    row.querySelector("[data-resend]").addEventListener("click", () => resend(job));
    row.querySelector("[data-remove]").addEventListener("click", () => remove(job));
    kept.set(job, row);
    store();
    unsent.append(row);
    unsent.hidden = false;
    if (text.value.trim() === job.text) text.value = ""; // else it would go with the next job, too
    document.getElementById("talk-said").textContent = words;
  }

  function onUnsent(event) {
    keep(known(describe(event.detail.after)));
  }

  function onConnection() {
    if (!isConnected()) for (const job of [...pending]) keep(job);
  }

  /* with the number that it had before, so that the server does not take it twice */
  function resend(job) {
    if (!isConnected()) {
      form.parentElement.querySelector("[data-held]").hidden = false;
      return;
    }
    again = job;
    form.noValidate = true; // its box may be empty
    form.requestSubmit();
    form.noValidate = false;
    again = null;
    document.getElementById("job-title").focus({ preventScroll: true });
  }

  function remove(job) {
    forget(job);
    document.getElementById("job-title").focus({ preventScroll: true });
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
    const button = event.target.closest("[data-aim], [data-again], [data-pick]");
    if (!button) return;
    if (button.matches("[data-again]")) onAgain(button);
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

  restore();
  showPossible();
  more?.addEventListener("toggle", onFold);
  several?.addEventListener("change", onSeveral);
  form.addEventListener("change", showPossible);
  document.addEventListener("htmx:wsConfigSend", onConfigSend);
  document.addEventListener("htmx:wsAfterMessage", look);
  document.addEventListener("brigade:connection", onConnection, true);
  form.addEventListener("brigade:unsent", onUnsent);
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
})();
