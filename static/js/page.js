/* Small helps for every page: dialogs, copying a code, the focus on what has to be put right. */
"use strict";

/* without a script, or without the dialog, a link leads to the page about the same */
function openDialog(event, button) {
  const dialog = document.getElementById(button.dataset.open);
  if (!dialog) return;
  event.preventDefault();
  if (!dialog.open) dialog.showModal();
}

async function copyText(button) {
  const source = document.getElementById(button.dataset.copy);
  const told = document.getElementById(button.dataset.told);
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    if (told) told.textContent = button.dataset.copied;
  } catch {
    getSelection().selectAllChildren(source);
    if (told) told.textContent = button.dataset.selected;
  }
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  const copier = event.target.closest("[data-copy]");
  if (opener) openDialog(event, opener);
  if (copier) copyText(copier);
  if (event.target instanceof HTMLDialogElement) event.target.close();
});

document.querySelector("[data-error-summary]")?.focus();
