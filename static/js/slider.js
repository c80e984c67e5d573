/* Shows number fields in `data-slider` as sliders. There is no answer before somebody moves one: the number field
   stays empty and is what the form sends. Without a script, people type the number. */
"use strict";

function showSlider(box) {
  const typed = box.querySelector("input");
  const range = document.createElement("input");
  range.type = "range";
  for (const name of ["min", "max", "step"]) range.setAttribute(name, typed.getAttribute(name));
  range.id = typed.id; /* links and the label lead here */
  typed.removeAttribute("id");
  for (const name of ["aria-describedby", "aria-invalid"]) {
    if (typed.hasAttribute(name)) range.setAttribute(name, typed.getAttribute(name));
  }
  const shown = document.createElement("output");
  shown.setAttribute("aria-hidden", "true");
  shown.hidden = "silent" in typed.dataset;
  const unit = box.querySelector(".unit");

  const show = () => {
    const isAnswered = typed.value !== "";
    box.classList.toggle("unanswered", !isAnswered);
    if (isAnswered) range.value = typed.value;
    shown.textContent = isAnswered ? typed.value : "";
    const words = [typed.value, unit?.textContent].filter(Boolean).join(" ");
    range.setAttribute("aria-valuetext", isAnswered ? words : box.dataset.unanswered);
  };
  const answer = () => {
    if (typed.value === range.value) return;
    typed.value = range.value;
    typed.dispatchEvent(new Event("input", { bubbles: true }));
    show();
  };
  range.addEventListener("input", answer);
  range.addEventListener("pointerup", answer); /* pressed where the slider already is */
  range.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      answer();
    }
  });
  typed.type = "hidden";
  typed.dataset.kept = "yes";
  typed.before(range);
  typed.after(shown);
  show();
}

document.querySelectorAll("[data-slider]").forEach(showSlider);
