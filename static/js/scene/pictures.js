/* Pictures of the page's sprites, drawn on canvases: fetched once for each sprite, once drawn for each picture.
   They come as data addresses, since the content policy lets no others in. */

const SIZE = 256;
const sprites = new Map(); // file → its parsed document, coming
const images = new Map(); // address → its image, coming

async function sprite(file) {
  const answer = await fetch(file);
  return new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
}

/* a symbol with all that it points to */
function parts(from, id, found = new Map()) {
  const symbol = from.getElementById(id);
  if (!symbol || found.has(id)) return found;
  found.set(id, symbol);
  for (const use of symbol.querySelectorAll("use")) {
    parts(from, (use.getAttribute("href") || use.getAttribute("xlink:href") || "").slice(1), found);
  }
  return found;
}

function standalone(symbols, id) {
  const [, , width, height] = symbols.get(id).getAttribute("viewBox").split(" ").map(Number);
  const scale = SIZE / Math.max(width, height);
  const defs = [...symbols.values()].map((one) => new XMLSerializer().serializeToString(one)).join("");
  const size = `width="${width * scale}" height="${height * scale}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${width} ${height}">${defs}<use href="#${id}" width="${width}" height="${height}"/></svg>`;
}

async function loaded(href) {
  const [file, id] = href.split("#");
  if (!sprites.has(file)) sprites.set(file, sprite(file));
  const symbols = parts(await sprites.get(file), id);
  if (!symbols.size) return null;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(standalone(symbols, id))}`;
  await image.decode();
  return image;
}

/* the picture at an address such as tools.svg#pot, or null where there is none */
export function pictureOf(href) {
  if (!href) return Promise.resolve(null);
  if (!images.has(href)) images.set(href, loaded(href).catch(() => null));
  return images.get(href);
}
