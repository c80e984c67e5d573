/* Answers that are not sent yet outlive a reload: kept in this tab under the page's address. */
"use strict";

const form = document.querySelector("form[data-draft]");
const place = form && `brigade.draft:${form.dataset.draft}`;

function keptAnswers() {
  try {
    return JSON.parse(sessionStorage.getItem(place) || "{}");
  } catch {
    return {};
  }
}

function keep() {
  const answers = {};
  for (const [name, value] of new FormData(form)) {
    if (name !== "csrfmiddlewaretoken") answers[name] = value;
  }
  try {
    sessionStorage.setItem(place, JSON.stringify(answers));
  } catch {
    /* a browser without storage keeps nothing, and the form still works */
  }
}

function putBack(field, value) {
  if (field.type === "radio" || field.type === "checkbox") {
    const group = form.querySelectorAll(`[name="${CSS.escape(field.name)}"]:checked`);
    if (!group.length && field.value === value) field.checked = true;
  } else if (field.type !== "hidden" && !field.value) {
    field.value = value;
  }
}

if (form) {
  const answers = keptAnswers();
  for (const field of form.elements) {
    if (field.name in answers) putBack(field, answers[field.name]);
  }
  form.addEventListener("input", keep);
}
