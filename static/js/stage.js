/* A drawn world: its places are buttons that stand for the actions of the menu, and what moved is seen to move.

   A place is an element with [data-spot]; an action of the menu belongs to it if its command names it as the
   first argument. One sensible action is sent at once; of several one is chosen beside the place. The menu
   stays the only door: an action is chosen there, and its form is sent. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !play.querySelector("[data-stage]")) return;

  const STILL = matchMedia("(prefers-reduced-motion: reduce)");
  const GLIDE = 260; // milliseconds of a move
  const APART = 70; // between one robot's and the next one's
  let before = null; // where robots and things were before a message

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
    if (actions.length === 1 && !first.closest("[data-ask]")) send(first);
    else showList(button, actions);
  }

  function send(radio) {
    hideList();
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
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

  function choice(radio) {
    const button = document.createElement("button");
    const picture = radio.closest("label").querySelector("svg");
    button.type = "button";
    if (picture) button.append(picture.cloneNode(true));
    button.append(words(radio));
    button.addEventListener("click", () => send(radio));
    return button;
  }

  function nothing() {
    const text = document.createElement("p");
    text.textContent = "Nothing can be done here just now.";
    text.setAttribute("role", "status");
    return text;
  }

  function place(box, button) {
    const frame = stage().getBoundingClientRect();
    const at = button.getBoundingClientRect();
    const left = Math.min(at.left - frame.left, frame.width - box.offsetWidth - 8);
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${at.bottom - frame.top + 4}px`;
  }

  function hideList({ focus = false } = {}) {
    const box = list();
    if (!box || box.hidden) return;
    const button = stage().querySelector(`[data-spot="${box.dataset.of}"]`);
    button?.classList.remove("picked");
    box.hidden = true;
    if (focus) button?.focus();
  }

  /* on a small screen: what can be done where the robot is, one tap each; the stage and the menu have the rest */

  const QUICK = 4;

  function showQuick() {
    const row = menu()?.querySelector("[data-quick]");
    if (!row) return;
    const radios = [...menu().querySelectorAll('input[name="command"]:not(:disabled)')];
    const apt = radios.filter((radio) => !radio.closest("details, [data-ask], .goto"));
    const last = apt.filter((radio) => radio.closest(".noop"));
    const first = apt.filter((radio) => !last.includes(radio)).slice(0, QUICK - last.length);
    row.replaceChildren(...[...first, ...last].map(choice));
  }

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

  /* motion: what is elsewhere after a message glides there from where it was */

  function look() {
    const spots = (selector) =>
      [...stage().querySelectorAll(selector)].map((element) => [element, element.getBoundingClientRect()]);
    return { bots: spots("[data-bot]"), things: spots("[data-thing]") };
  }

  function remember() {
    if (!before) before = look();
  }

  function move() {
    if (!before) return;
    const was = before;
    before = null;
    play.classList.toggle("still", STILL.matches);
    if (STILL.matches) return;
    const bots = new Map(was.bots.map(([element, box]) => [element.dataset.bot, box]));
    let delay = 0;
    for (const [bot, box] of look().bots) {
      const from = bots.get(bot.dataset.bot);
      if (from && apart(from, box) > 4) {
        glide(bot, from, box, delay);
        delay += APART;
      }
    }
    hop(was.things);
  }

  /* a thing that is new where it is came from where one like it is no more */
  function hop(past) {
    const left = past.filter(([element]) => !element.isConnected);
    for (const [thing, box] of look().things) {
      const known = past.some(([element]) => element === thing);
      const match = left.findIndex(([element]) => element.dataset.thing === thing.dataset.thing);
      if (known || match < 0) continue;
      const [[, from]] = left.splice(match, 1);
      if (apart(from, box) > 4) glide(thing, from, box, 0);
    }
  }

  const apart = (from, to) => Math.hypot(from.left - to.left, from.top - to.top);

  function glide(element, from, to, delay) {
    const start = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
    element.animate([{ transform: start }, { transform: "none" }], {
      duration: GLIDE, delay, easing: "cubic-bezier(0.2, 0.7, 0.3, 1)", fill: "backwards",
    });
  }

  function show() {
    stage().classList.toggle("choosing", Boolean(play.querySelector('#bar[data-phase="choose"]')));
    showQuick();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-spot]");
    if (button && stage().contains(button)) pick(button);
    else if (!event.target.closest("[data-spot-menu]")) hideList();
  });
  play.addEventListener("keydown", onKey);
  document.addEventListener("htmx:wsBeforeMessage", remember);
  document.addEventListener("htmx:wsAfterMessage", () => {
    hideList();
    move();
    show();
  });
  show();
})();
