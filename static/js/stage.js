/* A drawn world: its places are buttons that stand for the actions of the menu. (What moves: motion.js.)

   A place is an element with [data-spot]; an action of the menu belongs to it if its command names it as the
   first argument. One sensible action is sent at once; of several one is chosen beside the place. The menu
   stays the only door: an action is chosen there, and its form is sent. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const asks = play && "asks" in play.dataset; // whether an action is sent only after a question
  if (!play || !play.querySelector("[data-stage]")) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/script_words.py
  const stage = () => play.querySelector("[data-stage]");
  const menu = () => document.getElementById("menu");
  const list = () => stage().querySelector("[data-spot-menu]");

  /* actions of a place */

  function actionsAt(spot) {
    const radios = [...(menu()?.querySelectorAll('input[name="command"]:not(:disabled)') || [])];
    const here = radios.filter((radio) => JSON.parse(radio.value)[1] === spot);
    const doing = here.filter((radio) => !radio.closest("[data-stays]"));
    return doing.length ? doing : here;
  }

  play.stageActions = actionsAt; // for the scene in three dimensions, which offers the same

  const words = (radio) =>
    radio.dataset.text || radio.closest("label").querySelector(".action-text").firstChild.textContent;

  function pick(button) {
    hideList();
    const actions = actionsAt(button.dataset.spot);
    const [first] = actions;
    if (!play.querySelector('#bar[data-phase="choose"]')) return;
    const single = actions.length === 1 && !first.closest("[data-ask]");
    if (single && !asks) return send(first);
    showList(button, actions);
    return single ? ask(first, list()) : undefined;
  }

  /* the study has it asked first: the words of the action stand where it was chosen, with yes and no */
  function ask(radio, box) {
    mark(radio);
    const question = document.createElement("p");
    question.textContent = words(radio);
    const yes = simple(SAY.doIt, () => send(radio));
    box.replaceChildren(question, yes, simple(SAY.chooseAnother, () => (box === list() ? hideList({ focus: true }) : showQuick())));
    yes.focus();
  }

  function simple(text, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    return button;
  }

  function mark(radio) {
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function send(radio) {
    hideList();
    mark(radio);
    radio.form.requestSubmit();
  }

  /* the small menu of a place */

  function showList(button, actions) {
    const box = list();
    box.replaceChildren(...(actions.length ? choices(actions) : [nothing()]));
    box.hidden = false;
    place(box, button);
    button.classList.add("picked");
    box.dataset.of = button.dataset.spot;
    box.querySelector("button")?.focus();
  }

  /* those that the menu has behind a disclosure are behind one here, too */
  function choices(actions) {
    const rare = actions.filter((radio) => radio.closest("details"));
    const usual = actions.filter((radio) => !rare.includes(radio)).map(choice);
    if (!rare.length) return usual;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = rare[0].closest("details").querySelector("summary").textContent;
    details.append(summary, ...rare.map(choice));
    return [...usual, details];
  }

  const hinted = (radio) => radio.closest("label").hasAttribute("data-hinted"); // as hinted.js marks it

  function choice(radio) {
    const button = document.createElement("button");
    const picture = radio.closest("label").querySelector("svg");
    button.type = "button";
    if (picture) button.append(picture.cloneNode(true));
    button.append(words(radio));
    button.toggleAttribute("data-hinted", hinted(radio));
    button.addEventListener("click", () => (asks ? ask(radio, button.closest("[data-spot-menu], [data-quick]")) : send(radio)));
    return button;
  }

  function nothing() {
    const text = document.createElement("p");
    text.textContent = SAY.nothingHere;
    text.setAttribute("role", "status");
    return text;
  }

  /* where the page ends for the eye: on a small screen the own place covers what is below */
  function foot() {
    const own = menu().closest("[data-play-area]");
    return own && getComputedStyle(own).position === "fixed" ? own.getBoundingClientRect().top : window.innerHeight;
  }

  function place(box, button) {
    const frame = stage().getBoundingClientRect();
    const at = button.getBoundingClientRect();
    const left = Math.min(at.left - frame.left, frame.width - box.offsetWidth - 8);
    box.style.left = `${Math.max(8, left)}px`;
    const above = at.top - box.offsetHeight - 4;
    const top = at.bottom + 4 + box.offsetHeight > foot() && above > 0 ? above : at.bottom + 4;
    box.style.top = `${top - frame.top}px`;
  }

  function hideList({ focus = false } = {}) {
    const box = list();
    if (!box || box.hidden) return;
    const button = stage().querySelector(`[data-spot="${box.dataset.of}"]`);
    button?.classList.remove("picked");
    box.hidden = true;
    box.replaceChildren();
    box.removeAttribute("style");
    box.removeAttribute("data-of");
    if (focus) button?.focus();
  }

  /* on a small screen: what can be done at once, and then where to go next ([data-apt] in a place),
     one tap each; the stage and the menu have the rest */

  const QUICK = 4;

  function showQuick() {
    const row = menu()?.querySelector("[data-quick]");
    if (!row) return;
    const radios = [...menu().querySelectorAll('input[name="command"]:not(:disabled)')];
    const apt = radios.filter((radio) => !radio.closest("details, [data-ask], .goto"));
    const last = apt.filter((radio) => radio.closest(".noop"));
    const first = apt.filter((radio) => !last.includes(radio));
    const ways = radios.filter((radio) => radio.closest(".goto") && !radio.closest("[data-stays]") && leadsOn(radio));
    const shown = [...first, ...ways].sort((one, other) => hinted(other) - hinted(one));
    row.replaceChildren(...[...shown.slice(0, QUICK - last.length), ...last].map(choice));
  }

  const leadsOn = (radio) => hinted(radio) || stage().querySelector(`[data-spot="${JSON.parse(radio.value)[1]}"] [data-apt]`);

  /* keys: arrows lead to the nearest place in that direction, or along the small menu */

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function onKey(event) {
    if (event.key === "Escape") return hideList({ focus: true });
    const way = WAYS[event.key];
    const here = event.target.closest?.("[data-spot], [data-spot-menu] :is(button, summary)");
    if (!way || !here || !stage().contains(here)) return undefined;
    const inList = here.closest("[data-spot-menu]");
    const all = [...(inList || stage()).querySelectorAll(inList ? "button, summary" : "[data-spot]")];
    const next = nearest(here, all, way);
    event.preventDefault();
    next?.focus();
    return undefined;
  }

  function nearest(from, all, [x, y]) {
    const centre = (element) => {
      const box = element.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [fromX, fromY] = centre(from);
    const far = (element) => {
      const [toX, toY] = centre(element);
      const along = (toX - fromX) * x + (toY - fromY) * y;
      const aside = Math.abs((toX - fromX) * y) + Math.abs((toY - fromY) * x);
      return along > 4 ? along + 2 * aside : Infinity;
    };
    const [best] = all.filter((one) => far(one) < Infinity).sort((one, other) => far(one) - far(other));
    return best;
  }

  function show() {
    play.classList.toggle("choosing", Boolean(play.querySelector('#bar[data-phase="choose"]')));
    showQuick();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-spot]");
    if (button && stage().contains(button)) pick(button);
    else if (!event.target.closest("[data-spot-menu]")) hideList();
  });
  play.addEventListener("keydown", onKey);
  document.addEventListener("htmx:wsAfterMessage", () => {
    hideList();
    show();
  });
  show();
})();
