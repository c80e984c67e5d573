// A grid of letters that is drawn: cells over the box of letters, which is what the form sends. Its words and
// letters come with the page; what is to be said of a drawing comes from the server.
(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const MOST_BACK = 200; // drawings that can be taken back
  const LEAST = 3; // columns, and rows
  const STEPS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const known = new Map(); // by the box of letters: what new fields must not lose
  const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  class DrawnGrid extends HTMLElement {
    connectedCallback() {
      this.box = document.getElementById(this.dataset.rows);
      this.cells = this.querySelector("[role=grid]");
      this.said = this.querySelector("[data-said]");
      this.tiles = new Map([...this.querySelectorAll("[data-tile]")].map((one) => [one.dataset.tile, one]));
      [this.nothing] = this.tiles.keys();
      const pressed = this.querySelector("[aria-pressed=true]").dataset.tile;
      const { at, before, chosen, held } = known.get(this.dataset.rows) ?? { at: [1, 1], before: [], chosen: pressed, held: false };
      [this.at, this.before] = [at, before];
      this.choose(chosen);
      this.querySelector("details").open = false;
      this.querySelector(".drawing-tools").hidden = false;
      this.read();
      this.listen();
      if (held) this.go(this.at);
    }

    listen() {
      this.cells.addEventListener("keydown", (event) => this.pressed(event));
      this.cells.addEventListener("click", ({ target }) => this.touched(target));
      this.cells.addEventListener("pointerover", (event) => {
        if (event.pointerType === "mouse" && event.buttons === 1) this.touched(event.target);
      });
      this.box.addEventListener("input", () => this.read());
      this.addEventListener("click", ({ target }) => this.clicked(target.closest("button")));
      this.widths = new ResizeObserver(() => this.measure());
      this.widths.observe(this.cells.parentElement);
    }

    /* rows of one length, at least as many as can be drawn */
    read() {
      const rows = this.box.value.replace(/\n+$/, "").split("\n");
      const columns = Math.max(LEAST, ...rows.map((row) => row.length));
      while (rows.length < LEAST) rows.push("");
      this.rows = rows.map((row) => [...row.padEnd(columns, this.nothing)]);
      if (document.activeElement !== this.box && this.box.value !== this.text()) {
        this.box.value = this.text();
        this.filled = true;
      }
      this.draw();
    }

    write(rows) {
      if (rows.map((row) => row.join("")).join("\n") === this.text()) return false;
      this.before = [...this.before.slice(1 - MOST_BACK), this.rows];
      this.show(rows);
      return true;
    }

    show(rows) {
      this.rows = rows;
      this.box.value = this.text();
      this.draw();
      this.box.dispatchEvent(new Event("input", { bubbles: true }));
    }

    text() {
      return this.rows.map((row) => row.join("")).join("\n");
    }

    /* cells */

    draw() {
      const height = this.rows.length;
      const width = this.rows[0].length;
      const held = this.cells.contains(document.activeElement);
      this.at = [Math.min(this.at[0], width - 1), Math.min(this.at[1], height - 1)];
      if (this.cells.children.length !== height || this.cells.firstElementChild.children.length !== width) this.lay(width, height);
      this.rows.forEach((row, y) => row.forEach((letter, x) => this.fill(this.cell([x, y]), letter, x, y)));
      this.querySelector("[data-says-size]").textContent = filled(this.dataset.size, { columns: width, rows: height });
      this.go(this.at, held);
      this.measure();
    }

    /* whether some of its columns are out of sight */
    measure() {
      const frame = this.cells.parentElement;
      frame.classList.toggle("is-wider", frame.scrollWidth > frame.clientWidth);
    }

    lay(width, height) {
      this.cells.style.setProperty("--columns", width);
      const rows = Array.from({ length: height }, () => {
        const row = document.createElement("div");
        row.setAttribute("role", "row");
        row.append(...Array.from({ length: width }, () => {
          const cell = document.createElement("div");
          cell.setAttribute("role", "gridcell");
          cell.tabIndex = -1;
          return cell;
        }));
        return row;
      });
      this.cells.replaceChildren(...rows);
    }

    fill(cell, letter, x, y) {
      const tile = this.tiles.get(letter);
      cell.setAttribute("aria-label", filled(this.dataset.cell, { row: y + 1, column: x + 1, tile: tile?.dataset.name ?? letter }));
      if (cell.dataset.letter === letter) return;
      cell.dataset.letter = letter;
      cell.classList.toggle("is-nothing", letter === this.nothing || tile?.dataset.once !== undefined);
      cell.replaceChildren(...(tile?.dataset.picture ? [this.picture(tile.dataset.picture)] : []), letter);
    }

    picture(name) {
      const picture = document.createElementNS(SVG, "svg");
      const use = document.createElementNS(SVG, "use");
      picture.setAttribute("viewBox", "0 0 48 48");
      picture.setAttribute("aria-hidden", "true");
      use.setAttribute("href", `${this.dataset.pictures}#${name}`);
      picture.append(use);
      return picture;
    }

    cell([x, y]) {
      return this.cells.children[y].children[x];
    }

    go(at, focus = true) {
      this.cells.querySelectorAll("[tabindex='0']").forEach((one) => (one.tabIndex = -1));
      this.at = at;
      this.cell(at).tabIndex = 0;
      if (focus) this.cell(at).focus();
    }

    /* what people do */

    pressed(event) {
      const back = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
      if (!back && (event.ctrlKey || event.metaKey || event.altKey)) return;
      if (back) this.undo();
      else if (event.key in STEPS) this.move(STEPS[event.key]);
      else if (event.key === "Home" || event.key === "End") this.go([event.key === "Home" ? 0 : this.rows[0].length - 1, this.at[1]]);
      else if (event.key === "Enter") this.put(this.chosen);
      else if (event.key === "Delete" || event.key === "Backspace") this.put(this.nothing);
      else if (this.tiles.has(event.key.toUpperCase())) this.put(event.key.toUpperCase());
      else return;
      event.preventDefault();
    }

    move([dx, dy]) {
      const [x, y] = [this.at[0] + dx, this.at[1] + dy];
      if (this.rows[y]?.[x] !== undefined) this.go([x, y]);
    }

    touched(target) {
      const cell = target.closest("[role=gridcell]");
      if (!cell) return;
      const row = cell.parentElement;
      this.go([[...row.children].indexOf(cell), [...this.cells.children].indexOf(row)]);
      this.put(this.chosen);
    }

    put(letter) {
      const [x, y] = this.at;
      const once = this.tiles.get(letter).dataset.once !== undefined;
      const kept = (found) => (once && found === letter ? this.nothing : found);
      const rows = this.rows.map((row) => row.map(kept));
      rows[y][x] = letter;
      if (this.write(rows)) this.said.textContent = this.cell(this.at).getAttribute("aria-label");
    }

    clicked(button) {
      if (!button) return;
      const { tile, grow, shrink } = button.dataset;
      if (tile) this.choose(tile);
      else if (grow) this.sized(grow, 1);
      else if (shrink) this.sized(shrink, -1);
      else if ("undo" in button.dataset) this.undo();
    }

    choose(letter) {
      this.chosen = letter;
      this.tiles.forEach((one, of) => one.setAttribute("aria-pressed", String(of === letter)));
    }

    /* one more or one fewer, before the last one: what stands at the border stays there */
    sized(what, by) {
      const across = what === "column";
      const [count, most] = across ? [this.rows[0].length, this.dataset.columns] : [this.rows.length, this.dataset.lines];
      if (count + by < LEAST || count + by > Number(most)) return;
      const fresh = (length) => Array.from({ length }, (_, n) => (n === 0 || n === length - 1 ? this.dataset.border : this.nothing));
      const rows = this.rows.map((row) => [...row]);
      if (across) {
        const column = fresh(rows.length);
        rows.forEach((row, y) => row.splice(count - 1 + Math.min(by, 0), by < 0 ? 1 : 0, ...(by < 0 ? [] : [column[y]])));
      } else rows.splice(count - 1 + Math.min(by, 0), by < 0 ? 1 : 0, ...(by < 0 ? [] : [fresh(rows[0].length)]));
      this.write(rows);
      this.said.textContent = this.querySelector("[data-says-size]").textContent;
    }

    /* what there is to say of it is heard where it is another than before */
    hold(target) {
      if (target === this.nextElementSibling) this.told = target.textContent.trim();
      if (!target.contains(this)) return;
      const { at, before, chosen, cells } = this;
      known.set(this.dataset.rows, { at, before, chosen, held: cells.contains(document.activeElement) });
    }

    tell(target) {
      const now = target.textContent.trim();
      if (target !== this.nextElementSibling) return;
      if (now !== this.told) this.said.textContent = now;
      if (!target.querySelector(".refused")) this.right();
    }

    /* what was refused when it was saved is put right: neither the field nor the top of the page says otherwise */
    right() {
      const field = this.closest(".question-field");
      field.classList.remove("has-error");
      field.querySelector(":scope > .field-error")?.remove();
      const summary = document.querySelector("[data-error-summary]");
      summary?.querySelectorAll(`a[href="#${this.parentElement.id}"]`).forEach((one) => one.closest("li").remove());
      if (summary && !summary.querySelector("li")) summary.remove();
    }

    /* what was drawn while new fields came is in the box again (fields.js): keys go on from there at once */
    resume() {
      if (this.text() === this.box.value) return;
      this.filled = true;
      this.read();
    }

    /* and it is to be looked at; so are rows that were filled up */
    again() {
      if (this.text() === this.box.value && !this.filled) return;
      this.filled = false;
      this.read();
      this.box.dispatchEvent(new Event("input", { bubbles: true }));
    }

    undo() {
      const rows = this.before.pop();
      if (!rows) return;
      this.show(rows);
      this.said.textContent = this.cell(this.at).getAttribute("aria-label");
    }
  }

  customElements.define("drawn-grid", DrawnGrid);
  const every = () => document.querySelectorAll("drawn-grid");
  document.addEventListener("htmx:afterSettle", () => every().forEach((one) => one.again()));
  document.addEventListener("htmx:beforeSwap", ({ detail }) => every().forEach((one) => one.hold(detail.target)));
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    every().forEach((one) => one.tell(detail.target));
    queueMicrotask(() => every().forEach((one) => one.resume()));
  });
})();
