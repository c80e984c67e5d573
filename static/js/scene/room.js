/* The room: floor, wall, light. Plain on purpose: what is to be read stands in it. */

import {
  CylinderGeometry, DirectionalLight, DoubleSide, HemisphereLight, Group, Mesh, MeshLambertMaterial, RepeatWrapping,
  RingGeometry,
} from "../../vendor/three/three.min.js";
import { canvasOf, textureOf } from "./canvases.js";

function tiles(theme) {
  const canvas = canvasOf(128, 128);
  const pen = canvas.getContext("2d");
  pen.fillStyle = theme.card;
  pen.fillRect(0, 0, 128, 128);
  pen.fillStyle = theme.well;
  pen.fillRect(0, 0, 64, 64);
  pen.fillRect(64, 64, 64, 64);
  const texture = textureOf(canvas);
  texture.wrapS = texture.wrapT = RepeatWrapping;
  return texture;
}

export function roomOf(radius, half, theme) {
  const room = new Group();
  const ground = radius + 1.6;
  const floor = new Mesh(new RingGeometry(0.01, ground, 72, 12), new MeshLambertMaterial({ map: tiles(theme) }));
  floor.material.map.repeat.set(ground, ground);
  floor.rotation.x = -Math.PI / 2;
  const arc = 2 * half + 0.5;
  const shape = new CylinderGeometry(radius + 0.62, radius + 0.62, 1.02, 64, 1, true, Math.PI - arc / 2, arc);
  const wall = new Mesh(shape, new MeshLambertMaterial({ color: theme["accent-wash"], side: DoubleSide }));
  wall.position.y = 0.51;
  const sun = new DirectionalLight("#fff6e8", theme.dark ? 1.1 : 1.5);
  sun.position.set(-3, 6, 4);
  room.add(floor, wall, new HemisphereLight("#ffffff", theme.dark ? "#5a6668" : "#d8d0c0", theme.dark ? 1.7 : 2), sun);
  return room;
}
