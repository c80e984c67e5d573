/* Insert a file of the study into the text at the cursor, and show the preview without loading the page again. */
"use strict";

(() => {
  const fold = document.querySelector("[data-insert-into]");
  const text = fold && document.getElementById(fold.dataset.insertInto);
  if (!text) return;
  const form = text.form;
  text.closest(".question-field")?.after(fold); // beside the text it belongs to

  async function preview() {
    const sent = new FormData(form);
    sent.set("_preview", "1");
    sent.delete("upload-file"); // stored once, when the form itself is sent
    const answer = await fetch(form.action || location.href, { method: "POST", body: sent });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.querySelector("[aria-labelledby=shown-title]");
    const before = document.querySelector("[aria-labelledby=shown-title]");
    if (!now) return;
    if (before) before.replaceWith(now);
    else form.after(now);
  }

  const cursor = form.querySelector("[name=upload-cursor]");
  text.addEventListener("blur", () => {
    // Where the uploaded file comes, in characters: an emoji counts as two in selectionStart.
    if (cursor) cursor.value = [...text.value.slice(0, text.selectionStart)].length;
  });
  fold.addEventListener("click", (event) => {
    const button = event.target.closest("[data-insert]");
    if (!button) return;
    const { selectionStart: start, selectionEnd: end, value } = text;
    const gap = start && value[start - 1] !== "\n" ? "\n\n" : "";
    const below = value[end] && value[end] !== "\n" ? "\n\n" : "\n";
    text.setRangeText(`${gap}${button.dataset.insert}${below}`, start, end, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
    fold.querySelector("[data-inserted]").textContent = button.dataset.said;
    preview().catch(() => {}); // the button Preview still works
  });
})();
