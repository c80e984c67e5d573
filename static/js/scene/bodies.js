/* The bodies: each is its seat's shape with its number, as a body, in its colour; over it what it holds. */

import {
  CylinderGeometry, ExtrudeGeometry, Group, Mesh, MeshBasicMaterial, MeshLambertMaterial, RingGeometry, Shape, Vector2,
  Vector3,
} from "../../vendor/three/three.min.js";
import { canvasOf, disc, mark, plaque, write } from "./canvases.js";
import { pictureOf } from "./pictures.js";
import { card, drop } from "./place.js";
import { STILL } from "./theme.js";
import { SAY } from "./words.js";

const TALL = 0.56; // of a body
const GLIDE = 420; // milliseconds of a way
const CORNERS = 120; // points of an outline

/* the outline of a seat's shape as the page draws it, 24 by 24, with y upwards around its middle */
function outline(seat) {
  const shape = document.querySelector(`#seat-${seat + 1} .seat-shape`);
  const whole = shape.getTotalLength();
  const points = Array.from({ length: CORNERS }, (_, index) => shape.getPointAtLength((whole * index) / CORNERS));
  return points.map(({ x, y }) => new Vector2(((x - 12) / 24) * TALL, ((12 - y) / 24) * TALL));
}

function number(seat, colour) {
  const canvas = canvasOf(128, 128);
  const style = { font: getComputedStyle(document.body).fontFamily, size: 84, weight: 800, colour, align: "center" };
  write(canvas.getContext("2d"), String(seat + 1), 64, 64, style);
  const face = card(canvas, TALL * 0.62, TALL * 0.62);
  const middle = seat === 2 ? -2.5 / 24 : 0; // lower in the triangle, as in seats.html
  face.position.set(0, middle * TALL, 0.105);
  return face;
}

export class Body {
  constructor({ seat, you }, theme) {
    this.group = new Group();
    this.theme = theme;
    this.holds = "";
    this.way = null; // from where to where, since when
    this.#build(seat, you);
  }

  #build(seat, you) {
    const colour = getComputedStyle(document.querySelector(`#seat-${seat + 1} .seat-shape`)).fill;
    const dark = getComputedStyle(document.querySelector(`#seat-${seat + 1} .seat-number`)).fill;
    const solid = { depth: 0.16, bevelEnabled: true, bevelSize: 0.02, bevelThickness: 0.02, bevelSegments: 3 };
    const body = new Mesh(new ExtrudeGeometry(new Shape(outline(seat)), solid), new MeshLambertMaterial({ color: colour }));
    body.position.z = -0.08;
    this.body = new Group();
    this.body.position.y = 0.18 + TALL / 2;
    this.body.add(body, number(seat, dark));
    const base = new Mesh(new CylinderGeometry(0.19, 0.23, 0.13, 32), new MeshLambertMaterial({ color: this.theme["steel-line"] }));
    base.position.y = 0.065;
    this.group.add(this.body, base, this.#shadow());
    if (you) this.group.add(this.#you());
  }

  #shadow() {
    const canvas = canvasOf(128, 128);
    const pen = canvas.getContext("2d");
    const fade = pen.createRadialGradient(64, 64, 8, 64, 64, 64);
    fade.addColorStop(0, "rgb(0 0 0 / 45%)");
    fade.addColorStop(1, "rgb(0 0 0 / 0%)");
    pen.fillStyle = fade;
    pen.fillRect(0, 0, 128, 128);
    const shadow = card(canvas, 0.8, 0.8);
    shadow.rotation.x = -Math.PI / 2;
    shadow.position.y = 0.012;
    return shadow;
  }

  #you() {
    const group = new Group();
    const round = new Mesh(new RingGeometry(0.3, 0.36, 48), new MeshBasicMaterial({ color: this.theme.accent }));
    round.rotation.x = -Math.PI / 2;
    round.position.y = 0.02;
    const sign = card(plaque(SAY.you, this.theme, { picked: true, width: 176 }), 0.36, 0.18);
    sign.position.set(0, 0.11, 0.32);
    group.add(round, sign);
    return group;
  }

  /* where it is to be; it glides there, unless motion is not wanted or it is new */
  async show({ holds, refused }, to) {
    const target = new Vector3(...to);
    if (!this.placed || STILL.matches) this.group.position.copy(target);
    else if (target.distanceTo(this.group.position) > 0.01) this.way = { from: this.group.position.clone(), to: target, since: performance.now() };
    this.placed = true;
    this.#face();
    this.#refuse(refused);
    if (holds !== this.holds) await this.#hold(holds);
  }

  #face() {
    const { x, z } = this.way?.to || this.group.position;
    this.group.rotation.y = 0.5 * Math.atan2(-x, -z); // half to the middle, half to who looks from behind it
  }

  async #hold(holds) {
    this.holds = holds;
    const image = await pictureOf(holds);
    if (this.holds !== holds) return;
    if (this.held) drop(this.held);
    this.held = image && card(disc(image, { edge: this.theme.ink }), 0.36, 0.36);
    if (!this.held) return;
    this.held.position.set(0.24, 0.18 + TALL + 0.06, 0.16);
    this.held.renderOrder = 4;
    this.group.add(this.held);
  }

  #refuse(refused) {
    if (Boolean(this.warning) === refused) return;
    if (this.warning) drop(this.warning);
    this.warning = refused ? card(mark("!", this.theme.warn, this.theme.card, this.theme.font), 0.26, 0.26) : null;
    if (!this.warning) return;
    this.warning.position.set(-0.26, 0.18 + TALL + 0.02, 0.16);
    this.warning.renderOrder = 4;
    this.group.add(this.warning);
  }

  /* whether it is still on its way */
  move(now) {
    if (!this.way) return false;
    const part = Math.min(1, (now - this.way.since) / GLIDE);
    const eased = 1 - (1 - part) ** 3;
    this.group.position.lerpVectors(this.way.from, this.way.to, eased);
    if (part === 1) this.way = null;
    return true;
  }
}

