/* A file that is too large to be sent is refused when it is chosen, so that nothing typed is lost. */
"use strict";

/* Tie the message to its input for screen readers, or untie it, and keep the other descriptions. */
function describe(input, wrong) {
  const ids = (input.getAttribute("aria-describedby") ?? "").split(" ");
  const others = ids.filter((id) => id && id !== `${input.id}-size`);
  if (wrong) others.unshift(`${input.id}-size`);
  if (others.length) input.setAttribute("aria-describedby", others.join(" "));
  else input.removeAttribute("aria-describedby");
  if (wrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

document.addEventListener("change", (event) => {
  const input = event.target.closest("input[type=file][data-most-bytes]");
  if (!input) return;
  document.getElementById(`${input.id}-size`)?.remove();
  describe(input, false);
  const [file] = input.files;
  const MEGABYTE = 1e6;
  const megabytes = (bytes) => Number((bytes / MEGABYTE).toFixed(1));
  if (!file || file.size <= Number(input.dataset.mostBytes)) return;
  const told = document.createElement("p");
  told.id = `${input.id}-size`;
  told.className = "field-error";
  told.setAttribute("role", "alert");
  told.textContent = `${file.name} has ${megabytes(file.size)} MB. At most ${megabytes(input.dataset.mostBytes)} MB can be sent. Choose a smaller file.`;
  input.before(told);
  describe(input, true);
  input.value = "";
});

/* The form is not sent without the file that it needs: the answer would no longer say why there is none. */
const stopWithoutFile = (event) => {
  const form = (event.detail?.elt ?? event.target).closest("form");
  const refused = [...(form?.querySelectorAll("input[type=file][required]") ?? [])].find(
    (input) => !input.files.length && document.getElementById(`${input.id}-size`),
  );
  if (!refused) return;
  event.preventDefault();
  refused.focus();
  const told = document.getElementById(`${refused.id}-size`);
  told.replaceWith(told); // read out once more
};
document.addEventListener("submit", stopWithoutFile);
document.addEventListener("htmx:configRequest", stopWithoutFile);
