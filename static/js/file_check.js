/* What was wrong with a file before is no longer said when the file is checked again. */
"use strict";

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.target?.id !== "file-report") return;
  const form = document.getElementById("file-form");
  for (const one of document.querySelectorAll("[data-error-summary]")) one.remove();
  for (const one of form.querySelectorAll(".field-error")) one.remove();
  for (const one of form.querySelectorAll(".has-error")) one.classList.remove("has-error");
  for (const one of form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
});
