/* A notice stands beside what it is about: below the actions, or in the part of the drawer from which something was sent.
   The line moves when something is sent, so that it is there before the server's answer. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const slot = play?.querySelector("[data-notice-slot]");
  if (!slot) return;

  const head = slot.parentElement;

  function put(sent) {
    const part = sent?.closest?.(".talk");
    const menu = document.getElementById("menu");
    if (part) part.append(slot);
    else if (!menu) (document.getElementById("job-form")?.closest(".talk") ?? head).append(slot);
    else if (menu.nextElementSibling !== slot) menu.after(slot); // to put it there once more would lay out the page
  }

  document.addEventListener("htmx:wsConfigSend", (event) => put(event.target));
  play.addEventListener("brigade:drawer", () => slot.parentElement.checkVisibility() || put(null)); // it is closed: seen all the same
  put(null);
})();
