/* Tables that can be sorted by their heads and narrowed by a search box. */
"use strict";

const readCell = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();

function compare(a, b) {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, "en", { numeric: true });
}

function sortBy(head) {
  const body = head.closest("table").tBodies[0];
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...body.rows].sort((a, b) => compare(readCell(a, head.cellIndex), readCell(b, head.cellIndex)));
  body.append(...(up ? rows : rows.reverse()));
}

function makeSortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(head));
    head.append(button);
  }
}

function filterRows(box) {
  const rows = [...document.getElementById(box.dataset.filter).tBodies[0].rows];
  const words = box.value.toLowerCase().split(/\s+/);
  for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  const told = document.getElementById(`${box.dataset.filter}-count`);
  if (told) told.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("input[data-filter]").forEach((box) => {
  box.hidden = false;
  box.addEventListener("input", () => filterRows(box));
});
