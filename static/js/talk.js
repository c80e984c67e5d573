/* The conversation: what was sent leaves its box when it is there, and what others write is told once. */
"use strict";

(() => {
  const form = document.getElementById("talk-form");
  if (!form) return;
  const box = form.querySelector("#talk-text");
  const heard = new Set(); // ids of messages that were told, or were there when the page came
  let sent = null; // what is on its way, and how many messages of ours there were before
  let begun = false;

  const list = () => document.getElementById("talk");
  const mine = () => Number(list().dataset.mine);
  const lines = () => [...list().querySelectorAll(".said")];

  function onSend(event) {
    if (event.target === form) sent = { text: box.value, mine: mine() };
  }

  function emptyBox() {
    if (sent === null || mine() <= sent.mine) return;
    if (box.value === sent.text) box.value = "";
    sent = null;
  }

  const words = (line) => `${line.querySelector("b").textContent}: ${line.querySelector(".said-text").textContent}`;

  function tell(fresh) {
    const others = fresh.filter((line) => !line.matches(".is-yours"));
    if (others.length) document.getElementById("talk-said").textContent = others.map(words).join(" ");
  }

  function look() {
    const fresh = lines().filter((line) => !heard.has(line.id));
    if (begun) tell(fresh);
    begun = true;
    for (const line of fresh) heard.add(line.id);
    if (fresh.length) list().scrollTop = list().scrollHeight;
    emptyBox();
  }

  /* htmx would send it later by itself; it is said that it was not, and it stays in its box */
  function onSubmit(event) {
    if (event.target !== form || document.getElementById("connection").dataset.state === "connected") return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  document.addEventListener("htmx:wsAfterSend", onSend);
  document.addEventListener("htmx:wsAfterMessage", look);
  document.addEventListener("submit", onSubmit, true);
})();
