/* How it is looked at: on a screen from above and behind, turned by dragging or by keys; in a headset from where
   the person stands. Nothing turns or moves by itself. */

import { PerspectiveCamera, Vector3 } from "../../vendor/three/three.min.js";
import { WIDTH } from "./plan.js";

const TURN = 0.9; // radians to each side at most
const LOW = 0.2;
const STEEP = 1.1;

export class View {
  constructor(plan) {
    this.camera = new PerspectiveCamera(34, 1, 0.05, 80);
    this.plan = plan;
    this.turned = 0;
    this.raised = 0.44;
    this.nearer = 1;
  }

  /* all that has to be seen, as points */
  #points() {
    const { radius, angles: taken } = this.plan;
    const least = (1.7 * WIDTH) / radius; // few places are not looked at from nearer
    const angles = [...taken, -least, least];
    const spots = angles.flatMap((angle) =>
      [[radius + 0.3, 1.95], [radius - 1.35, 0]].map(([r, y]) => new Vector3(r * Math.sin(angle), y, -r * Math.cos(angle))));
    const edges = [Math.min(...angles), Math.max(...angles)].map((angle) =>
      new Vector3((radius + 0.3) * Math.sin(angle) + Math.sign(angle) * 0.6, 0.4, -radius * Math.cos(angle)));
    return [...spots, ...edges];
  }

  /* stand so far off that all of it is seen, whatever the shape of the frame */
  fit(width, height) {
    const { camera } = this;
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    const points = this.#points();
    const middle = points.reduce((sum, point) => sum.add(point), new Vector3()).divideScalar(points.length);
    middle.set(0, 0.5, middle.z); // rather low: the panel is at the foot
    const way = new Vector3(
      Math.sin(this.turned) * Math.cos(this.raised), Math.sin(this.raised), Math.cos(this.turned) * Math.cos(this.raised));
    const sees = (far) => {
      camera.position.copy(middle).addScaledVector(way, far);
      camera.lookAt(middle);
      camera.updateMatrixWorld();
      return points.every((point) => {
        const seen = point.clone().project(camera);
        return Math.abs(seen.x) < 0.97 && Math.abs(seen.y) < 0.96 && seen.z < 1;
      });
    };
    let far = 3;
    while (!sees(far) && far < 40) far *= 1.03;
    sees(far * this.nearer);
  }

  turn(by, up) {
    this.turned = Math.max(-TURN, Math.min(TURN, this.turned + by));
    this.raised = Math.max(LOW, Math.min(STEEP, this.raised + up));
  }

  zoom(by) {
    this.nearer = Math.max(0.45, Math.min(1.2, this.nearer * by));
  }
}
