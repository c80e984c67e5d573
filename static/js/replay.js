/* The replay of an episode: each step is asked of the server, and put where the last one was. Playing goes on by
   itself, a step at a time, as fast as answers come or as was chosen. */
"use strict";

(() => {
  const form = document.querySelector("[data-replay]");
  const play = document.querySelector("[data-play]");
  if (!form || !play) return;

  const slider = document.getElementById("replay-step");
  const shown = document.getElementById("replay-at");
  const button = form.querySelector("[data-play-on]");
  const speed = document.getElementById("replay-speed");
  const state = { asked: 0, answered: null, timer: 0, plays: false };
  const AGAIN = "replay-seat-was-chosen";

  const told = () => document.getElementById("replay-told");

  /* nothing can be done on a page that is over: what its forms hold is not offered */
  function still(part) {
    for (const one of part.querySelectorAll("form :is(input, button, select, textarea)")) one.disabled = true;
  }

  function request(go) {
    const data = new FormData(form);
    data.set("go", go);
    data.set("part", "1");
    if (form.method === "post") return fetch(location.href, { method: "POST", body: data });
    return fetch(`${location.pathname}?${new URLSearchParams(data)}`);
  }

  /* details stay open or closed from one step to the next, by what they are called */
  const opened = new Map();
  function named(part) {
    const seen = new Map();
    return [...part.querySelectorAll("details")].map((one) => {
      const words = one.querySelector("summary").textContent.trim();
      seen.set(words, (seen.get(words) ?? 0) + 1);
      return [`${words} ${seen.get(words)}`, one];
    });
  }

  function put(html) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const now = fresh.content.getElementById("replay-told");
    for (const [name, one] of named(told())) opened.set(name, one.open);
    for (const [name, one] of named(now)) one.open = opened.get(name) ?? one.open;
    told().replaceWith(now);
    const panels = fresh.content.querySelector("[data-panels]");
    still(panels.content);
    play.panels.put(panels.innerHTML);
    slider.value = now.dataset.step;
    shown.textContent = now.dataset.at;
    document.dispatchEvent(new CustomEvent("replay-step"));
  }

  /* one step is asked for at a time; of those wanted meanwhile, only the last is asked for */
  async function show(go) {
    const number = (state.asked += 1);
    await state.answered;
    if (number !== state.asked) return;
    state.answered = request(go).catch(() => null);
    const answer = await state.answered;
    if (number !== state.asked) return;
    const lost = !answer?.ok;
    document.getElementById("replay-lost").hidden = !lost;
    if (lost) rest(true);
    else put(await answer.text());
  }

  function rest(on) {
    state.plays = !on;
    clearTimeout(state.timer);
    button.setAttribute("aria-pressed", String(state.plays));
    shown.setAttribute("aria-live", state.plays ? "off" : "polite");
  }

  async function goOn() {
    const began = performance.now();
    await show("forward");
    if (!state.plays) return;
    if ("end" in told().dataset) rest(true);
    else state.timer = setTimeout(goOn, Math.max(0, 1000 / Number(speed.value) - (performance.now() - began)));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    rest(true);
    show(event.submitter?.value || "");
  });
  slider.addEventListener("input", () => {
    rest(true);
    show("");
  });
  const seat = document.getElementById("replay-seat");
  seat.addEventListener("change", () => {
    sessionStorage.setItem(AGAIN, "yes");
    form.submit(); // another layout, maybe
  });
  if (sessionStorage.getItem(AGAIN)) seat.focus({ preventScroll: true });
  sessionStorage.removeItem(AGAIN);
  button.addEventListener("click", () => {
    rest(state.plays);
    if (state.plays) goOn();
  });
  play.addEventListener("submit", (event) => event.preventDefault());

  /* the arrow keys go from step to step, unless whoever has the focus wants them */
  const ARROWS = { ArrowLeft: -1, ArrowRight: 1 };
  const OWN = "input, select, textarea, pre, summary, [contenteditable], [role=tab], .data-scroll, .happened, .grid-scroll";
  document.addEventListener("keydown", (event) => {
    if (!(event.key in ARROWS) || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest?.(OWN)) return;
    event.preventDefault();
    slider.value = Number(slider.value) + ARROWS[event.key];
    rest(true);
    show("");
  });
  still(play);
  for (const element of [button, ...form.querySelectorAll("[data-with-script]")]) element.hidden = false;
})();
