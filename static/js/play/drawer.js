/* The drawer with the conversation and the jobs: beside the game on a wide page, where it is open until somebody closes it;
   on others in the place of the actions, where it opens on request. It shows one part at a time, and marks the others if
   they have something new. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const drawer = document.getElementById("drawer");
  if (!play || !drawer) return;

  const WIDE = matchMedia("(min-width: 64rem)");
  const KEY = "brigade.drawer"; // "closed": this tab's person has closed it on a wide page
  const toggle = play.querySelector("[data-drawer-toggle]");
  const tabs = [...drawer.querySelectorAll("[data-drawer-tab]")];
  const seen = new Map(); // part: its newest entry when it was in sight last
  let begun = false;
  let ended = false;

  const newest = {
    talk: () => document.querySelector("#talk .said:last-child")?.id ?? "",
    jobs: () => [...document.querySelectorAll("#jobs .job.is-given")].map((one) => one.id).join(" "),
    team: () => document.getElementById("team_news")?.textContent ?? "",
  };

  const isOpen = () => (WIDE.matches ? !play.classList.contains("drawer-closed") : play.classList.contains("drawer-open"));
  const mark = (on, box) => box && (box.hidden = !on);

  function showNews() {
    let news = false;
    for (const tab of tabs) {
      const part = tab.dataset.drawerTab;
      if (!seen.has(part) || (isOpen() && part === drawer.dataset.drawer)) seen.set(part, newest[part]());
      const fresh = newest[part]() !== "" && newest[part]() !== seen.get(part);
      mark(fresh, tab.querySelector(".news-dot"));
      news ||= fresh;
    }
    mark(news && !isOpen(), toggle?.querySelector("[data-drawer-news]"));
  }

  /* what was there when the page came is no news */
  function onMessage() {
    if (!begun) seen.clear();
    begun = true;
    showNews();
  }

  function showPart(part) {
    drawer.dataset.drawer = part;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.drawerTab === part));
    toEnd();
    showNews();
  }

  /* the newest message is in sight when the list comes into sight */
  function toEnd() {
    for (const list of drawer.querySelectorAll("#talk, #jobs")) list.scrollTop = list.scrollHeight;
  }

  function setOpen(on) {
    if (WIDE.matches) {
      play.classList.toggle("drawer-closed", !on);
      remember(on);
    } else play.classList.toggle("drawer-open", on);
    toggle?.setAttribute("aria-expanded", String(isOpen()));
    if (on && !WIDE.matches && drawer.offsetWidth > innerWidth / 2) play.menu?.showPlayed(drawer); // it is below the game
    if (on) toEnd();
    showNews();
    play.dispatchEvent(new Event("brigade:drawer"));
  }

  function remember(on) {
    try {
      if (on) sessionStorage.removeItem(KEY);
      else sessionStorage.setItem(KEY, "closed");
    } catch {
      /* not remembered then */
    }
  }

  function wasClosed() {
    try {
      return sessionStorage.getItem(KEY) === "closed";
    } catch {
      return false;
    }
  }

  function open(part) {
    if (part) showPart(part);
    const own = play.querySelector('[data-panel-tab="talk"]'); // a world's own tabs lead there
    if (own?.checkVisibility()) {
      own.click();
      return;
    }
    setOpen(true);
    drawer.querySelector(`[data-drawer-part="${drawer.dataset.drawer}"] h2`)?.focus({ preventScroll: true });
  }

  /* back to what opened it; a link to new jobs may stand in the place of the button */
  function close() {
    setOpen(false);
    const [back] = [toggle, document.getElementById("jobs-waiting"), document.getElementById("menu-title")].filter((one) => one?.checkVisibility());
    back?.focus({ preventScroll: true });
  }

  /* the end stands where the actions stood, and so does the drawer on a small page */
  function onPanels() {
    const isOver = Boolean(document.querySelector("#over.is-over"));
    if (isOver && !ended && !WIDE.matches && isOpen()) setOpen(false);
    ended = isOver;
  }

  /* links into the drawer, such as the one to a new job, open it */
  const partOf = (element) => element?.closest("[data-drawer-part]")?.dataset.drawerPart;

  function onClick(event) {
    const tab = event.target.closest("[data-drawer-tab]");
    if (tab) showPart(tab.dataset.drawerTab);
    else if (event.target.closest("[data-drawer-close]")) close();
    else if (event.target.closest("[data-drawer-toggle]")) isOpen() ? close() : open();
    else {
      const part = partOf(document.getElementById(event.target.closest('a[href^="#"]')?.hash.slice(1)));
      if (part) open(part);
    }
  }

  function onKey(event) {
    if (event.key !== "Escape" || WIDE.matches || !isOpen() || !drawer.contains(event.target)) return;
    close();
  }

  play.classList.toggle("drawer-closed", wasClosed());
  toggle?.setAttribute("aria-expanded", String(isOpen()));
  WIDE.addEventListener("change", () => toggle?.setAttribute("aria-expanded", String(isOpen())));
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  for (const name of ["htmx:wsAfterMessage", "brigade:talk"]) document.addEventListener(name, onMessage);
  play.addEventListener("brigade:panels", onPanels);
  showNews();
})();
