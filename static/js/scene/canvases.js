/* What is written and drawn in the scene: canvases that become textures. Lengths are in pixels of the canvas. */

import { CanvasTexture, SRGBColorSpace } from "../../vendor/three/three.min.js";

export function canvasOf(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

export function textureOf(canvas) {
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 4;
  return texture;
}

export function box(pen, [x, y, width, height], { fill, edge, line = 4, radius = 24, dash = [] }) {
  pen.beginPath();
  pen.roundRect(x + line / 2, y + line / 2, width - line, height - line, radius);
  if (fill) {
    pen.fillStyle = fill;
    pen.fill();
  }
  if (edge) {
    pen.setLineDash(dash);
    pen.lineWidth = line;
    pen.strokeStyle = edge;
    pen.stroke();
    pen.setLineDash([]);
  }
}

/* what stays in one line: a word with the space after it, or one Chinese character with its comma or full stop */
const WORD = /\p{Script=Han}[，。；：、！？）]*|[^\s\p{Script=Han}]+\s*|\s+/gu;

/* the words in lines that are no longer than the width */
export function lines(pen, text, width) {
  const found = [""];
  for (const word of text.match(WORD) || []) {
    const longer = found.at(-1) + word;
    if (pen.measureText(longer.trim()).width <= width || !found.at(-1)) found[found.length - 1] = longer;
    else found.push(word);
  }
  return found.map((line) => line.trim());
}

export function write(pen, text, x, y, { font, size, weight = 600, colour, align = "left", most = Infinity }) {
  pen.font = `${weight} ${size}px ${font}`;
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillText(text, x, y, Number.isFinite(most) ? most : undefined);
}

/* a picture within a square, as large as it fits */
export function put(pen, image, x, y, size) {
  if (!image) return;
  const scale = size / Math.max(image.width, image.height);
  const [width, height] = [image.width * scale, image.height * scale];
  pen.drawImage(image, x + (size - width) / 2, y + (size - height) / 2, width, height);
}

/* a thing on a light disc, so that it is seen on whatever is behind it; dashed and pale: what is missing */
export function disc(image, { missing = false, edge }) {
  const canvas = canvasOf(128, 128);
  const pen = canvas.getContext("2d");
  pen.globalAlpha = missing ? 0.8 : 1;
  pen.beginPath();
  pen.arc(64, 64, 58, 0, 2 * Math.PI);
  pen.fillStyle = "#fffefb";
  pen.fill();
  pen.setLineDash(missing ? [14, 10] : []);
  pen.lineWidth = missing ? 6 : 3;
  pen.strokeStyle = edge;
  pen.stroke();
  pen.globalAlpha = missing ? 0.55 : 1;
  put(pen, image, 24, 24, 80);
  return canvas;
}

/* how many steps are left, as a number in a ring of which so much is left */
export function ring(left, whole, theme) {
  const canvas = canvasOf(128, 128);
  const pen = canvas.getContext("2d");
  const arc = (colour, part) => {
    pen.beginPath();
    pen.arc(64, 64, 50, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * part);
    pen.lineWidth = 16;
    pen.strokeStyle = colour;
    pen.stroke();
  };
  pen.beginPath();
  pen.arc(64, 64, 60, 0, 2 * Math.PI);
  pen.fillStyle = theme.card;
  pen.fill();
  arc(theme.line, 1);
  arc(theme.warn, Math.min(1, left / (whole || left)));
  write(pen, String(left), 64, 68, { font: theme.font, size: 56, weight: 700, colour: theme.ink, align: "center" });
  return canvas;
}

/* a sign on a disc: ready, refused */
export function mark(sign, fill, colour, font) {
  const canvas = canvasOf(128, 128);
  const pen = canvas.getContext("2d");
  pen.beginPath();
  pen.arc(64, 64, 60, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  write(pen, sign, 64, 70, { font, size: 88, weight: 800, colour, align: "center" });
  return canvas;
}

export function plaque(text, theme, { picked = false, width = 384 } = {}) {
  const canvas = canvasOf(width, 88);
  const pen = canvas.getContext("2d");
  const [fill, colour] = picked ? [theme.accent, theme["on-accent"]] : [theme.card, theme.ink];
  box(pen, [0, 0, width, 88], { fill, edge: picked ? theme.accent : theme["steel-line"], radius: 22 });
  const style = { font: theme.font, size: 46, weight: 700, colour, align: "center", most: width - 32 };
  write(pen, text, width / 2, 47, style);
  return canvas;
}
