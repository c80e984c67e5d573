/* Recorded sound on the replay: buttons play it from the step that is shown, and from a place of the
   transcript. */
"use strict";

(() => {
  const slider = document.getElementById("replay-step");
  for (const audio of document.querySelectorAll("audio[data-sound]")) {
    const steps = audio.dataset.sound.split(",").filter(Boolean).map((pair) => pair.split(":").map(Number));
    const button = audio.parentElement.querySelector("[data-sound-here]");
    const place = () => steps.findLast(([, step]) => step <= Number(slider.value)) ?? steps[0] ?? [0, 0];

    const playFrom = (seconds) => {
      for (const other of document.querySelectorAll("audio")) other.pause();
      audio.currentTime = seconds;
      audio.play();
    };

    button.hidden = false;
    button.addEventListener("click", () => playFrom(place()[0] / 1000));
    const said = audio.closest("section").querySelectorAll(`[data-sound-of="${audio.dataset.take}"]`);
    for (const at of said) at.addEventListener("click", () => playFrom(Number(at.dataset.soundAt)));
  }
})();
