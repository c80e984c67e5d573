/* The small menu of a place, as buttons that stand in the room. */

import { Group } from "../../vendor/three/three.min.js";
import { box, canvasOf, lines, put, write } from "./canvases.js";
import { pictureOf } from "./pictures.js";
import { card, drop, repaint } from "./place.js";
import { SAY } from "./words.js";

const PER_PAGE = 6;
const IN_COLUMN = 3; // more than these stand in two columns
const [WIDE, HIGH] = [1.5, 0.25]; // of a button
const PIXELS = [768, 128];

async function face({ words, picture }, theme, lit) {
  const canvas = canvasOf(...PIXELS);
  const pen = canvas.getContext("2d");
  const image = await pictureOf(picture);
  box(pen, [0, 4, PIXELS[0], PIXELS[1] - 8], {
    fill: lit ? theme["accent-wash"] : theme.card, edge: lit ? theme.accent : theme["steel-line"], line: lit ? 8 : 4,
  });
  put(pen, image, 24, 24, 80);
  const left = image ? 124 : 36;
  const style = { font: theme.font, size: 44, weight: 600, colour: theme.ink };
  pen.font = `600 44px ${theme.font}`;
  const told = lines(pen, words, PIXELS[0] - left - 24).slice(0, 2);
  const small = told.length > 1;
  told.forEach((line, index) => {
    const y = small ? 42 + index * 44 : 66;
    write(pen, line, left, y, { ...style, size: small ? 38 : 44, most: PIXELS[0] - left - 24 });
  });
  return canvas;
}

export class Panel {
  constructor(theme) {
    this.theme = theme;
    this.group = new Group();
    this.buttons = [];
    this.spot = "";
    this.lit = -1;
  }

  get open() {
    return Boolean(this.spot);
  }

  /* these choices, `{words, picture, act}`, so many as fit, and a button for the rest */
  async show(spot, choices, rest = []) {
    this.hide();
    this.spot = spot;
    const whole = choices.length + (rest.length ? 1 : 0) <= PER_PAGE;
    const shown = whole ? [...choices] : choices.slice(0, PER_PAGE - 1);
    const later = [...choices.slice(shown.length), ...rest];
    if (later.length) shown.push({ words: rest[0]?.rare || SAY.more, picture: "", act: () => this.show(spot, later) });
    const faces = await Promise.all(shown.map((choice) => face(choice, this.theme, false)));
    if (this.spot !== spot || this.buttons.length) return;
    this.buttons = faces.map((canvas, index) => this.#button(canvas, shown[index], index, shown.length));
    this.group.add(...this.buttons);
    this.light(0);
    this.onChange?.();
  }

  #button(canvas, choice, index, many) {
    const button = card(canvas, WIDE, HIGH, { inFront: true });
    const across = many > IN_COLUMN ? 2 : 1;
    const [row, column] = [Math.floor(index / across), index % across];
    button.position.x = (column - (across - 1) / 2) * (WIDE + 0.03);
    button.position.y = ((Math.ceil(many / across) - 1) / 2 - row) * (HIGH + 0.02);
    button.userData = { button: index, choice };
    return button;
  }

  async light(index) {
    if (index === this.lit || !this.buttons[index]) return;
    const before = this.buttons[this.lit];
    this.lit = index;
    const turned = [[before, false], [this.buttons[index], true]].filter(([button]) => button);
    for (const [button, lit] of turned) {
      const canvas = await face(button.userData.choice, this.theme, lit);
      if (button.parent && (this.buttons[this.lit] === button) === lit) repaint(button, canvas);
    }
    this.onChange?.();
  }

  get across() {
    return this.buttons.length > IN_COLUMN ? 2 : 1;
  }

  get down() {
    return Math.ceil(this.buttons.length / this.across);
  }

  /* the words of the button that is lit */
  get words() {
    return this.buttons[this.lit]?.userData.choice.words || "";
  }

  step(by) {
    if (this.buttons.length) this.light((this.lit + by + this.buttons.length) % this.buttons.length);
  }

  act(index = this.lit) {
    this.buttons[index]?.userData.choice.act();
  }

  hide() {
    for (const button of this.buttons) drop(button);
    this.buttons = [];
    this.spot = "";
    this.lit = -1;
  }
}

