/* The board over the places: the step, what is wanted, and what was said last. As the page has them. */

import { box, canvasOf, lines, put, write } from "./canvases.js";
import { pictureOf } from "./pictures.js";
import { card, repaint } from "./place.js";

const [WIDE, HIGH] = [1600, 560];
const MOST = 5; // orders that fit

export class Board {
  constructor(theme) {
    this.theme = theme;
    this.mesh = card(canvasOf(WIDE, HIGH), 4.2, 1.47);
    this.shown = "";
  }

  async show({ step, phase, told }, orders) {
    const key = JSON.stringify([step, phase, told, orders]);
    if (key === this.shown) return;
    this.shown = key;
    const wanted = orders.slice(0, MOST);
    const images = await Promise.all(wanted.map((order) => pictureOf(order.picture)));
    if (this.shown !== key) return;
    repaint(this.mesh, this.#drawn({ step, phase, told }, wanted, images));
  }

  #drawn({ step, phase, told }, orders, images) {
    const canvas = canvasOf(WIDE, HIGH);
    const pen = canvas.getContext("2d");
    const { theme } = this;
    box(pen, [0, 0, WIDE, HIGH], { fill: theme.card, edge: theme["steel-line"], line: 6, radius: 36 });
    write(pen, step, 48, 66, { font: theme.font, size: 54, weight: 700, colour: theme.ink, most: 420 });
    write(pen, phase, WIDE - 48, 66, { font: theme.font, size: 46, weight: 600, colour: theme["ink-soft"], align: "right", most: 1000 });
    orders.forEach((order, index) => this.#order(pen, order, images[index], 40 + index * 308));
    this.#told(pen, told);
    return canvas;
  }

  #order(pen, { name, left, late }, image, x) {
    const { theme } = this;
    const [fill, edge] = late ? [theme["warn-wash"], theme.warn] : [theme.well, theme.line];
    box(pen, [x, 118, 288, 270], { fill, edge, radius: 24 });
    put(pen, image, x + 84, 132, 120);
    pen.font = `700 34px ${theme.font}`;
    const words = lines(pen, name, 264).slice(0, 2);
    words.forEach((line, index) => {
      const y = words.length > 1 ? 278 + index * 36 : 294;
      write(pen, line, x + 144, y, { font: theme.font, size: 34, weight: 700, colour: theme.ink, align: "center", most: 268 });
    });
    write(pen, left, x + 144, 360, { font: theme.font, size: 32, weight: 600, colour: late ? theme.warn : theme["ink-soft"], align: "center", most: 268 });
  }

  #told(pen, told) {
    const { theme } = this;
    pen.font = `600 38px ${theme.font}`;
    lines(pen, told, WIDE - 96).slice(0, 3).forEach((line, index) => {
      write(pen, line, 48, 426 + index * 46, { font: theme.font, size: 38, weight: 600, colour: theme.accent, most: WIDE - 96 });
    });
  }
}
