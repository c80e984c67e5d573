/* The lobby: asks how it stands, shows it in the server's words, and leads on when it begins. */
"use strict";

(() => {
  const box = document.querySelector("[data-lobby]");
  if (!box) return;

  const EVERY = 2000; // milliseconds between two looks
  const come = box.querySelector("[data-lobby-come]");
  const waited = box.querySelector("[data-lobby-waited]");
  const left = box.querySelector("[data-lobby-left]");
  const title = document.title;
  let timer = 0;

  function say(element, words) {
    if (element.textContent !== words) element.textContent = words;
  }

  function goOn() {
    say(come, box.dataset.ready);
    say(waited, "");
    say(left, "");
    document.title = `● ${box.dataset.ready}`;
    location.assign(box.dataset.next);
  }

  async function look() {
    clearTimeout(timer);
    try {
      const headers = { "X-CSRFToken": box.dataset.token };
      const answer = await fetch(box.dataset.lobby, { method: "POST", headers, credentials: "same-origin" });
      if (answer.status === 404) return goOn();
      if (!answer.ok) throw new Error(String(answer.status));
      const stands = await answer.json();
      if (stands.on) return goOn();
      if (box.dataset.unread && stands.unread > box.dataset.unread) return location.reload(); // a message of staff
      document.title = title;
      say(come, stands.come);
      say(waited, stands.waited);
      say(left, stands.left);
    } catch {
      say(left, box.dataset.lost);
    }
    clearTimeout(timer);
    timer = setTimeout(look, EVERY);
  }

  function goodbye() { // the server knows which load of the page it is of
    const form = new FormData();
    form.set("gone", box.dataset.loads);
    form.set("csrfmiddlewaretoken", box.dataset.token);
    navigator.sendBeacon(box.dataset.lobby, form);
  }

  timer = setTimeout(look, EVERY);
  window.addEventListener("pagehide", goodbye);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look());
})();
