/* Ask the teammate in the drawing: its cook, the button beside the actions or the key A opens a bubble at its head. One
   press there sends a whole piece of work. What was asked for is seen over the teammate until it is done. Where the
   drawing is not shown, the bubble is above the tables. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !document.getElementById("quick-ask")) return;

  const OPEN = "show-quick-ask"; // class of the page
  const KEY = "a";
  const WRITING = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
  let opener = null; // where the focus goes back to

  const bubble = () => document.getElementById("quick-ask");
  const form = () => document.getElementById("quick-ask-form");
  const isOpen = () => play.classList.contains(OPEN);
  const buttons = () => document.querySelectorAll("[data-open-ask]");
  const spot = () => document.querySelector(".teammate-spot");

  /* where there is room, a chef has the pieces of work above the kitchen all the time */
  const wide = matchMedia("(min-width: 64rem)");
  const isDocked = () => wide.matches && "docked" in (bubble()?.dataset ?? {});

  /* on the teammate's side of the drawing, at the height of its head */
  function place() {
    const dock = isDocked() && document.querySelector("[data-ask-dock]");
    if (dock) {
      if (bubble().parentElement !== dock) dock.append(bubble());
      if (play.kitchen && spot()) play.kitchen.put(spot(), play.kitchen.at(1 - play.kitchen.own()));
      return;
    }
    const over = spot()?.closest("[data-view]:not([hidden]) [data-over-kitchen]");
    const home = over ?? document.querySelector("[data-ask-place]");
    if (bubble().parentElement !== home) home.append(bubble());
    if (!over || !play.kitchen) return;
    const [x, y] = play.kitchen.at(1 - play.kitchen.own());
    play.kitchen.put(spot(), [x, y]);
    bubble().dataset.side = x < 2 ? "left" : "right";
    bubble().dataset.row = y;
  }

  function say() {
    for (const one of buttons()) {
      if (isDocked()) one.removeAttribute("aria-expanded"); // what it leads to is there all the time
      else one.setAttribute("aria-expanded", String(isOpen()));
      one.hidden = !form() || (isDocked() && one.closest(".act-together") !== null);
      if (form()) one.querySelector("[data-ask-name]").textContent = form().querySelector("b").textContent;
    }
  }

  function open(from) {
    if (!form()) return;
    opener = from;
    if (!isDocked()) play.classList.add(OPEN);
    place();
    say();
    (form().querySelector("[data-hinted]:not(:disabled)") ?? form().querySelector("[data-quick]:not(:disabled)") ?? form().querySelector("b")).focus({ preventScroll: true });
    if (bubble().closest("[data-ask-place]")) bubble().scrollIntoView({ block: "nearest" });
  }

  function close({ focus = true } = {}) {
    if (!isOpen()) return;
    play.classList.remove(OPEN);
    say();
    const target = opener?.isConnected && opener.checkVisibility() ? opener : document.querySelector(".act-together [data-open-ask]");
    if (focus) target?.focus({ preventScroll: true });
    opener = null;
  }

  function send(button) {
    const to = form();
    if (button.disabled || document.getElementById("connection").dataset.state !== "connected") return;
    to.querySelector('[name="text"]').value = button.dataset.text;
    const added = JSON.parse(button.dataset.requests).map((value) => Object.assign(document.createElement("input"), { type: "hidden", name: "requests", value }));
    to.append(...added);
    to.requestSubmit();
    for (const one of added) one.remove();
    to.querySelector('[name="text"]').value = "";
    close();
  }

  /* the complete form, which is folded beside the game or in the panel below it */
  function more() {
    close({ focus: false });
    play.querySelector('[data-panel-tab="ask"]')?.click();
    const fold = document.querySelector(".ask-fold");
    if (!fold) return;
    fold.open = true;
    fold.querySelector("select, textarea")?.focus();
  }

  function onClick(event) {
    const from = event.target.closest("[data-open-ask]");
    if (from) return isOpen() ? close() : open(from);
    if (event.target.closest("[data-close-ask]")) return close();
    if (event.target.closest("[data-more-requests]")) return more();
    const quick = event.target.closest("[data-quick]");
    if (quick) return send(quick);
    return bubble().contains(event.target) ? undefined : close({ focus: false });
  }

  function onKey(event) {
    if (isOpen() && event.key === "Escape") {
      event.preventDefault();
      return close();
    }
    if (isOpen() && event.key.toLowerCase().startsWith("arrow") && bubble().contains(event.target)) return move(event);
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat;
    if (!isPlain || event.key.toLowerCase() !== KEY || event.target.closest?.(WRITING)) return undefined;
    if (!document.querySelector("[data-keys-switch]")?.checked || document.querySelector("dialog[open]") || !form()) return undefined;
    event.preventDefault();
    return isOpen() ? close() : open(document.activeElement === document.body ? null : document.activeElement);
  }

  function move(event) {
    const all = [...form().querySelectorAll(".quick:not(:disabled)")];
    const by = ["ArrowDown", "ArrowRight"].includes(event.key) ? 1 : -1;
    event.preventDefault();
    event.stopPropagation();
    all[(all.indexOf(document.activeElement) + by + all.length) % all.length]?.focus();
  }

  function show() {
    if (isOpen() && (!form() || ["over", "answer"].includes(play.choosing.phase))) close({ focus: false });
    place();
    say();
    if ("program" in bubble().dataset && !document.querySelector("[data-play][data-asks]")) play.choosing.sendPreferred(); // its answer changes no mind
  }

  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("focusin", ({ target }) => target.closest("[data-view-tab]") && close({ focus: false })); // the bubble may be hidden with its view
  play.addEventListener("brigade:panels", show);
  wide.addEventListener("change", show);
  show();
})();
