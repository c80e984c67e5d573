/* The scene in three dimensions, on a screen and in a headset. Loaded when somebody asks for it (door.js).

   It shows what the page shows and sends by the page's own menu. After each message of the server the page is
   read anew. */

import { Vector3, WebGLRenderer } from "../../vendor/three/three.min.js";
import { box, canvasOf, write } from "./canvases.js";
import { Scenery } from "./scenery.js";
import { readPage } from "./page.js";
import { pointOnScreen, pointWithKeys, Rays } from "./pointing.js";
import { card } from "./place.js";
import { themeOf } from "./theme.js";
import { View } from "./view.js";
import { SAY } from "./words.js";

class Show {
  constructor({ play, frame, looks, say, onLeave }) {
    Object.assign(this, { play, frame, looks, onLeave });
    this.stale = true; // something is otherwise than it was drawn last
    this.page = readPage(play);
    this.wake = () => {
      this.stale = true;
    };
    this.renderer = new WebGLRenderer({ canvas: frame.querySelector("canvas"), antialias: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.renderer.xr.enabled = true;
    this.scenery = new Scenery(this.page, looks, themeOf(play), { say, wake: this.wake });
    this.view = new View(this.scenery.plan);
    this.scenery.resized = () => this.fit();
    this.rays = new Rays(this.renderer, this.scenery, this.scenery.theme.accent);
    this.scenery.scene.add(this.rays.group);
    pointOnScreen(frame, this.view, this.scenery);
    pointWithKeys(frame, this.view, this.scenery);
    new ResizeObserver(() => this.fit()).observe(frame);
    document.addEventListener("htmx:wsAfterMessage", () => this.running && this.scenery.update());
  }

  async start() {
    this.running = true;
    await document.fonts.load(`600 20px ${this.scenery.theme.font}`);
    this.fit();
    await this.scenery.update();
    this.renderer.setAnimationLoop(() => this.draw());
  }

  stop() {
    this.running = false;
    this.scenery.closePanel();
    this.renderer.setAnimationLoop(null);
  }

  fit() {
    const { clientWidth, clientHeight } = this.frame;
    if (!clientWidth || this.renderer.xr.isPresenting) return;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.view.fit(clientWidth, clientHeight);
    this.wake();
  }

  draw() {
    const inside = this.renderer.xr.isPresenting;
    const moving = this.scenery.move(performance.now());
    this.scenery.board.mesh.visible = inside;
    if (inside) this.rays.follow();
    if (!inside && !moving && !this.stale) return;
    this.stale = false;
    this.placePanel(inside);
    this.renderer.render(this.scenery.scene, this.view.camera);
  }

  placePanel(inside) {
    const { group } = this.scenery.panel;
    const stands = this.scenery.panelAt();
    if (!stands) return;
    if (inside) {
      const far = this.scenery.plan.radius - 1.1;
      group.position.set(far * Math.sin(stands.angle), 1.3, -far * Math.cos(stands.angle));
      group.rotation.set(0, -stands.angle, 0);
      group.scale.setScalar(0.6);
    } else this.#onScreen(group, stands.place);
  }

  /* at the foot of the frame, below its place: there is only floor */
  #onScreen(group, place) {
    const { camera } = this.view;
    const { across, down } = this.scenery.panel;
    const width = Math.min(0.94, across * Math.max(0.3, 220 / this.frame.clientWidth));
    const seen = place.clone().project(camera);
    const most = Math.max(0, 0.96 - width);
    const depth = 0.55 * camera.position.distanceTo(place);
    const half = Math.tan((camera.fov * Math.PI) / 360) * depth;
    const x = Math.max(-most, Math.min(most, seen.x)) * half * camera.aspect;
    const scale = (width * half * camera.aspect * 2) / (1.53 * across);
    const y = (down * 0.135 * scale) - 0.96 * half;
    group.position.copy(camera.localToWorld(new Vector3(x, y, -depth)));
    group.quaternion.copy(camera.quaternion);
    group.scale.setScalar(scale);
  }

  /* a headset: until its person leaves, by their own device or by the button that stands there */
  async enter() {
    const session = await navigator.xr.requestSession("immersive-vr", { requiredFeatures: ["local-floor"] });
    const leave = this.#leaveButton(() => session.end());
    this.scenery.scene.add(leave);
    this.scenery.extra.push(leave);
    session.addEventListener("end", () => {
      leave.removeFromParent();
      this.scenery.extra = [];
      this.rays.group.children.forEach((one) => {
        one.visible = false;
      });
      this.onLeave();
    });
    await this.renderer.xr.setSession(session);
  }

  #leaveButton(act) {
    const { theme } = this.scenery;
    const canvas = canvasOf(512, 128);
    const pen = canvas.getContext("2d");
    box(pen, [0, 0, 512, 128], { fill: theme.card, edge: theme["steel-line"] });
    write(pen, SAY.backToPage, 256, 68, { font: theme.font, size: 48, colour: theme.ink, align: "center" });
    const button = card(canvas, 0.6, 0.15);
    button.position.set(0, 0.5, -1.3);
    button.rotation.x = -0.7;
    button.userData = { act };
    return button;
  }
}

export const show = (told) => new Show(told);
