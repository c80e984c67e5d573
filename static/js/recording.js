/* Records the microphone while one plays, and uploads it in pieces. Each load of the page is a take of its own. A
   piece is sent again until the server has it; playing never waits for that. */
"use strict";

(() => {
  const box = document.querySelector("[data-recording]");
  if (!box) return;

  const PIECE_MS = 5000;
  const AGAIN_MS = 3000;
  const MOST_WAITING = 60; // five minutes
  const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
  const said = box.querySelector("[data-recording-said]");
  const button = box.querySelector("[data-recording-pause]");
  const take = crypto.randomUUID().replaceAll("-", "");
  const state = { recorder: null, number: 0, waiting: [], sending: false, past: 0, since: null, steps: [], step: "" };

  const elapsed = () => Math.round(state.past + (state.since === null ? 0 : performance.now() - state.since));

  function tell(words, on) {
    if (said.textContent !== words) said.textContent = words;
    box.classList.toggle("is-on", on);
  }

  function noteStep(step) {
    if (step === undefined || String(step) === state.step || state.since === null) return;
    state.step = String(step);
    state.steps.push(`${elapsed()}:${state.step}`);
  }

  const shownStep = () => document.getElementById("bar")?.dataset.step;

  function address(piece) {
    const words = { take, number: piece.number, ms: piece.ms, steps: piece.steps };
    return `${box.dataset.recording}?${new URLSearchParams(words)}`;
  }

  async function send(piece, keepalive = false) {
    const headers = { "X-CSRFToken": box.dataset.token, "Content-Type": "application/octet-stream" };
    const answer = await fetch(address(piece), { method: "POST", body: piece.data, headers, keepalive });
    if (answer.status === 413 || answer.status === 422 || answer.status === 404) return "refused";
    return answer.ok ? "stored" : "again";
  }

  /* one piece at a time, in their order */
  async function sendAll() {
    if (state.sending) return;
    state.sending = true;
    while (state.waiting.length) {
      const result = await send(state.waiting[0]).catch(() => "again");
      if (result === "refused") return stop();
      if (result === "stored") {
        state.waiting.shift();
        if (state.since !== null) tell(box.dataset.on, true);
      } else {
        if (state.since !== null) tell(box.dataset.behind, true);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
    state.sending = false;
  }

  function stop() {
    state.waiting = [];
    if (state.recorder?.state !== "inactive") state.recorder?.stop();
    state.since = null;
    button.hidden = true;
    tell(box.dataset.silent, false);
  }

  function onPiece(event) {
    if (!event.data.size || event.data.size > Number(box.dataset.largest)) return;
    if (state.waiting.length >= MOST_WAITING) return stop();
    state.waiting.push({ number: state.number, ms: elapsed(), steps: state.steps.join(","), data: event.data });
    state.number += 1;
    state.steps = [];
    sendAll();
  }

  function pause() {
    const records = state.recorder.state === "recording";
    if (records) {
      state.past = elapsed();
      state.since = null;
      state.recorder.pause();
    } else {
      state.since = performance.now();
      state.recorder.resume();
      state.step = "";
      noteStep(shownStep());
    }
    button.textContent = records ? box.dataset.resume : box.dataset.pause;
    tell(records ? box.dataset.paused : box.dataset.on, !records);
  }

  async function begin() {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
      state.recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 24_000 });
      stream.getTracks()[0].addEventListener("ended", stop);
    } catch {
      return stop();
    }
    state.recorder.addEventListener("dataavailable", onPiece);
    state.recorder.addEventListener("error", stop);
    state.recorder.start(PIECE_MS);
    state.since = performance.now();
    noteStep(shownStep());
    button.hidden = false;
    button.addEventListener("click", pause);
    tell(box.dataset.on, true);
  }

  const play = document.querySelector("[data-play]");
  play?.addEventListener("brigade:panels", () => noteStep(shownStep()));
  play?.addEventListener("brigade:tick", (event) => noteStep(event.detail.step));
  window.addEventListener("pagehide", () => {
    if (state.recorder?.state === "recording") state.recorder.requestData();
    if (state.waiting.length) send(state.waiting[0], true).catch(() => {});
  });
  begin();
})();
