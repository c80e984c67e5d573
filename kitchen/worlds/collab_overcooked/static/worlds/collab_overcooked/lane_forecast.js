/* Play a plan of both cooks in a copy of the kitchen, step by step as the server does (world.py), to know when each of its
   steps begins and ends. `play.forecast(seen, lanes, rules)` returns the steps until the delivery. The constants of the
   rules come from the server (`lane_rules` in plan_lanes.py); test_lane_forecast.py compares both. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !document.getElementById("plan-lanes")) return;

  const LAST = 150; // steps after which nothing will be delivered any more
  const IN_DISH = "_in_dish";
  const base = (thing) => thing.replace(/_in_dish$/, "");
  const isAt = (cell) => (one) => String(one) === String(cell);

  /* the next turn, move or use of a cook who wants to use a cell, and how many it takes */
  function approach({ columns, rows }, seat, row, face, [x, y]) {
    const stand = Math.min(Math.max(y, rows[0]), rows[1]);
    const need = x === columns[seat] ? (y < stand ? "north" : "south") : x > columns[seat] ? "east" : "west";
    if (row === stand) return face === need ? ["interact", 1] : [need, 2];
    const way = stand < row ? "north" : "south";
    return [way, Math.abs(row - stand) + (way === need ? 0 : 1) + 1];
  }

  function nearest(kitchen, { row, face }, seat, cells) {
    const rank = (cell) => [approach(kitchen, seat, row, face, cell)[1], cell[1], cell[0]];
    return [...cells].sort((one, other) => {
      const [a, b] = [rank(one), rank(other)];
      return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
    })[0];
  }

  function stateOf({ players, counters, utensils }, { job }) {
    const cooks = players.map(({ at, face, holds, doing }) => ({ row: at[1], face, holds, doing: doing && doing[0] !== "wait" ? doing : null }));
    const named = utensils.map(({ thing, contents, left, ready }) => [thing, { contents: [...contents], ticks: left === null ? 0 : job - left, ready }]);
    return { cooks, utensils: Object.fromEntries(named), counters: counters.map(({ at, thing }) => ({ at, thing })), time: 0, delivered: false };
  }

  function kitchenOf({ places, shared, job, lanes }) {
    const { starts, products } = lanes;
    const verbs = Object.fromEntries(Object.entries(starts).map(([verb, name]) => [name, verb]));
    const product = (name, contents) => products[name][[...contents].sort().join()] ?? null;
    return { ...lanes, places, shared, job, verbs, product };
  }

  const lying = (state, thing, isIn) => state.counters.filter((one) => base(one.thing) === thing && isIn(one.at)).map(({ at }) => at);
  const free = (state, cells) => cells.filter((cell) => !state.counters.some(({ at }) => isAt(cell)(at)));

  /* where a thing lies for a cook, and where one can be put down: what is first choice */
  function found(state, { own, shared }, seat, thing) {
    const isIn = (cells) => (cell) => cells.some(isAt(cell));
    const near = lying(state, thing, isIn(own[seat]));
    return near.length ? near : lying(state, thing, isIn(shared));
  }

  function room(state, { own, shared }, seat) {
    const common = free(state, shared);
    return common.length ? common : free(state, own[seat]);
  }

  function allows(state, kitchen, seat, [verb, ...words]) {
    const { holds } = state.cooks[seat];
    const utensil = state.utensils[words.at(-1)];
    if (verb === "pickup") {
      if (holds !== null) return false;
      if (words[1] === "counter") return found(state, kitchen, seat, words[0]).length > 0;
      return utensil ? !utensil.ticks && utensil.ready === words[0] : true;
    }
    if (verb === "put_obj_in_utensil") return holds !== null && !utensil.ticks && !utensil.ready && utensil.contents.length < kitchen.capacity;
    if (verb in kitchen.starts) return holds === null && utensil.contents.length > 0 && !utensil.ticks && !utensil.ready;
    if (verb === "place_obj_on_counter") return holds !== null && room(state, kitchen, seat).length > 0;
    if (verb === "fill_dish_with_food") return holds === "dish" && Boolean(utensil.ticks || utensil.ready);
    return holds !== null;
  }

  function target(state, kitchen, seat) {
    const cook = state.cooks[seat];
    const [verb, ...words] = cook.doing;
    if (verb === "pickup" && words[1] === "counter") return nearest(kitchen, cook, seat, found(state, kitchen, seat, words[0]));
    if (verb === "place_obj_on_counter") return nearest(kitchen, cook, seat, room(state, kitchen, seat));
    return kitchen.places[verb === "deliver" ? "serving" : words.at(-1)];
  }

  function take(state, name) {
    const { ready } = state.utensils[name];
    state.utensils[name].ready = null;
    return ready;
  }

  /* whether the counter is as it was before the other cook used one in this step */
  function isStillPossible(state, [verb, thing, place], cell) {
    const here = state.counters.find(({ at }) => isAt(cell)(at));
    if (verb === "place_obj_on_counter") return !here;
    return verb !== "pickup" || place !== "counter" || (here !== undefined && base(here.thing) === thing);
  }

  /* what a cook's action does; a dish waits for its food */
  function use(state, kitchen, seat, cell, started) {
    const cook = state.cooks[seat];
    const [verb, ...words] = cook.doing;
    const utensil = state.utensils[words.at(-1)];
    if (verb === "fill_dish_with_food" && utensil.ready === null) return;
    const { doing } = cook;
    cook.doing = null;
    if (!isStillPossible(state, doing, cell)) return;
    if (verb === "pickup" && words[1] === "counter") {
      const place = state.counters.findIndex(({ at }) => isAt(cell)(at));
      cook.holds = state.counters.splice(place, 1)[0].thing;
    } else if (verb === "pickup") cook.holds = utensil ? take(state, words[1]) : words[0];
    else if (verb === "place_obj_on_counter") state.counters.push({ at: cell, thing: cook.holds });
    else if (verb === "put_obj_in_utensil") utensil.contents.push(base(cook.holds));
    else if (verb in kitchen.starts) started.push(words[0]);
    else if (verb === "fill_dish_with_food") cook.holds = take(state, words[0]) + IN_DISH;
    else state.delivered = cook.holds === kitchen.served;
    if (["place_obj_on_counter", "put_obj_in_utensil", "deliver"].includes(verb)) cook.holds = null;
  }

  function step(state, kitchen) {
    const started = [];
    const ways = state.cooks.map((cook, seat) => {
      const cell = cook.doing && target(state, kitchen, seat);
      if (!cell) cook.doing = null; // what was needed is gone
      return cell ? [cell, approach(kitchen, seat, cook.row, cook.face, cell)[0]] : [null, null];
    });
    ways.forEach(([cell, action], seat) => action === "interact" && use(state, kitchen, seat, cell, started));
    ways.forEach(([, action], seat) => {
      if (!action || action === "interact") return;
      const cook = state.cooks[seat];
      cook.face = action;
      if (action === "north") cook.row = Math.max(kitchen.rows[0], cook.row - 1);
      if (action === "south") cook.row = Math.min(kitchen.rows[1], cook.row + 1);
    });
    for (const [name, utensil] of Object.entries(state.utensils)) {
      if (!utensil.ticks || ++utensil.ticks < kitchen.job) continue;
      Object.assign(utensil, { ready: kitchen.product(name, utensil.contents), contents: [], ticks: 0 });
    }
    for (const name of started) {
      if (kitchen.product(name, state.utensils[name].contents)) state.utensils[name].ticks = 1;
      else state.utensils[name].contents = []; // destroyed
    }
    state.time += 1;
  }

  /* The commands that remain of a piece of work: of its shortest end that goes on with what the cook holds. */
  function rest(state, kitchen, seat, macros) {
    const { holds } = state.cooks[seat];
    for (let number = macros.length - 1; number > 0; number -= 1) {
      const before = macros.slice(0, number).filter(([verb]) => !(verb in kitchen.starts)).at(-1);
      const held = before?.[0] === "pickup" ? before[1] : before?.[0] === "fill_dish_with_food" ? holds : null;
      const fits = holds === null ? held === null : held !== null && (holds === held || base(holds) === held);
      if (fits && canBegin(state, kitchen, seat, macros[number])) return macros.slice(number);
    }
    return macros;
  }

  /* what remains of the teammate's work, behind the command that is carried out now */
  function underway(state, kitchen, macros) {
    const { doing } = state.cooks[1];
    const place = doing ? macros.map(String).lastIndexOf(String(doing)) : -1;
    return place < 0 ? rest(state, kitchen, 1, macros) : macros.slice(place + 1);
  }

  /* now, or as soon as a utensil is ready */
  function canBegin(state, kitchen, seat, macro) {
    const utensil = state.utensils[macro.at(-1)];
    const runs = macro[0] === "pickup" && utensil?.ticks && kitchen.product(macro[2], utensil.contents) === macro[1];
    return Boolean(runs) || allows(state, kitchen, seat, macro);
  }

  /* the own steps as pieces of work: whoever puts the last thing into a utensil starts it, and what is held comes first */
  function ownWork(state, kitchen, steps) {
    const work = steps.map((one) => {
      const isLast = one.job >= 0 && !steps.slice(steps.indexOf(one) + 1).some(({ job }) => job === one.job);
      const name = one.macros.at(-1)[1];
      return { step: one, macros: isLast ? [...one.macros, [kitchen.verbs[name], name]] : one.macros };
    });
    const { holds, doing } = state.cooks[0];
    const isHeld = ({ macros }) => macros.some(([verb, thing]) => (verb === "pickup" && holds !== null && thing === base(holds)) || (verb === "fill_dish_with_food" && holds?.endsWith(IN_DISH)));
    const first = work.find(isHeld);
    if (holds === null || doing) return work;
    if (!first) return [{ step: null, macros: [["place_obj_on_counter"]] }, ...work];
    return [{ ...first, macros: rest(state, kitchen, 0, first.macros) }, ...work.filter((one) => one !== first)];
  }

  /* the next of the teammate's steps that can be asked for now: what it needs is there, and a shared counter is left for it */
  function askable(state, kitchen, unasked, asked, own) {
    const found = [];
    const hands = own.some(({ step: one }) => one?.key.startsWith("pass-")) ? 1 : 0;
    const running = asked.filter(({ macros }, place) => macros.length || (!place && state.cooks[1].doing)).length;
    let left = free(state, kitchen.shared).length - running - hands;
    for (const one of unasked) {
      const [verb, thing, place] = one.macros[0];
      const takes = verb === "pickup" && place === "counter";
      if (takes ? !lying(state, thing, () => true).length : left < 1) break;
      left -= takes ? 0 : 1;
      found.push(one);
    }
    return found;
  }

  function forecast(seen, { own, theirs }, rules) {
    const state = stateOf(seen, rules);
    const kitchen = kitchenOf(rules);
    const spans = new Map(); // key of a step → its first and last step
    const asked = theirs.filter(({ state: now }) => now === "asked").map((one, place) => ({ step: one, macros: place ? one.macros : underway(state, kitchen, one.macros) }));
    let unasked = theirs.filter(({ state: now }) => now !== "asked");
    const work = ownWork(state, kitchen, own);
    const made = { spans, asks: [], commands: [], finish: 0, blocked: [], waits: 0 };
    if (asked.length && asked[0].macros.length < asked[0].step.macros.length) spans.set(asked[0].step.key, [0, 0]);
    let isCut = false;
    const begin = (queue, seat) => {
      while (queue.length && !queue[0].macros.length) {
        if (queue[0].step) spans.get(queue[0].step.key)[1] = state.time;
        queue.shift();
      }
      const next = queue[0]?.macros[0];
      if (!next || !allows(state, kitchen, seat, next)) return null;
      if (queue[0].step && !spans.has(queue[0].step.key)) spans.set(queue[0].step.key, [state.time, state.time]);
      queue[0].macros = queue[0].macros.slice(1);
      return next;
    };
    while (!state.delivered && state.time < LAST) {
      const [chef, assistant] = state.cooks;
      if (!chef.doing) {
        const now = askable(state, kitchen, unasked, asked, work);
        unasked = unasked.filter((one) => !now.includes(one));
        asked.push(...now.map((one) => ({ step: one, macros: one.macros })));
        if (state.time && now.length) isCut = true;
        if (!state.time) made.asks = now;
        chef.doing = begin(work, 0);
        if (!isCut) note(made.commands, chef.doing, kitchen.longest_wait);
        made.waits += chef.doing ? 0 : 1;
      }
      if (!assistant.doing) assistant.doing = begin(asked, 1);
      step(state, kitchen);
    }
    for (const queue of [work, asked]) if (queue[0]?.step && !queue[0].macros.length) spans.get(queue[0].step.key)[1] = state.time;
    if (state.delivered) made.finish = state.time;
    else made.blocked = [work[0], asked[0], ...unasked.map((one) => ({ step: one, macros: one.macros }))].filter(Boolean).map(({ step: one, macros }) => [one?.key, macros[0]]);
    return made;
  }

  /* a command, or one more step of waiting */
  function note(commands, command, longest) {
    if (command) return void commands.push(command);
    const last = commands.at(-1);
    if (last?.[0] === "wait" && Number(last[1]) < longest) last[1] = String(Number(last[1]) + 1);
    else commands.push(["wait", "1"]);
  }

  play.forecast = forecast;
})();
