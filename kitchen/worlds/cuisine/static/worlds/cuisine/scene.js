/* The kitchen's own looks in three dimensions: what `LOOKS` has, static/js/scene/ asks for. All of it is read
   from the drawn kitchen and the tickets. */

const SIDES = ["stage-storage", "stage-tool", "stage-hatch"];

/* from left to right: storage, tools, hatch */
function side(place) {
  return SIDES.findIndex((name) => place.closest(`.${name}`));
}

function counter({ card, dark, line, accent }) {
  return { top: dark ? "#8f9a9e" : "#cfd6d8", front: dark ? line : card, plinth: dark ? "#0e1112" : accent };
}

/* what lies in a place, what it lacks, how many steps of how many it is busy, whether something is ready */
function contents(place, { hrefOf }) {
  const lying = [...place.querySelectorAll(".lying .thing")];
  const arc = place.querySelector(".ring .left-arc");
  const shelf = Boolean(place.querySelector(".of-storage"));
  const missing = (thing) => thing.classList.contains("missing");
  return {
    items: shelf ? [] : lying.filter((thing) => !missing(thing)).map(hrefOf),
    missing: shelf ? [] : lying.filter(missing).map(hrefOf),
    left: Number(place.querySelector(".ring text")?.textContent || 0),
    whole: Number(arc?.getAttribute("pathLength") || 0),
    ready: Boolean(place.querySelector(".done-mark")),
  };
}

/* the tickets, the most urgent first */
function orders({ play, textOf, hrefOf }) {
  return [...play.querySelectorAll("#orders .ticket")].map((ticket) => ({
    name: textOf(ticket.querySelector("h3")),
    picture: hrefOf(ticket),
    left: textOf(ticket.querySelector(".left p")),
    late: Boolean(ticket.querySelector(".left.late")),
  }));
}

export const LOOKS = { side, counter, contents, orders };
