/* The colours and the type of the page, for what is drawn on canvases and built of meshes. */

const NAMES = ["paper", "card", "well", "line", "ink", "ink-soft", "steel", "steel-line", "accent", "on-accent",
  "accent-wash", "good", "good-wash", "warn", "warn-wash", "bad", "focus", "seat-edge"];

export function themeOf(element) {
  const style = getComputedStyle(element);
  const colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return { ...colours, font: style.fontFamily, dark: matchMedia("(prefers-color-scheme: dark)").matches };
}

export const STILL = matchMedia("(prefers-reduced-motion: reduce)");
