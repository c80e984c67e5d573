/* The test of the microphone: a bar shows what it hears, and one can go on when it has heard something. */
"use strict";

(() => {
  const box = document.querySelector("[data-microphone]");
  if (!box) return;

  const HEARD = 0.04; // of the loudest; a quiet room is below it
  const test = box.querySelector("[data-microphone-test]");
  const said = box.querySelector("[data-microphone-said]");
  const go = box.querySelector("[data-microphone-go]");
  const meter = box.querySelector("meter");
  let loudest = 0;

  function watch(stream) {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    context.createMediaStreamSource(stream).connect(analyser);
    const values = new Float32Array(analyser.fftSize);
    said.textContent = box.dataset.listening;
    setInterval(() => {
      analyser.getFloatTimeDomainData(values);
      const level = Math.max(...values.map(Math.abs));
      meter.value = level;
      loudest = Math.max(loudest, level);
      if (loudest < HEARD || !go.disabled) return;
      go.disabled = false;
      said.textContent = box.dataset.heard;
    }, 100);
  }

  async function begin() {
    test.disabled = true;
    said.textContent = box.dataset.asking;
    try {
      if (!window.MediaRecorder) throw new TypeError(); // it could hear, but not record
      watch(await navigator.mediaDevices.getUserMedia({ audio: true }));
    } catch {
      said.textContent = box.dataset.refused;
      test.disabled = false;
    }
  }

  test.hidden = false;
  test.addEventListener("click", begin);
})();
