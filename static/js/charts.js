/* Figures that answer to a pointer: what the picture shows, drawn by Vega-Lite as soon as it comes into sight. */

const charts = document.querySelectorAll("[data-chart]");
const PANEL = 300; // width of one of several plots in a specification
const LEAST = 220; // beside another one
const BESIDE = 84; // what an axis and the edges take
const LETTER = { title: 10.5, subtitle: 6.5 }; // pixels of one, where letters are wide
const EDGES = 30; // beside a title

function tip() {
  const said = document.createElement("div");
  said.className = "chart-tip";
  said.hidden = true;
  document.body.append(said);
  return (_, event, __, words) => {
    said.hidden = !words;
    if (!words) return;
    said.textContent = words;
    const { clientX: x, clientY: y } = event;
    said.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - said.offsetWidth - 4))}px`;
    said.style.top = `${Math.max(4, y - said.offsetHeight - 10)}px`;
  };
}

/* it has an address, or stands in the page where nothing of it is stored */
async function specification(where) {
  if (where.startsWith("#")) return JSON.parse(document.querySelector(where).textContent);
  const answer = await fetch(where);
  return answer.ok ? answer.json() : null;
}

/* on the page it has the page's colours, also where these change or it is printed */
function dressed(told) {
  const { usermeta, ...rest } = told;
  const own = Object.entries(usermeta?.colours ?? {});
  return JSON.parse(own.reduce((text, [name, colour]) => text.replaceAll(`"${colour}"`, `"var(--${name})"`), JSON.stringify(rest)));
}

/* Vega writes a title in one line, and cuts it off where that is longer than the figure is wide */
function folded(words, letters) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > letters && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/* panels beside or below each other, as wide as there is room; expressions about names have the width in them */
function stacked({ concat, columns, ...rest }, width) {
  if (!concat) return rest;
  const room = (across) => Math.floor(width / across) - BESIDE;
  const across = [columns, 1].find((count) => room(count) >= LEAST) ?? 1;
  const panel = Math.max(160, Math.min(PANEL, room(across)));
  const plots = JSON.parse(JSON.stringify(concat).replaceAll(`${PANEL} / `, `${panel} / `));
  const letters = { ...rest.config, legend: { ...rest.config.legend, columns: across === 1 ? 1 : 4 } };
  return { ...rest, config: letters, columns: across, concat: plots.map((one) => ({ ...one, width: panel })) };
}

function fitted({ title, ...whole }, width) {
  const rest = stacked(whole, width);
  const { text, subtitle } = title;
  const under = subtitle.flatMap((line) => folded(line, (width - EDGES) / LETTER.subtitle));
  return { ...rest, title: { ...title, text: folded(text, (width - EDGES) / LETTER.title), subtitle: under } };
}

async function draw(chart, vega, tell) {
  const found = await specification(chart.dataset.chart);
  if (!found) return; // the picture stays
  chart.dataset.drawn = ""; // as wide as what is drawn needs, no more as the picture
  const told = fitted(dressed(found), chart.clientWidth);
  const { spec } = vega.compile(told);
  const drawing = document.createElement("div");
  drawing.ariaHidden = "true"; // what it shows is said beside it, and in the table behind it
  chart.append(drawing);
  const expr = vega.expressionInterpreter; // the page's policy lets nothing be evaluated
  const runtime = vega.parse(spec, null, { ast: true });
  const view = new vega.View(runtime, { expr, renderer: "svg", container: drawing, hover: true });
  await view.tooltip(tell).runAsync();
  chart.querySelector("img")?.setAttribute("hidden", "");
}

/* the picture is there still */
function failed(chart, error) {
  delete chart.dataset.drawn;
  console.error(error);
}

const tell = tip();
const seen = new IntersectionObserver(async (entries) => {
  const now = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
  if (!now.length) return;
  for (const chart of now) seen.unobserve(chart);
  const vega = await import("../vendor/vega/vega.min.js");
  for (const chart of now) await draw(chart, vega, tell).catch((error) => failed(chart, error));
});
for (const chart of charts) seen.observe(chart);
