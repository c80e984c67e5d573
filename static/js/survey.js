/* Answers that are not sent yet outlive a reload: kept in this tab under the page's address, in the order of the
   form (a list for each name, as several boxes share one). What belongs to another page is thrown away. */
"use strict";

const PREFIX = "brigade.draft:";
const form = document.querySelector("form[data-draft]");
const place = form ? `${PREFIX}${form.dataset.draft}` : "";

function keptAnswers() {
  try {
    return JSON.parse(sessionStorage.getItem(place) || "{}");
  } catch {
    return {};
  }
}

function dropOthers() {
  try {
    const names = Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX) && name !== place);
    for (const name of names) sessionStorage.removeItem(name);
  } catch {
    /* a browser without storage has kept nothing */
  }
}

function fields() {
  return [...form.elements].filter((field) => field.name && (field.type !== "hidden" || "kept" in field.dataset) && field.type !== "submit");
}

const isBox = (field) => field.type === "radio" || field.type === "checkbox";

function keep() {
  const answers = {};
  for (const field of fields()) {
    const values = (answers[field.name] ||= []);
    if (!isBox(field) || field.checked) values.push(field.value);
  }
  try {
    sessionStorage.setItem(place, JSON.stringify(answers));
  } catch {
    /* a browser without storage keeps nothing, and the form still works */
  }
}

/* What was typed last wins over what the page came with: the page came from what had been sent before. */
function putBack(field, values) {
  if (isBox(field)) field.checked = values.includes(field.value);
  else if (values.length) field.value = values[0];
}

dropOthers();
if (form) {
  const answers = keptAnswers();
  for (const field of fields()) {
    if (Array.isArray(answers[field.name])) putBack(field, answers[field.name]);
  }
  form.addEventListener("input", keep);
  form.addEventListener("change", keep);
}
