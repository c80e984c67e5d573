/* The sounds of play, made by the browser itself: no files. `sounds` of [data-play]: `start()` after a click or key,
   `stop()`, and `play(name)` with one of NAMES. Each is a few tones and bursts of noise in Hz, seconds and loudness. */
"use strict";

(() => {
  const play = document.querySelector("[data-play]");
  if (!play || !window.AudioContext) return;

  const LOUD = 0.22;
  const SOON = 0.09; // seconds within which the same sound is not played again
  /* [wave, from, to, begins, lasts, loudness]; noise has the middle of its band as `from` and `to` */
  const SOUNDS = {
    step: [["triangle", 190, 120, 0, 0.07, 0.6], ["noise", 500, 300, 0, 0.04, 0.25]],
    chop: [["noise", 2400, 1400, 0, 0.045, 1], ["square", 260, 180, 0, 0.03, 0.25], ["noise", 2400, 1400, 0.13, 0.045, 0.9], ["noise", 2600, 1500, 0.25, 0.045, 0.8]],
    place: [["triangle", 175, 82, 0, 0.1, 0.9], ["noise", 900, 320, 0, 0.06, 0.7]],
    sizzle: [["noise", 5200, 6800, 0, 0.55, 0.55], ["noise", 7600, 5600, 0.12, 0.5, 0.35]],
    ready: [["sine", 1319, 1319, 0, 0.5, 0.6], ["sine", 1976, 1976, 0.12, 0.7, 0.5]],
    served: [["triangle", 523, 523, 0, 0.16, 0.7], ["triangle", 659, 659, 0.1, 0.16, 0.7], ["triangle", 784, 784, 0.2, 0.18, 0.7], ["triangle", 1047, 1047, 0.3, 0.5, 0.8], ["sine", 2093, 2093, 0.3, 0.5, 0.25]],
    missed: [["sawtooth", 330, 294, 0, 0.24, 0.3], ["sawtooth", 233, 165, 0.22, 0.5, 0.35]],
    star: [["sine", 1047, 1047, 0, 0.12, 0.6], ["sine", 1319, 1319, 0.09, 0.12, 0.6], ["sine", 1568, 1568, 0.18, 0.12, 0.6], ["sine", 2093, 2093, 0.27, 0.6, 0.6]],
    last: [["square", 1175, 1100, 0, 0.035, 0.3]],
    message: [["sine", 587, 784, 0, 0.1, 0.7], ["sine", 784, 1047, 0.13, 0.14, 0.7]],
  };
  let context = null;
  let out = null;
  let hiss = null;
  const played = {}; // when each was played last

  function start() {
    if (!context) {
      context = new AudioContext();
      out = new GainNode(context, { gain: LOUD });
      out.connect(context.destination);
      hiss = new AudioBuffer({ length: context.sampleRate, sampleRate: context.sampleRate });
      const samples = hiss.getChannelData(0);
      for (let at = 0; at < samples.length; at += 1) samples[at] = 2 * Math.random() - 1;
    }
    return context.resume();
  }

  const stop = () => context?.suspend();

  function source(wave, from, to, at, lasts) {
    if (wave === "noise") return band(from, to, at, lasts);
    const tone = new OscillatorNode(context, { type: wave, frequency: from });
    tone.frequency.exponentialRampToValueAtTime(to, at + lasts);
    return [tone, tone];
  }

  function band(from, to, at, lasts) {
    const noise = new AudioBufferSourceNode(context, { buffer: hiss, loop: true });
    const filter = new BiquadFilterNode(context, { type: "bandpass", frequency: from, Q: 1.2 });
    filter.frequency.exponentialRampToValueAtTime(to, at + lasts);
    noise.connect(filter);
    return [noise, filter];
  }

  function sound([wave, from, to, begins, lasts, loudness]) {
    const at = context.currentTime + begins;
    const [first, last] = source(wave, from, to, at, lasts);
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0.0001, at);
    volume.gain.exponentialRampToValueAtTime(loudness, at + 0.008);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + lasts);
    last.connect(volume).connect(out);
    first.start(at);
    first.stop(at + lasts + 0.02);
  }

  function playSound(name) {
    if (context?.state !== "running" || !SOUNDS[name]) return;
    if (context.currentTime - (played[name] ?? -1) < SOON) return;
    played[name] = context.currentTime;
    SOUNDS[name].forEach(sound);
  }

  play.sounds = { start, stop, play: playSound, NAMES: Object.keys(SOUNDS) };
})();
