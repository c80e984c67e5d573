/* A world in two ways: one of them is seen, the other is one click away. Which one stays for this episode. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const tabs = [...(play?.querySelectorAll("[data-view-tab]") || [])];
  if (!tabs.length) return;

  const KEY = "brigade.view";
  const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const noted = (tab) => `${play.getAttribute("ws-connect")} ${tab.dataset.viewTab}`; // each episode has its own address

  function show(chosen) {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      panelOf(tab).hidden = !on;
    }
  }

  function choose(tab) {
    show(tab);
    try {
      sessionStorage.setItem(KEY, noted(tab));
    } catch {
      /* not remembered then */
    }
  }

  function remembered() {
    try {
      return tabs.find((tab) => noted(tab) === sessionStorage.getItem(KEY));
    } catch {
      return undefined;
    }
  }

  /* what was seen when something was chosen: the server is told once for each way and line */

  const told = new Set();
  let socket = null;

  function tell() {
    const { viewTab } = tabs.find((tab) => !panelOf(tab).hidden).dataset;
    if (told.has(viewTab)) return;
    told.add(viewTab);
    socket.send(JSON.stringify({ type: "view", view: viewTab }));
  }

  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
    told.clear();
  });
  document.addEventListener("htmx:wsAfterSend", tell);

  for (const tab of tabs) {
    panelOf(tab).setAttribute("role", "tabpanel");
    panelOf(tab).setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    });
  }
  show(remembered() || tabs[0]);
})();
