/* A world in two ways: one of them is seen, the other is one click away. Which one stays for this visit. */
"use strict";

(() => {
  const tabs = [...document.querySelectorAll("[data-play] [data-view-tab]")];
  if (!tabs.length) return;

  const KEY = "brigade.view";
  const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

  function show(chosen) {
    for (const tab of tabs) {
      const on = tab === chosen;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
    }
  }

  function choose(tab) {
    show(tab);
    try {
      sessionStorage.setItem(KEY, tab.dataset.viewTab);
    } catch {
      /* not remembered then */
    }
  }

  function remembered() {
    try {
      return tabs.find((tab) => tab.dataset.viewTab === sessionStorage.getItem(KEY));
    } catch {
      return undefined;
    }
  }

  for (const tab of tabs) {
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
