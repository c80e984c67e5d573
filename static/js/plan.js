/* What follows a choice: a list that goes along with it, and stopping what is left of one. */
"use strict";

(() => {
  const MOST = 50; // as kitchen/contract/agent.py says
  let socket = null;
  let looked = ""; // the step that was looked at last

  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
  });

  function add(plan) {
    const choice = plan.querySelector("[data-plan-choice]");
    const list = plan.querySelector("[data-plan-list]");
    if (!choice.value || list.children.length >= MOST) return;
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

  /* of the step that is open now, however late it arrives; the panel has the number of those that are taken */
  function stop(plan) {
    socket?.send(JSON.stringify({ type: "plan", then: [], step: Number(plan.dataset.plan) + 1 }));
  }

  /* A busy person's answer: these commands, as the menu writes them, instead of what is left of the plan. */
  function replace(commands, step) {
    socket?.send(JSON.stringify({ type: "plan", then: commands.map((text) => JSON.parse(text)), step: Number(step) + 1 }));
  }

  const play = document.querySelector("[data-play]");
  if (play) play.planning = { replace };

  /* a plan that has ended before its time is shown, and told once */
  function look() {
    const [plan, broken] = [document.getElementById("plan"), document.querySelector("[data-broken]")];
    if (plan.dataset.plan === looked) return;
    looked = plan.dataset.plan;
    if (broken) document.getElementById("plan-fold").open = true;
    document.getElementById("plan-said").textContent = broken?.textContent ?? "";
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
    const plan = event.target.closest("[data-plan]");
    if (!plan) return;
    if (event.target.closest("[data-plan-add]")) add(plan);
    if (event.target.closest("[data-plan-remove]")) remove(plan, event.target.closest("li"));
    if (event.target.closest("[data-plan-stop]")) stop(plan);
  });
})();
