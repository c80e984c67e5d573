/* A drawn world: its places are buttons that stand for the actions of the menu. (What moves: motion.js.) On a small
   screen, drawn or not: up to four actions that fit the moment. An order with [data-order] stands for the first action
   that is for it.

   A place is an element with [data-spot]; an action of the menu belongs to it if its command names it as the
   first argument. One sensible action is sent at once; of several one is chosen beside the place. The menu
   stays the only door: an action is chosen there, and its form is sent (play/choosing.js). */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !play.querySelector("[data-stage], [data-quick]")) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const EMPTY = 100; // milliseconds in which a screen reader notices that a region is empty
  const { choosing } = play;
  const stage = () => play.querySelector("[data-stage]");
  const list = () => stage()?.querySelector("[data-spot-menu]");
  let open = ""; // what the small menu is about, while it is open
  let fitting = ""; // what stands in the quick row

  /* what the actions of a place are, and for which step */
  const about = (spot) => JSON.stringify([choosing.step, choosing.asksFirst, spot, ...choosing.at(spot).map((radio) => radio.value)]);

  function pick(button) {
    hideList();
    if (!choosing.may()) return;
    const actions = choosing.at(button.dataset.spot);
    const [first] = actions;
    const single = actions.length === 1 && !first.closest("[data-ask]");
    if (single && !choosing.asksFirst) {
      choosing.send(first);
      return;
    }
    showList(button, actions);
    if (single) ask(first, list());
  }

  /* an order: what is done for it first */
  function pickOrder(button) {
    hideList();
    if (!choosing.may()) return;
    const [first] = choosing.at(button.dataset.order);
    const row = document.querySelector("#menu [data-quick]");
    if (!first) refuse(button);
    else if (!choosing.asksFirst) choosing.send(first);
    else if (row?.checkVisibility()) ask(first, row);
    else choosing.mark(first);
  }

  /* seen, and heard: once more, too, for which the region is empty before */
  function refuse(button) {
    button.animate([{}, { opacity: 0.3 }, {}], 300);
    say("");
    setTimeout(() => say(SAY.nothingHere), EMPTY);
  }

  /* the study has it asked first: the words of the action stand where it was chosen, with yes and no */
  function ask(radio, box) {
    if (play.planning?.isOn()) choosing.mark(radio); // what can follow depends on it
    const question = document.createElement("p");
    question.textContent = choosing.words(radio);
    const yes = simple(SAY.doIt, () => send(radio));
    const no = simple(SAY.chooseAnother, () => (box === list() ? hideList() : showQuick({ anew: true })));
    box.replaceChildren(question, yes, no);
    yes.focus();
  }

  function simple(text, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    return button;
  }

  function send(radio) {
    hideList();
    choosing.send(radio);
  }

  /* the small menu of a place */

  function showList(button, actions) {
    const box = list();
    box.replaceChildren(...(actions.length ? choices(actions) : [nothing(button.dataset.nothing)]));
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", button.querySelector(".station-name").firstChild.textContent);
    box.hidden = false;
    place(box, button);
    button.classList.add("picked");
    button.setAttribute("aria-expanded", "true");
    box.dataset.of = button.dataset.spot;
    open = about(button.dataset.spot);
    box.querySelector("button")?.focus({ preventScroll: true }); // it is in sight
  }

  /* those that the menu has behind a disclosure are behind one here, too */
  function choices(actions) {
    const rare = actions.filter((radio) => radio.closest("details"));
    const usual = ranked(actions.filter((radio) => !rare.includes(radio))).map((radio) => choice(radio));
    if (!rare.length) return usual;
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = rare[0].closest("details").querySelector("summary").textContent;
    details.append(summary, ...rare.map((radio) => choice(radio)));
    return [...usual, details];
  }

  const hinted = (radio) => radio.closest("label").hasAttribute("data-hinted"); // as hinted.js marks it

  const fitsNow = (radio) => radio.closest("label").hasAttribute("data-fits"); // as its world says
  const rank = (radio) => 2 * hinted(radio) + fitsNow(radio);
  const ranked = (radios) => [...radios].sort((one, other) => rank(other) - rank(one));

  function choice(radio, asked = choosing.asksFirst) {
    const button = document.createElement("button");
    const picture = radio.closest("label").querySelector("svg");
    button.type = "button";
    if (picture) button.append(picture.cloneNode(true));
    button.append(choosing.words(radio));
    const more = radio.closest("label").querySelectorAll("[data-does], [data-note]"); // all it does, to be heard; for what
    button.append(...[...more].map((one) => one.cloneNode(true)));
    button.toggleAttribute("data-noted", Boolean(button.querySelector("[data-note]")));
    button.toggleAttribute("data-hinted", hinted(radio));
    button.toggleAttribute("data-fits", fitsNow(radio));
    button.toggleAttribute("data-waits", Boolean(radio.closest("[data-waits]")));
    const act = () => (asked ? ask(radio, button.closest("[data-spot-menu], [data-quick]")) : send(radio));
    const amount = play.amounts?.copyOf(radio, button, act, stage()?.dataset);
    button.addEventListener("click", () => (amount ? amount.use() : act()));
    if (!amount) return button;
    const row = document.createElement("div");
    row.className = "spot-amount";
    row.append(button, amount.field, amount.most);
    return row;
  }

  function nothing(words = SAY.nothingHere) {
    const text = document.createElement("p");
    text.textContent = words;
    say(words);
    return text;
  }

  /* to be heard: a region that was there before its text */
  function say(text) {
    document.getElementById("stage-said").textContent = text;
  }

  /* where the page ends for the eye: on a small screen the own place covers what is below */
  function foot() {
    const own = document.getElementById("menu").closest("[data-play-area]");
    return own && getComputedStyle(own).position === "fixed" ? own.getBoundingClientRect().top : window.innerHeight;
  }

  /* where the menu hides the least of the bodies and of its own place; never cut */
  function place(box, button) {
    const frame = stage().getBoundingClientRect();
    const at = button.getBoundingClientRect();
    const bodies = [...stage().querySelectorAll("[data-bot]"), button].map((one) => one.getBoundingClientRect());
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    const least = play.querySelector(".topbar").getBoundingClientRect().bottom + 4;
    const inside = (left, top) => [
      Math.max(frame.left + 8, Math.min(left, frame.right - width - 8)),
      Math.max(least, Math.min(top, foot() - height - 4)),
    ];
    const hidden = ([left, top]) =>
      bodies.reduce((sum, one) => sum + shared(left, left + width, one.left, one.right) * shared(top, top + height, one.top, one.bottom), 0);
    const [left, top] = [
      [at.left, at.bottom + 4],
      [at.left, at.top - height - 4],
      [at.right + 4, at.bottom - height],
      [at.left - width - 4, at.bottom - height],
      [at.left, button.parentElement.getBoundingClientRect().bottom + 4],
    ]
      .map((one) => inside(...one))
      .reduce((best, one) => (hidden(one) < hidden(best) ? one : best));
    box.style.left = `${left - frame.left}px`;
    box.style.top = `${top - frame.top}px`;
  }

  /* the length that two stretches have in common */
  const shared = (from, to, begin, end) => Math.max(0, Math.min(to, end) - Math.max(from, begin));

  /* who was in it is at its place then */
  function hideList() {
    const box = list();
    open = "";
    if (!box || box.hidden) return;
    const button = stage().querySelector(`[data-spot="${box.dataset.of}"]`) ?? stage().querySelector("[data-spot].picked");
    const inside = box.contains(document.activeElement);
    button?.classList.remove("picked");
    button?.setAttribute("aria-expanded", "false");
    box.hidden = true;
    box.replaceChildren();
    for (const name of ["style", "role", "aria-label", "data-of"]) box.removeAttribute(name);
    say("");
    if (inside) button?.focus({ preventScroll: true });
  }

  /* it stays as long as it is about what can be done */
  function checkList() {
    const box = list();
    if (!box.hidden && (!choosing.may() || about(box.dataset.of) !== open)) hideList();
  }

  /* on a small screen: what can be done at once, and then where to go next ([data-apt] in a place),
     one tap each; the stage and the menu have the rest */

  const QUICK = 4;

  /* drawn anew only if something else fits: who is about to tap, or is asked there, is not disturbed */
  function showQuick({ anew = false } = {}) {
    const row = document.querySelector("#menu [data-quick]");
    if (!row) return;
    const shown = fits();
    const now = JSON.stringify([choosing.step, choosing.asksFirst, ...shown.map((radio) => [radio.value, choosing.words(radio), hinted(radio)])]);
    if (now === fitting && row.firstChild && !anew) return;
    const inside = row.contains(document.activeElement);
    fitting = now;
    row.replaceChildren(...shown.map((radio) => choice(radio, choosing.asks(radio))));
    if (inside) choosing.focus();
  }

  function fits() {
    const radios = choosing.offered();
    const chains = radios.filter((radio) => radio.closest("[data-chains]") && !radio.closest("details"));
    const most = chains.filter((radio) => !radio.closest("[data-taken]")).slice(0, QUICK - 1); // what nobody does yet, first
    const shown = most.concat(chains.filter((radio) => !most.includes(radio))).slice(0, QUICK - 1);
    if (document.querySelector("#menu [data-chains]")) return [...chains.filter((radio) => shown.includes(radio)), ...radios.filter((radio) => radio.closest("[data-waits]"))];
    const apt = radios.filter((radio) => !radio.closest("details, [data-leads]") && (fitsNow(radio) || !radio.closest("[data-ask]")));
    const last = apt.filter((radio) => radio.closest("[data-waits]"));
    const first = apt.filter((radio) => !last.includes(radio));
    const onward = radios.filter((radio) => radio.closest("[data-onward]")).flatMap(choosing.placesOf);
    const isWay = (radio) => radio.closest("[data-leads]") && !radio.closest("[data-stays]");
    const ways = radios.filter((radio) => isWay(radio) && leadsOn(radio) && !choosing.placesOf(radio).some((place) => onward.includes(place)));
    return [...ranked([...first, ...ways]).slice(0, QUICK - last.length), ...last];
  }

  /* whether it is worth going there: a drawing says so in its place, without one the action itself does */
  function leadsOn(radio) {
    if (hinted(radio) || !stage()) return hinted(radio) || fitsNow(radio);
    return choosing.placesOf(radio).some((place) => stage().querySelector(`[data-spot="${place}"] [data-apt]`));
  }

  /* what a click on each place will do, for who asks: the one action, or that there is something to choose */
  function describe() {
    for (const button of stage().querySelectorAll("[data-spot]")) {
      const actions = choosing.at(button.dataset.spot);
      const asks = actions.length !== 1 || choosing.asks(actions[0]);
      put(button, "title", actions.length === 1 ? choosing.words(actions[0]) : "");
      put(button, "aria-expanded", choosing.may() && asks ? String(button.classList.contains("picked")) : "");
    }
  }

  /* an order is called by what a press on it will do, too */
  function describeOrders() {
    for (const button of play.querySelectorAll("[data-order]")) {
      const [first] = choosing.at(button.dataset.order);
      put(button, "aria-label", first ? `${button.textContent}: ${choosing.words(first)}` : "");
    }
  }

  function put(element, name, text) {
    if (!text) element.removeAttribute(name);
    else if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }

  /* keys: arrows lead to the nearest place in that direction, or along the small menu */

  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function onKey(event) {
    if (event.key === "Escape") return hideList();
    const way = WAYS[event.key];
    const here = event.target.closest?.("[data-spot], [data-spot-menu] :is(button, summary)");
    if (!way || !here || !stage()?.contains(here)) return undefined;
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
    play.classList.toggle("choosing", choosing.may());
    showQuick();
    describeOrders();
    if (!stage()) return;
    checkList();
    describe();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-spot], [data-order]");
    if (button?.dataset.order) pickOrder(button);
    else if (button && stage()?.contains(button)) pick(button);
    else if (!event.composedPath().includes(list())) hideList(); // a choice that asks has left the list by now
  });
  play.addEventListener("keydown", onKey);
  for (const news of ["brigade:choice", "brigade:connection", "brigade:panels"]) play.addEventListener(news, show);
  show();
})();
