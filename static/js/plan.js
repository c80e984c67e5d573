/* What follows a choice: a list that goes along with it, and stopping what is left of one. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const MOST = 50; // as kitchen/contract/agent.py says
  const ASKS = "asks" in play.dataset; // whether the study has every action asked for once more
  let isOn = false; // whether somebody puts a plan together
  let socket = null;
  let looked = ""; // the step that was looked at last
  let madeHere = false; // whether the plan was put together in this list, not by one press on an action

  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
  });

  /* The list offers only what is possible after the choice and what is planned already. Commands say which facts they
     need and make (kitchen/contract/page.py). Before a choice, the place is unknown: a choice may lead anywhere. */

  const all = new WeakMap(); // list → all its commands, with the heading of each
  const pairs = (text) => (text ?? "").split(" ").filter(Boolean).map((one) => one.match(/^([^!=]+)(!?=)(.*)$/).slice(1));

  function optionsOf(choice) {
    if (!all.has(choice)) all.set(choice, [...choice.options].map((option) => ({ option, heading: option.parentElement.label ?? "" })));
    return all.get(choice);
  }

  function factsAfter(plan, known) {
    const chosen = play.choosing.chosen()?.value;
    const facts = new Map(pairs(plan.dataset.now).map(([name, , value]) => [name, value]));
    if (!chosen) facts.delete("at");
    const planned = [...plan.querySelectorAll("[data-plan-list] input")].map((input) => input.value);
    for (const value of [...(chosen ? play.choosing.commandsOf(chosen) : []), ...planned]) {
      const [verb, place] = JSON.parse(value);
      const like = ({ option }) => option.value === value || String(JSON.parse(option.value).slice(0, 2)) === String([verb, place]);
      for (const [name, , made] of pairs(known.find(like)?.option.dataset.makes)) facts.set(name, made);
    }
    return facts;
  }

  function isPossible({ option }, facts) {
    const holds = ([name, sign, value]) => !facts.has(name) || (facts.get(name) === value) === (sign === "=");
    return pairs(option.dataset.needs).every(holds);
  }

  function offer() {
    const [plan, choice] = [document.getElementById("plan"), document.querySelector("[data-plan-choice]")];
    if (!plan?.dataset.now || !choice) return;
    const known = optionsOf(choice);
    const facts = factsAfter(plan, known);
    const shown = known.filter((one) => isPossible(one, facts));
    if (String(shown.map(({ option }) => option.value)) === String([...choice.options].map((option) => option.value))) return;
    const before = choice.value;
    choice.replaceChildren(...grouped(shown));
    if (shown.some(({ option }) => option.value === before)) choice.value = before;
    else choice.selectedIndex = 0;
  }

  function grouped(shown) {
    const groups = new Map();
    for (const { option, heading } of shown) {
      if (!groups.has(heading)) groups.set(heading, Object.assign(document.createElement("optgroup"), { label: heading }));
      groups.get(heading).append(option);
    }
    return [...groups].flatMap(([heading, group]) => (heading ? [group] : [...group.children]));
  }

  function add(plan) {
    const choice = plan.querySelector("[data-plan-choice]");
    const list = plan.querySelector("[data-plan-list]");
    if (!choice.value || list.children.length >= MOST) return;
    madeHere = true;
    const item = plan.querySelector("[data-plan-item]").content.cloneNode(true);
    const text = choice.selectedOptions[0].textContent;
    item.querySelector("[data-text]").textContent = text;
    item.querySelector("input").value = choice.value;
    const remove = item.querySelector("[data-plan-remove]");
    remove.setAttribute("aria-label", `${remove.textContent}: ${text}`);
    list.append(item);
  }

  function remove(plan, item) {
    item.remove();
    plan.querySelector("[data-plan-add]").focus();
  }

  /* While somebody puts a plan together, an action is only chosen, by mouse, finger and key alike: the button sends
     it, and the plan with it. */
  function choosePlanned() {
    const on = Boolean(document.querySelector("#plan-fold[open] [data-plan-list]"));
    if (on === isOn) return;
    isOn = on;
    play.toggleAttribute("data-asks", ASKS || on);
    changed();
  }

  const changed = () => play.dispatchEvent(new Event("brigade:choice"));

  /* of the step that is open now, however late it arrives */
  function stop() {
    socket?.send(JSON.stringify({ type: "plan", then: [], step: Number(play.choosing.step) + 1 }));
  }

  /* where nothing goes on any more, the button is hidden: whoever was on it chooses again */
  function leaveStop() {
    const active = document.activeElement;
    if (active?.matches("[data-plan-stop]") && !active.checkVisibility()) play.choosing.focus();
  }

  /* A busy person's answer: these commands, as the menu writes them, instead of what is left of the plan. */
  function replace(commands, step) {
    socket?.send(JSON.stringify({ type: "plan", then: commands.map((text) => JSON.parse(text)), step: Number(step) + 1 }));
  }

  play.planning = { replace, isOn: () => isOn };

  /* a plan that has ended before its time is shown, and told once */
  function look() {
    const [plan, broken] = [document.getElementById("plan"), document.querySelector("[data-broken]")];
    if (plan.dataset.plan === looked) return;
    looked = plan.dataset.plan;
    const [fold, said] = ["plan-fold", "plan-said"].map((id) => document.getElementById(id));
    if (broken && madeHere) fold.open = true; // it is shown in the list
    if (broken) madeHere = false;
    said.textContent = broken?.textContent ?? "";
    said.classList.toggle("visually-hidden", !broken || fold.open);
  }

  /* what was put together for this step is kept where the panel comes anew with the connection */
  function keep(event) {
    const { target, fragment } = event.detail;
    const fresh = fragment.firstElementChild;
    const lists = [target, fresh].every((plan) => plan.querySelector("[data-plan-list]"));
    if (target.id !== "plan" || !lists || target.dataset.plan !== fresh.dataset.plan) return;
    event.detail.shouldSwap = false;
    event.stopImmediatePropagation(); // panels.js would move what is equal into the new panel
  }

  document.addEventListener("htmx:oobBeforeSwap", keep, true);
  document.addEventListener("htmx:wsAfterMessage", look);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-plan-stop]")) stop();
    const plan = event.target.closest("[data-plan]");
    if (!plan) return;
    if (event.target.closest("[data-plan-add]")) add(plan);
    if (event.target.closest("[data-plan-remove]")) remove(plan, event.target.closest("li"));
    changed();
  });
  document.getElementById("plan-fold")?.addEventListener("toggle", choosePlanned);
  for (const news of ["brigade:choice", "brigade:panels"]) play.addEventListener(news, offer);
  for (const follow of [choosePlanned, leaveStop]) play.addEventListener("brigade:panels", follow);
  offer();
})();
