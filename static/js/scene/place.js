/* One place of the scene: a counter, the picture of what stands on it, its name, and what lies in it. */

import { BoxGeometry, Group, Mesh, MeshBasicMaterial, MeshLambertMaterial, PlaneGeometry } from "../../vendor/three/three.min.js";
import { box, canvasOf, disc, mark, plaque, ring, textureOf } from "./canvases.js";
import { pictureOf } from "./pictures.js";

const TOP = 0.78; // of the counter
const ABREAST = 4; // things side by side over a place
const SIZE = 0.27; // of a thing

/* a flat thing with a picture on it, seen from the front */
export function card(canvas, width, height, { inFront = false } = {}) {
  const material = new MeshBasicMaterial({ map: textureOf(canvas), transparent: true, depthWrite: false, depthTest: !inFront });
  material.toneMapped = false;
  const made = new Mesh(new PlaneGeometry(width, height), material);
  made.renderOrder = inFront ? 10 : 1;
  return made;
}

export function repaint(mesh, canvas) {
  mesh.material.map.dispose();
  mesh.material.map = textureOf(canvas);
}

export function drop(mesh) {
  mesh.removeFromParent();
  mesh.traverse((part) => {
    part.geometry?.dispose();
    part.material?.map?.dispose();
    part.material?.dispose();
  });
}

export class Place {
  constructor({ spot, name }, looks, theme) {
    this.spot = spot;
    this.name = name;
    this.theme = theme;
    this.group = new Group();
    this.shown = "";
    this.things = [];
    this.#build(looks.counter(theme));
  }

  #build({ top, front, plinth }) {
    const block = (width, height, depth, y, z, colour) => {
      const part = new Mesh(new BoxGeometry(width, height, depth), new MeshLambertMaterial({ color: colour }));
      part.position.set(0, y, z);
      this.group.add(part);
    };
    block(1.06, 0.08, 0.58, 0.04, 0, plinth);
    block(1.1, TOP - 0.14, 0.62, 0.08 + (TOP - 0.14) / 2, 0, front);
    block(1.16, 0.06, 0.7, TOP - 0.03, 0.02, top);
    this.halo = card(canvasOf(8, 8), 1.16, 0.98);
    this.halo.position.set(0, TOP + 0.46, -0.06);
    this.halo.visible = false;
    this.sign = card(plaque(this.name, this.theme), 1.02, 0.234);
    this.sign.position.set(0, TOP - 0.2, 0.34);
    this.group.add(this.halo, this.sign);
    this.target = new Mesh(new BoxGeometry(1.14, 1.9, 0.8), new MeshBasicMaterial());
    this.target.position.y = 0.95;
    this.target.visible = false; // a ray meets it all the same
    this.target.userData.spot = this.spot;
    this.group.add(this.target);
  }

  async picture(href) {
    const image = await pictureOf(href);
    const canvas = canvasOf(384, 288);
    const pen = canvas.getContext("2d");
    const scale = image ? Math.min(384 / image.width, 288 / image.height) : 0;
    if (image) pen.drawImage(image, (384 - image.width * scale) / 2, 288 - image.height * scale, image.width * scale, image.height * scale);
    this.tool = card(canvas, 0.98, 0.735);
    this.tool.position.set(0, TOP + 0.37, 0.05);
    this.group.add(this.tool);
  }

  /* what lies in it: drawn anew only if it is something else */
  async show(contents, { chosen, hinted = false }) {
    this.#mark({ chosen, hinted, ready: contents.ready });
    const key = JSON.stringify(contents);
    if (key === this.shown) return;
    this.shown = key;
    const drawn = await this.#drawn(contents);
    if (this.shown !== key) return;
    for (const thing of this.things) drop(thing);
    this.things = drawn;
    if (drawn.length) this.group.add(...drawn);
  }

  async #drawn({ items, missing, left, whole, ready }) {
    const edge = this.theme["steel-line"];
    const discs = await Promise.all([
      ...items.map(async (href) => disc(await pictureOf(href), { edge })),
      ...missing.map(async (href) => disc(await pictureOf(href), { edge, missing: true })),
    ]);
    const things = discs.map((canvas, index) => this.#lying(canvas, index, discs.length));
    if (left) things.push(this.#badge(ring(left, whole, this.theme)));
    else if (ready) things.push(this.#badge(mark("✓", this.theme.good, this.theme.card, this.theme.font)));
    return things;
  }

  #lying(canvas, index, many) {
    const rows = Math.ceil(many / ABREAST);
    const row = Math.floor(index / ABREAST);
    const inRow = row < rows - 1 ? ABREAST : many - ABREAST * (rows - 1);
    const thing = card(canvas, SIZE, SIZE);
    thing.position.set(((index % ABREAST) - (inRow - 1) / 2) * (SIZE + 0.01), TOP + 0.92 + row * (SIZE + 0.01), 0.12);
    thing.renderOrder = 2;
    return thing;
  }

  #badge(canvas) {
    const badge = card(canvas, 0.36, 0.36);
    badge.position.set(0.42, TOP + 0.62, 0.14);
    badge.renderOrder = 3;
    return badge;
  }

  /* pointed at, then where the hint leads (a dashed ring), then ready: the first of these */
  #mark({ chosen, hinted, ready }) {
    const state = Object.entries({ chosen, hinted, ready }).find(([, so]) => so)?.[0] || "";
    if (state === this.state) return;
    this.state = state;
    this.halo.visible = Boolean(state);
    if (state) repaint(this.halo, this.#glow(state));
    repaint(this.sign, plaque(this.name, this.theme, { picked: chosen }));
  }

  #glow(state) {
    const colour = state === "ready" ? this.theme.good : this.theme.accent;
    const canvas = canvasOf(384, 324);
    const pen = canvas.getContext("2d");
    pen.globalAlpha = 0.22;
    box(pen, [0, 0, 384, 324], { fill: colour, radius: 40 });
    pen.globalAlpha = 1;
    box(pen, [0, 0, 384, 324], { edge: colour, line: state === "hinted" ? 18 : 9, radius: 40, dash: state === "hinted" ? [54, 30] : [] });
    return canvas;
  }
}

