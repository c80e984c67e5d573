/* The plan of both cooks: one lane each, with the steps that are still needed. They are put into order by dragging, by the
   arrow keys, or with the two buttons beside the prediction. Each move is played at once in a copy of the kitchen
   (lane_forecast.js), which says when the dish is served, and shows waits as gaps and handovers as arrows. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const view = document.querySelector("[data-lanes-view]");
  const board = document.getElementById("board");
  if (!play?.forecast || !view || !board) return;

  const { choosing } = play;
  const rules = JSON.parse(board.dataset.rules);
  const SVG = "http://www.w3.org/2000/svg";
  const LEAST = 11; // pixels of a step of the kitchen
  const TARGET = 24; // pixels of the shortest step of a plan, so that a finger meets it
  const WIDE = matchMedia("(min-width: 64rem)");
  const NARROW = 68; // pixels of a step that are too few for its name
  const FAR = 6; // pixels after which a press is a drag
  const part = (name) => view.querySelector(`[data-lanes-${name}]`);
  const word = (name, values = {}) => Object.entries(values).reduce((text, [key, value]) => text.replace(`{${key}}`, value), view.querySelector(`[data-lane-word="${name}"]`).textContent);
  const laneOf = (seat) => view.querySelector(`[data-lane="${seat}"]`);

  const STORE = `brigade.lanes.${play.getAttribute("ws-connect")}`; // of this episode

  let orders = stored(); // the keys of each lane's steps
  let plan = null; // what the server says
  let now = null; // the forecast that is shown, and the step from which it counts
  let chosen = ""; // the key of the step that the buttons move
  let shown = "";
  let drag = null;

  const seen = () => JSON.parse(document.getElementById("seen").value);
  const step = () => Number(choosing.step);
  const stepOf = (key) => plan.steps.find((one) => one.key === key);
  const isFixed = (one) => one.state === "asked";

  /* the order outlives a reload */
  function stored() {
    try {
      return JSON.parse(sessionStorage.getItem(STORE)) ?? [[], []];
    } catch {
      return [[], []];
    }
  }

  function store() {
    try {
      sessionStorage.setItem(STORE, JSON.stringify(orders));
    } catch {
      /* not remembered then */
    }
  }

  /* the server's steps in the person's order; new ones at the end, and what is asked for first */
  function read() {
    const text = document.getElementById("plan-lanes")?.dataset.lanes;
    plan = text ? JSON.parse(text) : null;
    if (!plan) return;
    orders = [0, 1].map((seat) => {
      const keys = plan.steps.filter((one) => one.seat === seat).map(({ key }) => key);
      const kept = orders[seat].filter((key) => keys.includes(key));
      const all = [...kept, ...keys.filter((key) => !kept.includes(key))];
      return [...all.filter((key) => isFixed(stepOf(key))), ...all.filter((key) => !isFixed(stepOf(key)))];
    });
    const serve = orders[0].indexOf("serve");
    if (serve >= 0) orders[0].push(...orders[0].splice(serve, 1));
  }

  function foretell(tried = orders) {
    const [own, theirs] = tried.map((keys) => keys.map(stepOf));
    return play.forecast(seen(), { own, theirs }, rules);
  }

  const isInTime = (finish) => finish <= rules.limit;
  const stars = (finish) => (isInTime(finish) ? plan.targets.filter((target) => finish <= target).length : 0);

  /* how a step can be at another place; else why not */
  function tried(key, to) {
    const { seat } = stepOf(key);
    const keys = orders[seat].filter((one) => one !== key);
    keys.splice(to, 0, key);
    const all = orders.map((old, number) => (number === seat ? keys : old));
    return { all, made: foretell(all) };
  }

  function whyNot(made) {
    if (made.blocked.some(([key, macro]) => key && macro?.[0] === "place_obj_on_counter")) return word("full");
    const found = made.blocked.find(([key, macro]) => key && macro?.[0] === "pickup") ?? made.blocked.find(([key]) => key);
    if (!found) return word("changed");
    const [key, macro] = found;
    const [{ name }, thing] = [stepOf(key), macro?.[0] === "pickup" ? rules.labels[macro[1]] : ""];
    if (!thing) return word("stuck", { name });
    return name.toLowerCase().includes(thing.toLowerCase()) ? word("absent", { thing }) : word("blocked", { name, thing });
  }

  function moveTo(key, to) {
    const one = stepOf(key);
    const from = orders[one.seat].indexOf(key);
    if (to === from || to < 0 || to >= orders[one.seat].length) return draw();
    const fixed = orders[one.seat].filter((each) => isFixed(stepOf(each))).length;
    if (isFixed(one) || to < fixed) return refuse(word("fixed"));
    if (key === "serve" || orders[one.seat][to] === "serve") return refuse(word("last"));
    const { all, made } = tried(key, to);
    if (!made.finish) return refuse(whyNot(made));
    const before = now?.made.finish ? now.step + now.made.finish : 0;
    orders = all;
    store();
    show(made);
    tell(before);
    return focus(key);
  }

  function refuse(text) {
    draw();
    part("said").textContent = text;
    focus(chosen);
  }

  /* with the step in sight, in its lane: the page stays where it is */
  function focus(key) {
    const button = view.querySelector(`[data-lane-step="${key}"]`);
    if (!button) return;
    button.focus({ preventScroll: true });
    const [own, seenPart] = [button.getBoundingClientRect(), part("scroll").getBoundingClientRect()];
    part("scroll").scrollLeft += Math.max(0, own.right - seenPart.right) - Math.max(0, seenPart.left - own.left);
  }

  /* what the move wins or loses */
  function tell(before) {
    const after = now.step + now.made.finish;
    const lost = after - before;
    const name = before ? (lost > 0 ? "worse" : lost < 0 ? "better" : "same") : "same";
    const text = word(name, { number: Math.abs(lost) });
    part("change").textContent = lost ? text : "";
    part("change").dataset.change = name;
    part("said").textContent = `${stepOf(chosen)?.name ?? ""}: ${text}. ${part("finish").textContent}, ${part("stars").getAttribute("aria-label") ?? ""}`;
  }

  function show(made = foretell()) {
    now = { made, step: step() };
    draw();
  }

  function draw() {
    const { made } = now;
    const finish = now.step + made.finish;
    const told = isInTime(finish) ? word("finish", { number: finish }) : word("late", { number: finish, limit: rules.limit });
    part("finish").textContent = made.finish ? told : whyNot(made);
    const earned = made.finish && plan.targets.length ? stars(finish) : -1;
    part("stars").textContent = earned < 0 ? "" : "★".repeat(earned) + "☆".repeat(plan.targets.length - earned);
    if (earned < 0) part("stars").removeAttribute("aria-label");
    else part("stars").setAttribute("aria-label", word("stars", { number: earned }));
    part("stars").setAttribute("role", "img");
    const steps = Math.max(made.finish || 0, ...[...made.spans.values()].map(([, last]) => last), 20) + 2;
    const wide = (part("scroll").clientWidth || 320) - 23; // what is left beside the cooks' numbers
    const shortest = Math.min(...[...made.spans.values()].map(([first, last]) => Math.max(1, last - first)));
    const size = Math.max(LEAST, TARGET / shortest, wide / steps);
    part("axis").style.width = `${Math.floor(size * steps)}px`;
    view.classList.toggle("is-wide", size * steps > wide + 1); // it can be scrolled
    for (const seat of [0, 1]) fill(seat, size);
    marks(size, steps);
    arrows(size);
    for (const button of view.querySelectorAll("[data-lane-move]")) button.disabled = !stepOf(chosen) || chosen === "serve" || isFixed(stepOf(chosen));
  }

  /* The steps that stay keep their elements, and the focused one its place among them: it is not said again. */
  function fill(seat, size) {
    const lane = laneOf(seat);
    const count = orders[seat].length;
    const before = [...lane.children];
    const active = before.find((item) => item.contains(document.activeElement));
    lane.setAttribute("aria-label", word(`lane-${seat}`));
    let end = 0;
    const items = orders[seat].map((key, place) => {
      const [first, last] = now.made.spans.get(key) ?? [end, end + 4];
      const item = before.find((one) => one.firstElementChild.dataset.laneStep === key) ?? newItem(stepOf(key));
      layOut(item, stepOf(key), [first, last], { place, count, gap: first - end, size });
      end = last;
      return item;
    });
    const kept = items.indexOf(active);
    for (const item of before) if (!items.includes(item)) item.remove();
    if (kept < 0) lane.replaceChildren(...items);
    else arrange(active, items.slice(0, kept), items.slice(kept + 1));
    if (active && kept < 0) focusNear(items, before.indexOf(active));
  }

  function arrange(active, earlier, later) {
    active.parentElement.prepend(...earlier);
    active.after(...later);
  }

  /* the focused step is done: its neighbour has the focus, or else the button */
  function focusNear(items, place) {
    const near = items[Math.min(place, items.length - 1)]?.firstElementChild ?? view.querySelector("[data-lanes-go]");
    near.focus({ preventScroll: true });
  }

  function newItem({ key, name, picture }) {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "lane-step" });
    button.dataset.laneStep = key;
    button.append(pictureOf(picture), Object.assign(document.createElement("span"), { textContent: name }));
    item.append(button, Object.assign(document.createElement("i"), { className: "lane-gap" }));
    return item;
  }

  function layOut(item, one, [first, last], { place, count, gap, size }) {
    const [button, wait] = item.children;
    button.dataset.state = one.state;
    button.classList.toggle("is-narrow", (last - first) * size < NARROW);
    button.classList.toggle("is-chosen", one.key === chosen);
    button.setAttribute("aria-pressed", String(one.key === chosen));
    const text = word("step", { name: one.name, first: now.step + first + 1, last: now.step + last, place: place + 1, count });
    button.setAttribute("aria-label", one.state ? `${text} ${word(one.state)}` : text);
    button.title = text;
    item.style.left = `${first * size}px`;
    item.style.width = `${Math.max(1, last - first) * size}px`;
    wait.hidden = gap < 2;
    wait.textContent = gap > 1 && gap * size > 44 ? word("waits", { number: gap }) : "";
    wait.style.width = `${Math.max(0, gap) * size}px`;
  }

  function pictureOf(thing) {
    const picture = document.createElementNS(SVG, "svg");
    const use = document.createElementNS(SVG, "use");
    picture.setAttribute("class", "food");
    picture.setAttribute("aria-hidden", "true");
    use.setAttribute("href", `${document.querySelector("[data-foods]").dataset.foods}#${thing}`);
    picture.append(use);
    return picture;
  }

  /* the last step for each star, and the delivery */
  function marks(size, steps) {
    for (const one of view.querySelectorAll(".lane-mark")) one.remove();
    const at = (number, text, kind) => {
      const left = (number - now.step) * size;
      if (left < 0 || left > steps * size) return;
      const mark = Object.assign(document.createElement("i"), { className: `lane-mark ${kind}`, textContent: text });
      mark.setAttribute("aria-hidden", "true");
      mark.style.left = `${left}px`;
      part("axis").append(mark);
    };
    plan.targets.forEach((target, place) => at(target, "★".repeat(place + 1), "is-star"));
    if (now.made.finish) at(now.step + now.made.finish, "", "is-finish");
  }

  /* from where a thing is put down to where it is taken */
  function arrows(size) {
    const [top, bottom] = [laneOf(1), laneOf(0)].map((lane) => [lane.offsetTop, lane.offsetHeight]);
    const lines = [];
    for (const one of plan.steps) {
      const given = one.macros.at(-1)[0] === "place_obj_on_counter" ? one.macros.findLast(([verb]) => verb === "pickup")?.[1] : null;
      const takes = plan.steps.find((other) => other.seat !== one.seat && given && other.macros.some((macro) => String(macro) === `pickup,${given},counter`));
      const [from, to] = [now.made.spans.get(one.key), takes && now.made.spans.get(takes.key)];
      if (!from || !to) continue;
      const line = document.createElementNS(SVG, "line");
      const [up, down] = [top[0] + top[1], bottom[0]];
      const [y1, y2] = one.seat ? [up, down] : [down, up];
      for (const [name, value] of Object.entries({ x1: from[1] * size, y1, x2: Math.max(to[0], from[1]) * size, y2 })) line.setAttribute(name, value);
      lines.push(line);
    }
    part("arrows").replaceChildren(...lines);
  }

  /* Keys and buttons move by one place; a tap chooses. */

  function onKey(event) {
    const key = event.target.dataset?.laneStep;
    if (!key || event.ctrlKey || event.altKey || event.metaKey || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
    chosen = key;
    if (isGoing()) return;
    if (["ArrowUp", "ArrowDown"].includes(event.key)) return void refuse(word("other"));
    moveTo(key, orders[stepOf(key).seat].indexOf(key) + (event.key === "ArrowLeft" ? -1 : 1));
  }

  const isGoing = () => play.classList.contains("is-going");

  function onClick(event) {
    const by = event.target.closest("[data-lane-move]")?.dataset.laneMove;
    if (by && stepOf(chosen) && !isGoing()) return moveTo(chosen, orders[stepOf(chosen).seat].indexOf(chosen) + Number(by));
    const button = event.target.closest("[data-lane-step]");
    if (!button) return undefined;
    chosen = button.dataset.laneStep;
    draw();
    return focus(chosen);
  }

  /* Dragging: the step follows the pointer, and goes to the place whose middle it passes. */

  function onDown(event) {
    const button = event.target.closest("[data-lane-step]");
    if (!button || event.button || isGoing()) return;
    drag = { key: button.dataset.laneStep, from: event.clientX, item: button.parentElement, id: event.pointerId, on: false };
  }

  function onMove(event) {
    if (!drag || event.pointerId !== drag.id) return;
    const by = event.clientX - drag.from;
    if (!drag.on && Math.abs(by) < FAR) return;
    if (!drag.on) drag.item.firstElementChild.setPointerCapture?.(event.pointerId);
    drag.on = true;
    drag.item.classList.add("is-dragged");
    drag.item.style.translate = `${by}px`;
    event.preventDefault();
  }

  function onUp(event) {
    if (!drag || event.pointerId !== drag.id) return;
    const { key, item, on } = drag;
    drag = null;
    if (!on) return;
    const { left, width } = item.getBoundingClientRect();
    const others = [...item.parentElement.children].filter((one) => one !== item).map((one) => one.getBoundingClientRect());
    chosen = key;
    item.style.translate = "";
    item.classList.remove("is-dragged");
    const swallow = (click) => click.stopPropagation(); // no click follows a finger that has moved
    addEventListener("click", swallow, { capture: true });
    setTimeout(() => {
      removeEventListener("click", swallow, { capture: true });
      moveTo(key, others.filter((one) => one.left + one.width / 2 < left + width / 2).length);
    });
  }

  function cancel() {
    if (drag) {
      drag.item.style.translate = "";
      drag.item.classList.remove("is-dragged");
    }
    drag = null;
  }

  /* below the kitchen where there is room, else above the actions */
  function place() {
    const home = document.querySelector(WIDE.matches ? "[data-lanes-below]" : "[data-lanes-beside]");
    if (home && view.parentElement !== home) home.append(view);
  }

  /* the plan stays as it was: nothing moves at the end */
  function end() {
    view.hidden = now === null;
    for (const button of view.querySelectorAll("button")) button.disabled = true;
  }

  function look() {
    const text = document.getElementById("plan-lanes")?.dataset.lanes ?? "";
    if (!text) return end();
    view.hidden = false;
    const key = `${text} ${choosing.may() ? document.getElementById("seen").value : ""}`;
    if (key === shown || (!choosing.may() && now)) return undefined;
    shown = key;
    read();
    return drag ? undefined : show();
  }

  view.addEventListener("keydown", onKey);
  view.addEventListener("click", onClick);
  view.addEventListener("pointerdown", onDown);
  view.addEventListener("pointermove", onMove);
  view.addEventListener("pointerup", onUp);
  view.addEventListener("pointercancel", cancel);
  play.addEventListener("brigade:panels", look);
  WIDE.addEventListener("change", () => { place(); draw(); });
  addEventListener("resize", () => now && plan && !view.hidden && draw());
  play.lanes = { foretell, stepOf, whyNot, word, say: (text) => { part("said").textContent = text; }, get plan() { return plan; } };
  place();
  look();
})();
