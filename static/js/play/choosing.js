/* Whether one may choose, what is offered and in which words, and the one door by which a choice goes out: for the
   menu (menu.js), the drawing (stage.js) and the scene (scene/page.js), as `choosing` of the page's [data-play].

   What was sent is what is shown, and what is sent again, until it is answered. Whoever listens at [data-play] for
   `brigade:choice` hears that something of this has changed. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play) return;

  const AGAIN = 3000; // milliseconds after which a choice that could not be stored is sent again
  const TAPS = 300; // milliseconds within which two taps are a double one; of a mouse the browser knows
  const ACTS = "[data-spot], [data-order], [data-spot-menu], [data-quick], [data-actions] label, [data-submit]";
  const WRITES = "textarea, [contenteditable]";
  const state = {
    step: "", phase: "", // of the episode, as the bar says
    submitted: "", // the step in which something was sent last, and not refused
    sent: null, // what was sent and is not answered yet: its step, value and words
    clicked: 0, twice: false, // when something was clicked last; whether that was the second click of a double one
    preferred: null, // what was clicked while another answered: its step and value
    owed: null, // what is sent as soon as it can be: its step and value, and when we heard that it could not
  };

  const menu = () => document.getElementById("menu");
  const offered = () => [...(menu()?.querySelectorAll('input[name="command"]:not(:disabled)') || [])];
  const listed = () => [...(menu()?.querySelectorAll('input[name="command"]') || [])].filter((radio) => !radio.disabled); // also while nothing can be sent
  const chosen = () => menu()?.querySelector('input[name="command"]:checked');
  const radioOf = (value) => offered().find((radio) => radio.value === value);
  const away = () => play.matches(".is-elsewhere, .is-gone"); // another page has this seat, or nobody
  const may = () => state.phase === "choose" && state.sent === null && !away();
  const asksFirst = () => "asks" in play.dataset; // whether an action is chosen first, and sent after that

  /* the commands of one choice: to go to a place and act there are two, of which the second follows by itself */
  function commandsOf(value) {
    const read = JSON.parse(value);
    return Array.isArray(read[0]) ? read.map((one) => JSON.stringify(one)) : [value];
  }

  const tell = () => play.dispatchEvent(new Event("brigade:choice"));

  /* what a radio button stands for, alone: what is written beside it, if it does not say */
  function words(radio) {
    return radio.dataset.text || radio.closest("label").querySelector(".action-text").firstChild.textContent.trim();
  }

  /* the places it is about, as its world says; else the first argument of its command */
  const placesOf = (radio) => radio.dataset.places?.split(" ") ?? [JSON.parse(radio.value)[1]];

  /* what can be done at a place now; to stay there only where nothing else can be, and only to go there where it is
     not clear what one would do there */
  function at(spot) {
    const here = may() ? offered().filter((radio) => placesOf(radio).includes(spot)) : [];
    const doing = here.filter((radio) => !radio.closest("[data-stays]"));
    const onward = doing.filter((radio) => radio.closest("[data-onward]"));
    return onward.length === 1 ? onward : doing.length ? doing : here;
  }

  /* whether it is sent only after a question */
  const asks = (radio) => asksFirst() || Boolean(radio.closest("[data-ask]"));

  function mark(radio) {
    if (!may()) return;
    radio.checked = true;
    state.owed = null;
    tell();
  }

  const mayPrefer = () => state.phase !== "over" && state.sent === null && !away() && !(chosen() && state.submitted === state.step);

  /* What is clicked while another answers in this step is chosen, and can be sent when it is one's turn again. It can
     be changed until something was sent. Returns whether it is chosen. */
  function prefer(radio) {
    if (!mayPrefer()) return false;
    radio.checked = true;
    state.preferred = { step: state.step, value: radio.value };
    tell();
    return true;
  }

  /* for worlds in which a press acts: what was clicked meanwhile goes out when it is one's turn again in this step */
  function sendPreferred() {
    const { preferred } = state;
    if (!preferred || (preferred.step === state.step && !may())) return;
    state.preferred = null;
    const radio = preferred.step === state.step && chosen()?.value === preferred.value ? radioOf(preferred.value) : null;
    if (radio) send(radio);
  }

  /* the one door; without a connection the choice is kept, and goes out when there is one */
  function send(radio) {
    const now = radioOf(radio.value); // its panel may have come anew meanwhile
    if (!may() || !now) return;
    mark(now);
    menu().requestSubmit();
  }

  function read(bar) {
    state.step = bar.dataset.step;
    state.phase = bar.dataset.phase;
  }

  /* an answer is there, or none will come */
  function release({ refused = false } = {}) {
    if (refused) state.submitted = "";
    if (state.sent === null) return;
    state.sent = null;
    tell();
  }

  /* What could not be stored is sent again, unless its person has chosen something else meanwhile. */
  function owe(since = Date.now()) {
    const value = state.sent?.value ?? chosen()?.value;
    if (value) state.owed = { step: state.step, value, since };
    tell();
  }

  function sendAgain() {
    const { owed } = state;
    if (owed?.step !== state.step || !may() || !play.connection.ready() || Date.now() - owed.since < AGAIN) return;
    const radio = radioOf(owed.value);
    if (radio) send(radio);
    else state.owed = null;
  }

  function onSubmit(event) {
    if (event.target !== menu() || (may() && play.connection.reached())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (may()) owe(0);
  }

  function onSend(event) {
    const { parameters } = event.detail;
    const { command, then = [] } = parameters;
    if (event.target !== menu() || !command) return;
    const [first, ...after] = commandsOf(command);
    const radio = radioOf(command);
    if (!then.length) after.push(...JSON.parse(radio?.dataset.then ?? "[]")); // what must follow, unless a plan was made
    if (after.length) Object.assign(parameters, { command: first, then: after.concat(then) });
    state.submitted = state.step;
    state.sent = { step: state.step, value: command, words: radio ? words(radio) : "" };
    state.owed = null;
    tell();
  }

  /* nothing else is chosen while an answer is on its way */
  function onChange(event) {
    if (event.target.name !== "command") return;
    const sent = state.sent && radioOf(state.sent.value);
    if (sent) sent.checked = true;
    else mark(event.target);
  }

  /* The second click of a double one may meet what was not there before the first, and so may a key that is held. */
  function onClick(event) {
    const soon = event.pointerType !== "touch" || event.timeStamp - state.clicked < TAPS;
    state.clicked = event.timeStamp;
    state.twice = event.detail > 1 && soon;
    if (!state.twice || !event.target.closest(ACTS)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  function onKey(event) {
    if (event.repeat && event.key === "Enter" && !event.target.closest?.(WRITES)) event.preventDefault();
  }

  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:wsConfigSend", onSend);
  document.addEventListener("change", onChange);
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", onKey, true);
  setInterval(sendAgain, 200);
  read(document.getElementById("bar"));

  play.choosing = {
    may, offered, listed, chosen, radioOf, at, words, placesOf, commandsOf, asks, mark, mayPrefer, prefer, sendPreferred, send, owe, release, read,
    focus: () => document.getElementById("menu-title")?.focus({ preventScroll: true }),
    get asksFirst() { return asksFirst(); },
    get step() { return state.step; },
    get phase() { return state.phase; },
    get twice() { return state.twice; },
    get sent() { return state.sent; },
  };
})();
