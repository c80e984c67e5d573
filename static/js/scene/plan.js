/* Where things stand: the places side by side on an arc around whoever looks, all facing them. Metres; whoever
   looks is at the origin, -z is ahead. */

export const WIDTH = 1.22; // of a place with the gap beside it
const NEAREST = 3;
const ARC = 2.2; // radians that the places take at most

export function planOf(sides) {
  const order = [...sides.keys()].sort((one, other) => sides[one] - sides[other] || one - other);
  const radius = Math.max(NEAREST, (order.length * WIDTH) / ARC);
  const step = WIDTH / radius;
  const angles = [];
  order.forEach((index, place) => {
    angles[index] = (place - (order.length - 1) / 2) * step;
  });
  return { radius, angles, order };
}

export const at = (angle, radius, height = 0) => [radius * Math.sin(angle), height, -radius * Math.cos(angle)];

const ABREAST = 4;

/* where a body stands of those before one place: beside each other, more than four in a second row */
export function standingAt({ radius, angles }, index, place, many) {
  const row = Math.floor(place / ABREAST);
  const inRow = Math.min(ABREAST, many - row * ABREAST);
  const before = radius - 1.05 - 0.6 * row;
  const gap = Math.min(0.62, 1.85 / inRow);
  return at(angles[index] + (((place % ABREAST) - (inRow - 1) / 2) * gap) / before, before);
}
