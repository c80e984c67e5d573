/* Play the plan of both cooks. *Go* asks the teammate for its steps, sends the own ones as one plan, with the waits between
   them, and goes on by itself until somebody presses *Stop*, the teammate refuses or writes, or the kitchen is not as
   planned. The server checks each command as any other: the log has them with the plan that they came with. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const go = document.querySelector("[data-lanes-go]");
  if (!play?.lanes || !go) return;

  const { choosing, lanes } = play;
  const MOST = 49; // commands that follow one, as kitchen/contract/agent.py says of plans
  const MISSES = 2; // times that a planned command is not possible, after which the plan is looked at again
  const GO = "is-going";
  const state = { on: false, asking: null, asked: new Set(), step: "", misses: 0 };

  const mine = () => document.getElementById("talk")?.dataset.mine ?? "";
  const newest = () => document.querySelector("#talk .said:last-child:not(.is-yours)")?.innerText ?? "";

  function show() {
    play.classList.toggle(GO, state.on);
    go.querySelector("[data-at-rest]").hidden = state.on;
    go.querySelector("[data-running]").hidden = !state.on;
    go.disabled = choosing.phase === "over" || (!state.on && !choosing.may());
  }

  function start() {
    if (!choosing.may()) return;
    Object.assign(state, { on: true, asking: null, asked: new Set(), step: "", misses: 0 });
    lanes.say("");
    show();
    advance();
  }

  /* what is carried out now ends; what is planned behind it is given up */
  function stop(why = "") {
    if (!state.on) return;
    state.on = false;
    if (why) lanes.say(why);
    else play.querySelector("[data-plan-stop]")?.click();
    show();
  }

  const isRefused = () => [...state.asked].some((key) => lanes.stepOf(key)?.state === "refused");

  function advance() {
    if (!state.on) return undefined;
    if (choosing.phase === "over") return stop(" ");
    if (choosing.phase === "answer") return stop(lanes.word("written"));
    if (!choosing.may() || choosing.step === state.step) return undefined;
    if (state.asking !== null && mine() === state.asking) return undefined;
    state.asking = null;
    if (isRefused()) return stop(newest() || lanes.word("changed"));
    const made = lanes.foretell();
    if (!made.finish) return stop(lanes.whyNot(made));
    const again = made.asks.some(({ key }) => state.asked.has(key));
    if (again) return stop(lanes.word("changed"));
    return made.asks.length ? ask(made.asks) : send(made.commands);
  }

  function ask(steps) {
    const form = document.getElementById("quick-ask-form");
    if (!form) return stop(lanes.word("changed"));
    for (const { key } of steps) state.asked.add(key);
    state.asking = mine();
    const added = steps.flatMap(({ macros }) => macros).map((macro) => Object.assign(document.createElement("input"), { type: "hidden", name: "requests", value: JSON.stringify(macro) }));
    form.append(...added);
    form.requestSubmit();
    for (const one of added) one.remove();
    return undefined;
  }

  function send([first, ...then]) {
    const radio = choosing.radioOf(JSON.stringify(first[0] === "wait" ? ["wait", "1"] : first));
    if (!radio) {
      state.misses += 1;
      return state.misses < MISSES ? undefined : stop(lanes.word("changed"));
    }
    if (first[0] === "wait" && first[1] !== "1") then.unshift(["wait", String(Number(first[1]) - 1)]);
    const form = document.getElementById("menu");
    document.querySelector("[data-plan-list]")?.replaceChildren();
    const added = then.slice(0, MOST).map((macro) => Object.assign(document.createElement("input"), { type: "hidden", name: "then", value: JSON.stringify(macro) }));
    form.append(...added);
    state.step = choosing.step;
    choosing.send(radio);
    for (const one of added) one.remove();
    return undefined;
  }

  go.addEventListener("click", () => (state.on ? stop() : start()));
  document.addEventListener("keydown", (event) => event.key === "Escape" && state.on && stop());
  play.addEventListener("brigade:panels", () => { advance(); show(); });
  play.addEventListener("brigade:choice", show);
  document.addEventListener("htmx:wsAfterMessage", () => play.classList.contains("is-elsewhere") && stop(" "));
  show();
})();
