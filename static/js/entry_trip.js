/* Before a person enters: measures how long the server takes to answer, and writes the time into the form. If the
   person presses the button earlier, the form waits for it. If an answer takes too long, the time is our patience. If
   nothing can be measured, the field stays empty. The server says what to do. */
"use strict";

(() => {
  const field = document.querySelector("form [data-trip]");
  const said = document.querySelector("[data-trip-said]");
  if (!field || !said) return;

  const TIMES = 6; // requests, of which the first one may still open the connection
  const PATIENCE = 3000; // milliseconds for an answer
  const { form } = field;

  async function once() {
    const began = performance.now();
    const answer = await fetch(said.dataset.address, { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(PATIENCE) });
    if (!answer.ok) throw new Error(String(answer.status));
    return performance.now() - began;
  }

  async function measure() {
    const times = [];
    for (let number = 0; number < TIMES; number += 1) times.push(await once());
    const sorted = times.slice(1).sort((one, other) => one - other);
    field.value = String(Math.round(sorted[Math.floor(sorted.length / 2)]));
  }

  function giveUp(error) {
    if (error.name === "TimeoutError") field.value = String(PATIENCE);
  }

  let done = false;
  const measured = measure().catch(giveUp).finally(() => (done = true));

  form.addEventListener("submit", async (event) => {
    if (done) return;
    event.preventDefault();
    said.hidden = false;
    await measured;
    said.hidden = true;
    form.requestSubmit(event.submitter);
  });
})();
