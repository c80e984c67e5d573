/* Records the microphone while one plays, and uploads it in pieces. Each load of the page is a take of its own. A
   piece is kept until the server says that it has it; playing never waits for that. The microphone is closed at the
   end of the game, and whenever the recording ends earlier. A pause holds for all pages of the tab. */
"use strict";

(() => {
  const box = document.querySelector("[data-recording]");
  if (!box) return;

  const CHUNK_MS = 500; // what the recorder still holds is lost when somebody leaves the page
  const PIECE_MS = 5000;
  const AGAIN_MS = 3000;
  const MOST_WAITING = 60; // five minutes
  const MOST_AT_LEAVING = 60_000; // bytes that a browser sends after its page was left
  const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
  const PAUSED = `recording-paused ${box.dataset.recording.split("/sound/")[0]}`;
  const play = document.querySelector("[data-play]");
  const said = box.querySelector("[data-recording-said]");
  const button = box.querySelector("[data-recording-pause]");
  const state = {};

  const elapsed = () => Math.round(state.past + (state.since === null ? 0 : performance.now() - state.since));
  const bar = () => document.getElementById("bar")?.dataset ?? {};
  const isOver = () => bar().phase === "over";

  function reset() {
    const take = crypto.randomUUID().replaceAll("-", "");
    const times = { past: 0, since: null, steps: [], step: "", heard: 0, why: "" };
    Object.assign(state, times, { take, number: 0, chunks: [], closed: 0, waiting: [], sent: null, sending: false });
    Object.assign(state, { stream: null, recorder: null, ended: false, refused: false });
  }

  function tell(words, on) {
    if (said.textContent !== words) said.textContent = words;
    box.classList.toggle("is-on", on);
  }

  function noteStep(step) {
    if (step === undefined || String(step) === state.step || state.since === null) return;
    state.step = String(step);
    state.steps.push(`${elapsed()}:${state.step}`);
  }

  /* the number of the piece that the server wants next, -1 if it wants none, null if it could not say so */
  async function send(piece) {
    const words = new URLSearchParams({ take: state.take, number: piece.number, ms: piece.ms, steps: piece.steps, ended: piece.ended });
    const headers = { "X-CSRFToken": box.dataset.token, "Content-Type": "application/octet-stream" };
    const keepalive = piece.data.size < MOST_AT_LEAVING; // it arrives, though the page is left meanwhile
    const options = { method: "POST", body: piece.data, headers, keepalive };
    const answer = await fetch(`${box.dataset.recording}?${words}`, options);
    if ([404, 413, 422].includes(answer.status)) return -1;
    return answer.ok ? (await answer.json()).next : null;
  }

  /* one piece at a time, in their order */
  async function sendAll() {
    if (state.sending) return;
    state.sending = true;
    while (state.waiting.length) {
      const piece = state.waiting[0];
      state.sent = piece;
      const next = await send(piece).catch(() => null);
      state.sent = null;
      if (next === null) {
        if (state.since !== null) tell(box.dataset.behind, true);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      } else if (next <= piece.number) {
        refuse();
      } else {
        state.waiting = state.waiting.filter((one) => one.number >= next);
        if (state.since !== null) tell(box.dataset.on, true);
      }
    }
    state.sending = false;
  }

  /* the server takes no more of this take, or lacks a piece that is gone */
  function refuse() {
    state.refused = true;
    state.chunks = [];
    state.waiting = [];
    finish(box.dataset.silent, "");
  }

  /* close the microphone; what was recorded so far is still sent */
  function finish(words, why) {
    if (state.ended) return;
    state.why = why;
    state.past = elapsed();
    state.since = null;
    state.ended = true;
    if (state.recorder && state.recorder.state !== "inactive") state.recorder.stop(); // its last piece follows
    for (const track of state.stream?.getTracks() ?? []) track.stop();
    button.hidden = true;
    tell(words, false);
  }

  function onChunk(event) {
    if (state.refused || event.target !== state.recorder) return;
    state.chunks.push(event.data);
    state.heard = elapsed(); // the length of the file with this chunk
    if (state.recorder.state === "inactive") finish(box.dataset.silent, "microphone"); // it stopped by itself
    if (elapsed() - state.closed < PIECE_MS && state.recorder.state === "recording") return;
    closePiece();
    if (state.waiting.length >= MOST_WAITING) finish(box.dataset.ended, "connection");
    sendAll();
  }

  /* the chunks so far as one piece that waits, or as several if they are large */
  function closePiece() {
    const all = new Blob(state.chunks);
    const largest = Number(box.dataset.largest);
    for (let from = 0; from < all.size; from += largest) {
      const data = all.slice(from, from + largest);
      state.waiting.push({ number: state.number, ms: state.heard, steps: state.steps.join(","), data, ended: state.why });
      state.number += 1;
      state.steps = [];
    }
    state.chunks = [];
    state.closed = elapsed();
  }

  function showPause(paused) {
    button.textContent = paused ? box.dataset.resume : box.dataset.pause;
    button.hidden = false;
    tell(paused ? box.dataset.paused : box.dataset.on, !paused);
  }

  function pause() {
    sessionStorage.setItem(PAUSED, "yes");
    state.past = elapsed();
    state.since = null;
    state.recorder.requestData(); // what was said so far
    state.recorder.pause();
    showPause(true);
  }

  function resume() {
    sessionStorage.removeItem(PAUSED);
    if (!state.recorder) return record();
    state.recorder.resume();
    count();
  }

  function count() {
    state.since = performance.now();
    state.step = "";
    noteStep(bar().step);
    showPause(false);
  }

  async function record() {
    button.hidden = true;
    try {
      state.stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
      state.recorder = new MediaRecorder(state.stream, { mimeType, audioBitsPerSecond: 24_000 });
    } catch {
      return finish(box.dataset.silent, "microphone");
    }
    const lost = () => finish(box.dataset.silent, "microphone");
    state.stream.getTracks()[0].addEventListener("ended", lost);
    state.recorder.addEventListener("dataavailable", onChunk);
    state.recorder.addEventListener("error", lost);
    if (isOver()) return finish(box.dataset.ended, "game"); // while the browser asked
    state.recorder.start(CHUNK_MS);
    count();
  }

  function begin() {
    reset();
    if (isOver()) finish(box.dataset.ended, "game");
    else if (sessionStorage.getItem(PAUSED)) showPause(true);
    else record();
  }

  /* the pieces that wait, as far as they fit, as one: the server joins pieces anyway */
  function leave() {
    finish(box.dataset.ended, "page");
    closePiece();
    const joined = { data: new Blob(), steps: [] };
    for (const piece of state.waiting.filter((one) => one !== state.sent)) {
      if (joined.data.size + piece.data.size >= MOST_AT_LEAVING) break;
      joined.number ??= piece.number;
      joined.ms = piece.ms;
      joined.ended = piece.ended;
      joined.steps.push(...(piece.steps ? [piece.steps] : []));
      joined.data = new Blob([joined.data, piece.data]);
    }
    state.waiting = [];
    state.refused = true; // a last chunk comes too late to be sent
    if (joined.data.size) send({ ...joined, steps: joined.steps.join(",") }).catch(() => {});
  }

  play?.addEventListener("brigade:panels", () => {
    noteStep(bar().step);
    if (isOver()) finish(box.dataset.ended, "game");
  });
  play?.addEventListener("brigade:tick", (event) => noteStep(event.detail.step));
  button.addEventListener("click", () => (state.since === null ? resume() : pause()));
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", (event) => event.persisted && begin());
  begin();
})();
