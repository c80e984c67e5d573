/* Recorded sound on the replay: a button plays it from the step that is shown. */
"use strict";

(() => {
  const slider = document.getElementById("replay-step");
  for (const audio of document.querySelectorAll("audio[data-sound]")) {
    const steps = audio.dataset.sound.split(",").filter(Boolean).map((pair) => pair.split(":").map(Number));
    const button = audio.parentElement.querySelector("[data-sound-here]");
    const place = () => steps.findLast(([, step]) => step <= Number(slider.value)) ?? steps[0] ?? [0, 0];

    button.hidden = false;
    button.addEventListener("click", () => {
      for (const other of document.querySelectorAll("audio")) other.pause();
      audio.currentTime = place()[0] / 1000;
      audio.play();
    });
  }
})();
