/* Choices with an amount ([data-amount]): a radio button and a number field. What is typed there chooses the choice,
   stays while panels are replaced, and takes the place of the last word of the command when the choice is sent. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const { choosing } = play;
  const typed = new Map(); // what was typed, by the id of the field
  let focused = ""; // the field that had the focus before a message

  const fieldOf = (radio) => radio?.closest("[data-amount]")?.querySelector("input[type=number]");
  const radioOf = (field) => field.closest("[data-amount]").querySelector("input[type=radio]");
  const isField = (element) => Boolean(element?.matches?.("[data-amount] input[type=number]"));

  /* what is said of the choice, and of the button that sends it */
  function name(field) {
    const radio = radioOf(field);
    radio.dataset.text = `${radio.parentElement.querySelector(".action-text").firstChild.textContent}: ${field.value}`;
  }

  function onInput({ target }) {
    if (!isField(target)) return;
    typed.set(target.id, target.value);
    isAllowed(target);
    name(target);
    choosing.mark(radioOf(target));
  }

  /* what is allowed is said in the page's own words, before anything is sent */
  function isAllowed(field, limits = field.closest("[data-amount]").querySelector("[data-limits]")) {
    const allowed = field.checkValidity();
    if (limits) limits.hidden = allowed;
    return allowed;
  }

  function refuse(field) {
    field.focus({ preventScroll: true });
    field.select();
  }

  /* a field that came anew has what was typed in the one before */
  function beforeSwap({ detail: { fragment } }) {
    for (const field of fragment.querySelectorAll("[data-amount] input[type=number]")) {
      if (!typed.has(field.id)) continue;
      field.value = typed.get(field.id);
      name(field);
    }
  }

  function restoreFocus() {
    if (focused && document.activeElement.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /* a digit after the letter of a choice is its amount */
  function onDigit(event) {
    if (!/^[0-9]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("input:not([type=radio]), textarea, select")) return;
    const field = fieldOf(choosing.chosen());
    if (!field) return;
    field.focus({ preventScroll: true });
    field.select(); // the digit takes the place of what is there
  }

  /* Enter sends: the fields belong to a form of their own, #amount-fields, so that one that is not chosen keeps nothing
     from being sent */
  function onKey(event) {
    if (event.key !== "Enter" || !isField(event.target)) return undefined;
    event.preventDefault();
    if (!isAllowed(event.target)) return refuse(event.target);
    choosing.mark(radioOf(event.target));
    choosing.send(radioOf(event.target));
    return undefined;
  }

  function onSubmit(event) {
    if (event.target.id === "amount-fields") event.preventDefault(); // it is never sent
    const field = event.target.id === "menu" && fieldOf(choosing.chosen());
    if (!field || isAllowed(field)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    refuse(field);
  }

  /* after choosing.js, which knows a choice by the value of its radio button */
  function onSend({ target, detail: { parameters } }) {
    const field = target.id === "menu" && parameters.command && fieldOf(choosing.chosen());
    if (!field) return;
    const command = JSON.parse(parameters.command).slice(0, -1);
    parameters.command = JSON.stringify([...command, String(Number(field.value))]);
  }

  /* The field once more, beside a button that acts elsewhere on the page (stage.js); `use` takes its amount and acts.
     `most` is a button that fills in the most. Its text is `words.useful` or `words.most` (see `mostOf`). */
  function copyOf(radio, button, act, words = {}) {
    const field = fieldOf(radio);
    if (!field) return null;
    const copy = document.createElement("input");
    for (const name of ["type", "inputmode", "form", "min", "max", "step", "required"]) copy.setAttribute(name, field.getAttribute(name));
    Object.assign(copy.dataset, field.dataset);
    copy.value = field.value;
    copy.setAttribute("aria-label", field.closest("label").textContent.trim());
    button.textContent = radio.parentElement.querySelector(".action-text").firstChild.textContent;
    const limits = field.closest("[data-amount]").querySelector("[data-limits]")?.cloneNode(true);
    const use = () => {
      if (!isAllowed(copy, limits)) {
        if (limits) copy.parentElement.append(limits);
        return refuse(copy);
      }
      field.value = copy.value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      return act();
    };
    copy.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      use();
    });
    return { field: copy, most: mostOf(copy, words), use };
  }

  /* the button fills in the amount that its world calls useful now, else the greatest that is allowed. More than the
   * useful amount may be typed, and may have more effect. */
  function mostOf(field, words) {
    const useful = field.dataset.most;
    const amount = useful ?? field.max;
    const most = document.createElement("button");
    most.type = "button";
    most.hidden = amount === field.min;
    most.textContent = ((useful ? words.useful : words.most) ?? "{n}").replace("{n}", amount);
    most.addEventListener("click", () => {
      field.value = amount;
      field.focus();
    });
    return most;
  }

  play.amounts = { copyOf };
  document.addEventListener("input", onInput);
  document.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onDigit, true);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:wsConfigSend", onSend);
  document.addEventListener("htmx:wsBeforeMessage", () => (focused = isField(document.activeElement) ? document.activeElement.id : ""));
  document.addEventListener("htmx:oobBeforeSwap", beforeSwap);
  document.addEventListener("htmx:wsAfterMessage", restoreFocus);
})();
