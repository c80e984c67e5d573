/* What is pointed at, and chosen: with a mouse or a finger, with keys, with a controller's ray. */

import {
  BufferGeometry, Float32BufferAttribute, Group, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, Raycaster, SphereGeometry,
  Vector2, Vector3,
} from "../../vendor/three/three.min.js";

const DRAGGED = 6; // pixels from which a press is no click
const REACH = 8; // metres of a ray that meets nothing
const TURN = 0.006; // radians a pixel
const ACTS = ["Enter", " "]; // keys that act, and once however long they are held

/* what a ray meets first: buttons before places, since nothing hides them */
export function met(ray, { buttons, targets }) {
  const [first] = ray.intersectObjects(buttons, false);
  const [hit] = first ? [first] : ray.intersectObjects(targets, false);
  return hit ? { ...hit.object.userData, distance: hit.distance, point: hit.point } : null;
}

/* a screen: move to point, press to choose, drag to look around */
export function pointOnScreen(frame, view, scenery) {
  const ray = new Raycaster();
  let pressed = null;

  const hitAt = (event) => {
    const box = frame.getBoundingClientRect();
    const place = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    ray.setFromCamera(place, view.camera);
    return met(ray, scenery.things());
  };

  frame.addEventListener("pointerdown", (event) => {
    pressed = { x: event.clientX, y: event.clientY, dragged: false };
  });
  frame.addEventListener("pointermove", (event) => {
    if (pressed && event.buttons) drag(event);
    else {
      const hit = hitAt(event);
      frame.classList.toggle("points", Boolean(hit));
      scenery.point(hit);
    }
  });
  /* The second click of a double one may meet what was not there before the first. */
  frame.addEventListener("click", (event) => {
    if (pressed && !pressed.dragged && !scenery.page.twice()) scenery.choose(hitAt(event));
    pressed = null;
  });
  /* with Ctrl, as two fingers on a pad send it, the wheel is ours; else it scrolls the page */
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    view.zoom(event.deltaY > 0 ? 1.08 : 1 / 1.08);
    scenery.resized();
  }, { passive: false });

  function drag(event) {
    const [x, y] = [event.clientX - pressed.x, event.clientY - pressed.y];
    if (!pressed.dragged && Math.hypot(x, y) < DRAGGED) return;
    Object.assign(pressed, { x: event.clientX, y: event.clientY, dragged: true });
    view.turn(-x * TURN, y * TURN);
    scenery.resized();
  }
}

/* keys, while the scene has the focus */
export function pointWithKeys(frame, view, scenery) {
  const looks = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] };
  const keys = {
    ArrowLeft: () => scenery.step(-1),
    ArrowRight: () => scenery.step(1),
    ArrowUp: () => scenery.panel.step(-scenery.panel.across),
    ArrowDown: () => scenery.panel.step(scenery.panel.across),
    Enter: () => scenery.chooseHere(),
    " ": () => scenery.chooseHere(),
    Backspace: () => scenery.closePanel(),
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== frame) return;
    if (event.shiftKey && looks[event.key]) {
      view.turn(...looks[event.key]);
      scenery.resized();
    } else if (keys[event.key]) {
      if (!event.repeat || !ACTS.includes(event.key)) keys[event.key]();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/* the controllers of a headset, or hands: a ray each, the trigger chooses */
export class Rays {
  constructor(renderer, scenery, colour) {
    this.scenery = scenery;
    this.group = new Group();
    this.ray = new Raycaster();
    this.rays = [0, 1].map((index) => this.#ray(renderer.xr.getController(index), colour));
  }

  #ray(controller, colour) {
    const shape = new BufferGeometry().setAttribute("position", new Float32BufferAttribute([0, 0, 0, 0, 0, -1], 3));
    const line = new Line(shape, new LineBasicMaterial({ color: colour }));
    const dot = new Mesh(new SphereGeometry(0.018, 16, 12), new MeshBasicMaterial({ color: colour, depthTest: false }));
    dot.renderOrder = 20;
    controller.add(line);
    this.group.add(controller, dot);
    controller.visible = dot.visible = false;
    controller.addEventListener("connected", () => {
      controller.visible = true;
    });
    controller.addEventListener("disconnected", () => {
      controller.visible = dot.visible = false;
    });
    controller.addEventListener("select", () => this.scenery.choose(this.#met(controller)));
    return { controller, line, dot };
  }

  #met(controller) {
    controller.updateWorldMatrix(true, false);
    this.ray.ray.origin.setFromMatrixPosition(controller.matrixWorld);
    this.ray.ray.direction.copy(new Vector3(0, 0, -1).transformDirection(controller.matrixWorld));
    return met(this.ray, this.scenery.things());
  }

  /* once for each picture: rays end where they meet something; what one has come to is pointed at */
  follow() {
    for (const one of this.rays.filter(({ controller }) => controller.visible)) {
      const hit = this.#met(one.controller);
      one.line.scale.z = hit ? hit.distance : REACH;
      one.dot.visible = Boolean(hit);
      if (hit) one.dot.position.copy(hit.point);
      const met = hit && (hit.button ?? hit.spot);
      if (met !== one.met) this.scenery.point(hit);
      one.met = met;
    }
  }
}
