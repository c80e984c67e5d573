/* Play the plan of both cooks. *Go* asks the teammate for its steps, sends the own ones as one plan, with the waits between
   them, and goes on by itself until somebody presses *Stop*, the teammate refuses, writes or does nothing, or the kitchen is
   not as planned. Each stop ends the plan that the server has, and says why. The server checks each command as any other:
   the log has them with the plan that they came with. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const go = document.querySelector("[data-lanes-go]");
  if (!play?.lanes || !go) return;

  const { choosing, connection, lanes } = play;
  const MOST = 49; // commands that follow one, as kitchen/contract/agent.py says of plans
  const SLIPS = 2; // times that the delivery may come later than foretold while the teammate does nothing
  const PATIENCE = 4; // steps of one wait for a teammate who has not begun
  const GO = "is-going";
  const NEW = { asking: null, asked: new Set(), step: "", finish: 0, theirs: "", slips: 0, owed: false };
  const state = { on: false, ...NEW }; // owed: the plan that was sent has still to be ended

  const mine = () => document.getElementById("talk")?.dataset.mine ?? "";
  const hasList = () => document.querySelector("[data-plan-list] > li") !== null;

  function show() {
    play.classList.toggle(GO, state.on);
    go.querySelector("[data-at-rest]").hidden = state.on;
    go.querySelector("[data-running]").hidden = !state.on;
    go.setAttribute("aria-disabled", String(!state.on && !choosing.may())); // it keeps the focus
  }

  function start() {
    if (!choosing.may()) return;
    Object.assign(state, NEW, { on: true, asked: new Set() });
    lanes.say("");
    advance();
    show();
  }

  /* what is carried out now ends; what is planned behind it is given up */
  function stop(why = "") {
    if (!state.on) return;
    Object.assign(state, { on: false, owed: true });
    lanes.say(why);
    endPlan();
    show();
  }

  /* the plan may arrive at the server, or its button here, only after the stop */
  function endPlan() {
    const button = document.querySelector("[data-plan-stop]");
    if (state.on || !state.owed) return;
    if (choosing.may() || choosing.phase === "over") state.owed = false; // nothing is planned
    else if (button && connection.reached()) {
      state.owed = false;
      button.click();
    }
  }

  function isRefused() {
    const { steps = [] } = JSON.parse(document.getElementById("plan-lanes")?.dataset.lanes || "{}");
    return steps.some(({ key, state: now }) => now === "refused" && state.asked.has(key));
  }

  function advance() {
    if (!state.on) return undefined;
    if (choosing.phase === "over") return stop();
    if (choosing.phase === "answer") return stop(lanes.word("written"));
    if (state.asking !== null && mine() === state.asking) return undefined; // an earlier refusal may still be shown
    state.asking = null;
    if (isRefused()) return stop(lanes.word("said-no"));
    if (!choosing.may() || choosing.step === state.step) return undefined;
    if (hasList()) return stop(lanes.word("listed"));
    const made = lanes.foretell();
    if (!made.finish) return stop(lanes.whyNot(made));
    if (isLate(made.finish)) return stop(lanes.word("idle"));
    if (made.asks.some(({ key }) => state.asked.has(key))) return stop(lanes.word("changed"));
    return made.asks.length ? ask(made.asks) : send(made.commands);
  }

  const teammate = () => JSON.parse(document.getElementById("seen").value).players[1];
  const isIdle = ({ doing }) => !doing || doing[0] === "wait";

  function isLate(left) {
    const finish = Number(choosing.step) + left;
    const now = teammate();
    const theirs = JSON.stringify([now.at, now.face, now.holds, isIdle(now) ? null : now.doing]);
    const stands = theirs === state.theirs;
    if (!stands) state.slips = 0;
    else if (finish > state.finish) state.slips += 1;
    Object.assign(state, { finish, theirs });
    return state.slips >= SLIPS;
  }

  const hidden = (name, macro) => Object.assign(document.createElement("input"), { type: "hidden", name, value: JSON.stringify(macro) });

  /* the form is sent with these fields, once; what keeps it from being sent ends the run */
  function submit(form, fields, act) {
    let went = false;
    const listen = () => { went = true; };
    form.append(...fields);
    document.addEventListener("htmx:wsConfigSend", listen);
    act();
    document.removeEventListener("htmx:wsConfigSend", listen);
    for (const one of fields) one.remove();
    return went ? undefined : stop(lanes.word("denied"));
  }

  function ask(steps) {
    const form = document.getElementById("quick-ask-form");
    if (!form) return stop(lanes.word("changed"));
    for (const { key } of steps) state.asked.add(key);
    state.asking = mine();
    return submit(form, steps.flatMap(({ macros }) => macros).map((macro) => hidden("requests", macro)), () => form.requestSubmit());
  }

  /* the wait for a teammate who has not begun is short, and nothing follows it: then the forecast is looked at again */
  function patient(commands) {
    const [[verb, number]] = commands;
    const isAsked = lanes.plan.steps.some((one) => one.state === "asked");
    if (verb !== "wait" || !isAsked || !isIdle(teammate())) return commands;
    return [[verb, String(Math.min(PATIENCE, Number(number)))]];
  }

  function send(commands) {
    const [first, ...then] = patient(commands);
    const waits = first[0] === "wait";
    const radio = choosing.radioOf(JSON.stringify(waits ? ["wait", "1"] : first));
    if (!radio) return stop(lanes.word("changed"));
    if (waits && first[1] !== "1") then.unshift(["wait", String(Number(first[1]) - 1)]);
    const field = waits ? radio.closest("[data-amount]")?.querySelector("input[type=number]") : null;
    const typed = field?.value;
    if (field) field.value = "1"; // amounts.js sends what is there; what somebody typed stays
    state.step = choosing.step;
    const fields = then.slice(0, MOST).map((macro) => hidden("then", macro));
    const sent = submit(document.getElementById("menu"), fields, () => choosing.send(radio));
    if (field) field.value = typed;
    return sent;
  }

  /* the server refuses what was sent with a notice */
  function onNotice({ detail: { target, fragment } }) {
    if (target.id === "notice" && fragment.textContent.trim()) stop(lanes.word("denied"));
  }

  go.addEventListener("click", () => (state.on ? stop() : start()));
  document.addEventListener("keydown", (event) => event.key === "Escape" && stop());
  document.addEventListener("visibilitychange", () => document.hidden && stop(lanes.word("hidden")));
  document.addEventListener("htmx:oobBeforeSwap", onNotice);
  play.addEventListener("brigade:connection", () => !connection.reached() && stop(lanes.word("lost")));
  play.addEventListener("brigade:panels", () => { endPlan(); advance(); show(); });
  play.addEventListener("brigade:choice", show);
  document.addEventListener("htmx:wsAfterMessage", () => play.classList.contains("is-elsewhere") && stop());
  show();
})();
