/* Asking the teammate for actions: a picker of verb, thing and place, several in a row, sent with one message; and
   accepting what the teammate asks for, which then is one's choice and plan. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !document.getElementById("requests")) return;

  const LONGEST = 50; // as kitchen/contract/agent.py says of plans
  const panel = () => document.getElementById("ask"); // comes anew when the page is connected again
  const formOf = () => panel().querySelector("[data-asks-for]");
  const word = (name) => panel().querySelector(`[data-word="${name}"]`).textContent;
  const macros = JSON.parse(panel().dataset.macros ?? "[]").map(([value, text, words]) => ({ value, text, words: words.map(([code, name]) => ({ code, name })) }));

  /* the picker: a list for each word, with what fits the words before it */

  const pickerOf = () => formOf()?.querySelector("[data-macro-picker]");
  const chosenWords = (picker) => [...picker.querySelectorAll("select")].map((select) => select.value);
  const fits = (macro, codes) => codes.every((code, place) => macro.words[place]?.code === code);

  function show(picker, codes) {
    const place = codes.length;
    const known = macros.filter((macro) => fits(macro, codes) && macro.words.length > place);
    const options = new Map(known.map((macro) => [macro.words[place].code, macro.words[place].name]));
    if (!options.size) return;
    const select = document.createElement("select");
    select.setAttribute("aria-label", `${picker.getAttribute("aria-label")} ${place + 1}`);
    for (const [code, name] of options) select.add(new Option(name, code));
    select.addEventListener("change", () => {
      while (select.nextSibling) select.nextSibling.remove();
      show(picker, chosenWords(picker));
    });
    picker.append(select);
    show(picker, chosenWords(picker));
  }

  function fillPicker() {
    const picker = pickerOf();
    if (picker && !picker.children.length) show(picker, []);
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
  }

  function picked() {
    const codes = chosenWords(pickerOf());
    return macros.find((macro) => macro.words.length === codes.length && fits(macro, codes));
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

  /* what was sent leaves the list when it is there: the conversation then has a new message of ours */
  const mine = () => document.getElementById("talk")?.dataset.mine;
  let sent = null;

  /* what was typed leaves its box when it was taken: requests as above, one's own actions when their step was played */
  const menu = () => document.getElementById("menu");
  const typed = new Map(); // by form: the text that was sent, and the step it was for

  function onSend(event) {
    if (event.target === formOf()) sent = mine();
    const box = event.target.elements?.typed;
    if (box) typed.set(event.target.id, { text: box.value, step: menu()?.elements.step.value });
  }

  function emptyTyped(form) {
    const box = form?.elements.typed;
    if (box && box.value === typed.get(form.id)?.text) box.value = "";
    typed.delete(form?.id);
  }

  function onMessage() {
    fillPicker();
    if (typed.has("menu") && typed.get("menu").step !== menu()?.elements.step.value) emptyTyped(menu());
    if (sent === null || mine() === sent) return;
    sent = null;
    const form = formOf();
    form.querySelector("[data-request-list]")?.replaceChildren();
    emptyTyped(form);
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
  fillPicker();
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:wsAfterSend", onSend);
  document.addEventListener("htmx:wsAfterMessage", onMessage);
})();
