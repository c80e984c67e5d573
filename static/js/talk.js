/* The conversation and the jobs: what was sent leaves its box when it is there, and what others write, or what
   becomes of their jobs, is told once. */
"use strict";

(() => {
  const list = () => document.getElementById("talk");
  if (!list()) return;
  const told = new Map(); // what was told last of each worker, by its id
  const heard = new Set(); // ids of messages that were told, or were there when the page came
  let sent = null; // what is on its way, from which form, and the number of our last message before
  let begun = false;

  const mine = () => Number(list().dataset.mine);
  const boxOf = (form) => form.querySelector('[name="text"]');

  function onSend(event) {
    if (event.target.matches(".job-act")) sent = null; // what counts as ours next is no text from a box
    if (event.target.matches("[data-says]")) sent = { form: event.target, text: JSON.parse(event.detail.message).text, mine: mine() };
  }

  /* a second press before the answer is no second message */
  function onConfigSend(event) {
    if (event.target.matches("[data-says], .job-act")) event.detail.parameters.after = mine();
  }

  function emptyBox() {
    if (sent === null || mine() <= sent.mine) return;
    if (boxOf(sent.form).value === sent.text) {
      boxOf(sent.form).value = "";
      const spoken = sent.form.querySelector('[name="spoken"]');
      if (spoken) spoken.value = "";
      giveKeysBack(boxOf(sent.form));
    }
    sent = null;
  }

  /* a clock does not wait: keys act again as soon as the message is sent */
  function giveKeysBack(box) {
    const keys = document.querySelector("[data-play]").ticking && document.querySelector("[data-keys-switch]:checked");
    if (keys && document.activeElement === box) box.blur();
  }

  /* how workers stand, where that was not written: told when it changes */
  function changed() {
    const workers = [...document.querySelectorAll("[data-told]")].filter((one) => told.get(one.id) !== one.dataset.told);
    for (const one of workers) told.set(one.id, one.dataset.told);
    return workers.map((one) => one.dataset.told).filter(Boolean);
  }

  /* that what was sent is read with the next step: told once for each message */
  function sentNote() {
    const note = list().querySelector("[data-sent-note]");
    const isTold = !note || told.get("sent") === mine();
    if (note) told.set("sent", mine());
    return isTold ? [] : [note.textContent];
  }

  const between = (parts, words) => parts.flatMap((part, number) => (number ? [words, part] : [part]));

  /* a text with its language, in which a screen reader reads it */
  function copyOf(text) {
    const copy = document.createElement("span");
    copy.lang = text.lang;
    copy.textContent = text.textContent;
    return copy;
  }

  function message(line) {
    const whole = document.createElement("span");
    const texts = [...line.querySelectorAll(".said-text")].map((text) => (text.lang ? copyOf(text) : text.textContent));
    whole.append(`${line.querySelector("b").textContent}: `, ...between(texts, ". "));
    return whole;
  }

  function tell(fresh, news) {
    const others = fresh.filter((line) => !line.matches(".is-yours"));
    const said = [...others.map(message), ...news];
    if (said.length) document.getElementById("talk-said").replaceChildren(...between(said, " "));
  }

  /* nothing can be sent while it is another's turn to speak */
  function hold() {
    const held = "waited" in document.getElementById("phase").dataset;
    for (const button of document.querySelectorAll("[data-says] :is([data-send], [data-aim])")) button.disabled = held;
  }

  /* on a phone the jobs are below the world: a link in the bar leads there while one waits for an answer */
  function showWaiting() {
    const link = document.getElementById("jobs-waiting");
    if (link) link.hidden = !document.querySelector(".job.is-given");
  }

  function look() {
    hold();
    showWaiting();
    const fresh = [...document.querySelectorAll("#talk .said, #jobs .said")].filter((line) => !heard.has(line.id));
    const news = [...changed(), ...sentNote()];
    if (begun) tell(fresh, news);
    begun = true;
    for (const line of fresh) heard.add(line.id);
    if (fresh.some((line) => list().contains(line))) list().scrollTop = list().scrollHeight;
    emptyBox();
    offerPartner();
  }

  /* nobody can be written to as the one whom one talks with while one talks with nobody */
  function offerPartner() {
    const option = document.querySelector("[data-partner-option]");
    if (!option) return;
    const talks = Boolean(document.querySelector(".talk-partner[data-partner]"));
    const began = talks && option.disabled;
    option.hidden = option.disabled = !talks;
    if (began) option.selected = true;
    else if (!talks && option.selected) option.nextElementSibling.selected = true;
  }

  const isConnected = () => document.getElementById("connection").dataset.state === "connected";

  /* sends these words, and what stands in the box stays there; returns whether they went out */
  function sendAside(text) {
    const form = document.getElementById("talk-form");
    if (!form || form.querySelector("[data-send]").disabled) return false;
    const box = boxOf(form);
    const written = box.value;
    box.value = text;
    form.requestSubmit();
    box.value = written;
    return isConnected();
  }

  /* a reply that is sent with one press */
  function onReply(event) {
    const button = event.target.closest("[data-reply]");
    if (button) sendAside(button.textContent);
  }

  /* htmx would send it later by itself: it stays in its box instead */
  function onSubmit(event) {
    if (!event.target.matches("[data-says], .job-act")) return;
    const isJob = event.target.id === "job-form";
    const isOffline = isJob && !event.target.noValidate && !navigator.onLine; // a press of “Send it now” tries
    if (isConnected() && !isOffline) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isJob) event.target.dispatchEvent(new CustomEvent("brigade:unsent", { detail: { after: mine() } }));
    else held(true, event.target.closest(".talk"));
  }

  function held(on, within) {
    for (const note of (within ?? document).querySelectorAll("[data-held]")) note.hidden = !on;
  }

  function onConnection() {
    if (isConnected()) held(false);
  }

  /* speech: the browser makes text of it while the button is held; the person reads and sends it */

  const Recogniser = window.SpeechRecognition || window.webkitSpeechRecognition;
  const speak = document.querySelector("[data-speak]");
  let listening = null;

  function begin(event) {
    if (listening || event.repeat || (event.key && ![" ", "Enter"].includes(event.key))) return;
    if (event.key) event.preventDefault();
    listening = new Recogniser();
    listening.lang = document.documentElement.lang;
    listening.onresult = write;
    listening.onend = stopped;
    listening.start();
    speak.setAttribute("aria-pressed", "true");
  }

  function write(event) {
    const box = boxOf(speak.form);
    box.value = [...event.results].map((one) => one[0].transcript).join(" ");
    speak.form.querySelector('[name="spoken"]').value = "1";
  }

  function stopped() {
    listening = null;
    speak.setAttribute("aria-pressed", "false");
    boxOf(speak.form).focus();
  }

  function offerSpeech() {
    speak.hidden = false;
    document.getElementById("speak-note").hidden = false;
    for (const name of ["pointerdown", "keydown"]) speak.addEventListener(name, begin);
    for (const name of ["pointerup", "pointerleave", "keyup", "blur"]) speak.addEventListener(name, () => listening?.stop());
  }

  if (speak && Recogniser) offerSpeech();
  hold();
  showWaiting();
  offerPartner();
  document.querySelector("[data-play]").talk = { sendAside };
  document.addEventListener("click", onReply);
  document.addEventListener("htmx:wsConfigSend", onConfigSend);
  document.addEventListener("htmx:wsAfterSend", onSend);
  for (const name of ["htmx:wsAfterMessage", "brigade:talk"]) document.addEventListener(name, look);
  document.addEventListener("brigade:connection", onConnection, true);
  document.addEventListener("submit", onSubmit, true);
})();
