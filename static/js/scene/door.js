/* The button beside the drawing that opens the scene in three dimensions, and the way back. The scene itself is
   loaded when it is wanted; how it was seen is told to the server. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  const door = play?.querySelector("[data-scene]");
  const stage = play?.querySelector("[data-stage]");
  if (!door || !stage) return;

  const SAY = JSON.parse(document.getElementById("words").textContent); // kitchen/play/live/render_page.py
  const part = (name) => door.querySelector(`[data-scene-${name}]`);
  const [opener, room, frame, headset, note] = ["open", "room", "frame", "headset", "note"].map(part);
  let show = null; // once it was opened
  let socket = null;

  document.addEventListener("htmx:wsOpen", (event) => {
    socket = event.detail.socketWrapper;
  });

  const tell = (way) => socket?.send(JSON.stringify({ type: "scene", way }));

  function say(text) {
    const line = part("said");
    if (line.textContent !== text) line.textContent = text;
  }

  async function load() {
    const [scene, looks] = await Promise.all([import(door.dataset.scene), import(door.dataset.looks)]);
    return scene.show({ play, frame, looks: looks.LOOKS, say, onLeave: close });
  }

  async function open() {
    opener.disabled = true;
    try {
      room.hidden = false;
      show ||= await load();
      play.classList.add("in-scene");
      await show.start();
      frame.focus({ preventScroll: true });
      note.textContent = "";
      tell("screen");
    } catch (problem) {
      console.warn(problem);
      close();
      note.textContent = SAY.noScene;
    }
    opener.disabled = false;
  }

  function close() {
    show?.stop();
    room.hidden = true;
    play.classList.remove("in-scene");
    opener.focus({ preventScroll: true });
  }

  async function enter() {
    try {
      await show.enter();
      tell("headset");
    } catch (problem) {
      console.warn(problem);
      note.textContent = SAY.headsetRefused;
    }
  }

  async function lookForHeadset() {
    const there = await navigator.xr?.isSessionSupported("immersive-vr").catch(() => false);
    headset.hidden = !there; // nobody is told of what they did not ask for
  }

  opener.addEventListener("click", open);
  part("close").addEventListener("click", close);
  headset.addEventListener("click", enter);
  /* wherever the focus is, where nothing else is open that Esc closes */
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !room.hidden && !document.querySelector("dialog[open]")) close();
  });
  (stage.closest(".stage-frame") || stage).before(door);
  play.querySelector("[data-board-head] .views")?.after(part("doors")); // no row of its own
  door.hidden = false;
  lookForHeadset();
  navigator.xr?.addEventListener?.("devicechange", lookForHeadset);
})();
