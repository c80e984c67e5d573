/* Asking the teammate for actions: a picker of verb, thing and place, several in a row, sent with one message; and
   accepting what the teammate asks for, which then is one's choice and plan. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const form = document.querySelector("[data-asks-for]");
  const box = () => document.getElementById("requests");
  if (!play || !box()) return;

  const LONGEST = 50; // as kitchen/contract/agent.py says of plans
  const ask = document.getElementById("ask");
  const word = (name) => ask.querySelector(`[data-word="${name}"]`).textContent;
  const macros = form ? JSON.parse(ask.querySelector("[data-macros]").textContent).map(([value, text, words]) => ({ value, text, words: words.map(([code, name]) => ({ code, name })) })) : [];

  /* the picker: a list for each word, with what fits the words before it */

  const picker = form?.querySelector("[data-macro-picker]");
  const chosenWords = () => [...picker.querySelectorAll("select")].map((select) => select.value);
  const fits = (macro, codes) => codes.every((code, place) => macro.words[place]?.code === code);

  function show(codes) {
    const known = macros.filter((macro) => fits(macro, codes));
    const place = codes.length;
    const options = new Map(known.filter((macro) => macro.words.length > place).map((macro) => [macro.words[place].code, macro.words[place].name]));
    if (!options.size) return;
    const select = document.createElement("select");
    select.setAttribute("aria-label", `${picker.getAttribute("aria-label")} ${place + 1}`);
    for (const [code, name] of options) select.add(new Option(name, code));
    select.addEventListener("change", () => {
      while (select.nextSibling) select.nextSibling.remove();
      show(chosenWords());
    });
    picker.append(select);
    show(chosenWords());
  }

  function add(macro) {
    const list = form.querySelector("[data-request-list]");
    if (!macro || list.children.length >= LONGEST) return;
    const item = ask.querySelector("[data-request-item]").content.cloneNode(true);
    item.querySelector("[data-text]").textContent = macro.text;
    item.querySelector("input").value = macro.value;
    const remove = item.querySelector("[data-remove-request]");
    remove.setAttribute("aria-label", `${remove.textContent}: ${macro.text}`);
    list.append(item);
  }

  const picked = () => macros.find((macro) => macro.words.length === chosenWords().length && fits(macro, chosenWords()));

  /* typed lines are read by the same rules: each must be one of the teammate's actions, word for word */
  function readTyped(lines) {
    for (const input of form.querySelectorAll("[data-from-typed]")) input.remove();
    for (const line of lines) {
      const macro = macros.find((one) => one.words.map(({ code }) => code).join(" ") === line);
      if (!macro) return line;
      const input = Object.assign(document.createElement("input"), { type: "hidden", name: "requests", value: macro.value });
      input.dataset.fromTyped = "";
      form.append(input);
    }
    return "";
  }

  function tell(text) {
    const note = form.querySelector("[data-not-read]");
    note.textContent = text;
    note.hidden = !text;
  }

  function refuse(event, text) {
    event.preventDefault();
    event.stopImmediatePropagation();
    tell(text);
  }

  function onSubmit(event) {
    if (event.target !== form) return;
    const typed = form.querySelector("[data-typed-macros]");
    const lines = (typed?.value ?? "").split("\n").map((line) => line.trim().replace(/\s+/g, " ")).filter(Boolean);
    const wrong = typed ? readTyped(lines) : "";
    tell("");
    if (wrong) refuse(event, `${word("unknown")} ${wrong}`);
    else if (!form.querySelector('[name="text"]').value.trim() && !form.querySelector('[name="requests"]')) refuse(event, word("nothing"));
  }

  /* what was sent leaves the list when it is there: the conversation then has a new message of ours */
  const mine = () => document.getElementById("talk")?.dataset.mine;
  let sent = null;

  function onSend(event) {
    if (event.target === form) sent = mine();
  }

  function onMessage() {
    if (sent === null || mine() === sent) return;
    sent = null;
    form.querySelector("[data-request-list]")?.replaceChildren();
    const typed = form.querySelector("[data-typed-macros]");
    if (typed) typed.value = "";
    for (const input of form.querySelectorAll("[data-from-typed]")) input.remove();
  }

  /* the teammate's request becomes one's own choice, and what follows it one's plan */
  function accept(button) {
    const radio = play.choosing.radioOf(button.dataset.accept);
    if (!radio) return;
    play.choosing.mark(radio);
    const list = document.querySelector("[data-plan-list]");
    const template = document.querySelector("[data-plan-item]");
    if (list && template) {
      list.replaceChildren();
      for (const [value, text] of JSON.parse(button.dataset.then)) {
        const item = template.content.cloneNode(true);
        item.querySelector("[data-text]").textContent = text;
        item.querySelector("input").value = value;
        list.append(item);
      }
      const fold = document.getElementById("plan-fold");
      if (fold) fold.open = true;
    }
    document.querySelector("[data-submit]")?.focus();
  }

  document.addEventListener("click", (event) => {
    const accepted = event.target.closest("[data-accept]");
    if (accepted) accept(accepted);
    if (event.target.closest("[data-add-request]")) add(picked());
    if (event.target.closest("[data-remove-request]")) event.target.closest("li").remove();
  });
  if (!form) return;
  if (picker) show([]);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:wsAfterSend", onSend);
  document.addEventListener("htmx:wsAfterMessage", onMessage);
})();
