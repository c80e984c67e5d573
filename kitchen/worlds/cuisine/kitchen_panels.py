"""Build the panels of the play page that show robots and places: a floor plan and two tables.

The panels contain no commands. If a participant clicks a place, the page script (`static/js/stage.js`) finds
the place's commands in the menu.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import PlayerView, SeatView
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext, pgettext
from kitchen.worlds.cuisine.action_menu import empty_hands_text, not_busy_text
from kitchen.worlds.cuisine.activity_text import (
    celebrating_seats,
    dishes_with_event,
    intent_cells,
    past_step,
)
from kitchen.worlds.cuisine.display_text import BriefLookup, ShownItem, more_steps_text, product_from
from kitchen.worlds.cuisine.order_steps import commands_to_mark
from kitchen.worlds.cuisine.robot_work import RobotWork, robots_at_work, work_text
from kitchen.worlds.cuisine.waiting_guests import guest_panels

_TEMPLATES = "worlds/cuisine"
_ALWAYS_OPEN = ("storage", "servingtable", "chopboard")


class RobotTable(NamedTuple):
    """The robots as (seat, name, whether it is the reader's), and whether the table shows what they will
    do next."""

    rows: tuple[tuple[int, str, bool], ...]
    tells: bool


class PlaceTable(NamedTuple):
    """The places of the kitchen as (id, name)."""

    rows: tuple[tuple[str, str], ...]


class CellText(NamedTuple):
    """The text of one table cell, and its CSS classes."""

    text: str
    kind: str = ""


class PlaceContentsText(NamedTuple):
    """The items at a place, or the text for an empty place."""

    items: tuple[str, ...]
    nothing: str


class PlaceUse(NamedTuple):
    """The state of a place in a few words, and its CSS class."""

    text: str
    state: str
    pips: tuple[bool, ...]
    touched: str
    """`odd` or `even`, as the number of the last step, if something was done here in it."""


class RobotsHere(NamedTuple):
    """The robots at a place."""

    robots: tuple[tuple[int, str], ...]


def robots_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the table of robots. For each robot, the table shows the place, the held item, and for how
    long the robot is busy."""
    rows = tuple((player.seat, player.name, player.is_you) for player in view.players)
    work = robots_at_work(view, lookup)
    parts = tuple(cell for player in view.players for cell in _robot(player, view, lookup, work))
    ahead = intent_cells(view, lookup) if view.plans.shows_intents else ()
    shows = RobotTable(rows, view.plans.shows_intents)
    return Panel("robots", f"{_TEMPLATES}/robots.jinja", shows, parts=parts + ahead)


def _robot(
    player: PlayerView, view: SeatView, lookup: BriefLookup, work: Mapping[int, RobotWork]
) -> tuple[Panel, ...]:
    agent, name = view.observation["agents"][player.seat], lookup.words.name
    held = agent["holds"]
    cells = {
        "at": CellText(name(agent["at"])),
        "holds": CellText(name(held), "item") if held else CellText(empty_hands_text(), "quiet"),
        "busy": _busy(player, agent["busy"], view),
        "does": CellText(_does(player.seat, work, lookup), "does"),
    }
    return tuple(Panel(f"r{player.seat}-{of}", f"{_TEMPLATES}/cell.jinja", cells[of]) for of in cells)


def _does(seat: int, work: Mapping[int, RobotWork], lookup: BriefLookup) -> str:
    """Return what the robot works on, in words. Empty if it works for no open order."""
    return work_text(work[seat], lookup) if seat in work else ""


def _busy(player: PlayerView, steps: int, view: SeatView) -> CellText:
    if steps:
        return CellText(more_steps_text(steps), "state busy")
    if view.phase in ("waiting", "thinking") and player.seat in view.waiting_for and not player.is_you:
        return CellText(gettext("deciding"), "tag")
    return CellText(not_busy_text(), "quiet")


def places_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the table of places: the items, the state, and the robots at each place."""
    shows = PlaceTable(tuple((place, lookup.words.name(place)) for place in lookup.brief["locations"]))
    return Panel("locations", f"{_TEMPLATES}/locations.jinja", shows, parts=tuple(_places(view, lookup)))


def _places(view: SeatView, lookup: BriefLookup) -> Iterator[Panel]:
    touched, here = _touched(view), _robots_by_place(view)
    for place, kind in lookup.brief["locations"].items():
        seen = view.observation["locations"][place]
        mark = ("even", "odd")[view.step % 2] if place in touched else ""
        yield Panel(f"{place}-in", f"{_TEMPLATES}/inside.jinja", _inside(kind, seen, lookup))
        yield Panel(f"{place}-use", f"{_TEMPLATES}/use.jinja", _use(kind, seen, lookup, mark))
        robots = tuple((player.seat, player.name) for player in here[place])
        yield Panel(f"{place}-here", f"{_TEMPLATES}/here.jinja", RobotsHere(robots))


def _robots_by_place(view: SeatView) -> dict[str, list[PlayerView]]:
    found: dict[str, list[PlayerView]] = defaultdict(list)
    for player in view.players:
        found[view.observation["agents"][player.seat]["at"]].append(player)
    return found


def _inside(kind: str, seen: Mapping[str, Json], lookup: BriefLookup) -> PlaceContentsText:
    if kind == "storage":
        return PlaceContentsText((), gettext("all ingredients"))
    return PlaceContentsText(tuple(lookup.words.name(item) for item in seen["items"]), gettext("empty"))


def _use(kind: str, seen: Mapping[str, Json], lookup: BriefLookup, touched: str) -> PlaceUse:
    text, state = place_state(kind, seen, lookup.brief)
    whole = lookup.brief["tools"][kind]["busy"] if seen["busy"] else 0
    return PlaceUse(text, state, tuple(n < seen["busy"] for n in range(whole)), touched)


def place_state(kind: str, seen: Mapping[str, Json], brief: Mapping[str, Json]) -> tuple[str, str]:
    """Return a place's state as (short text, CSS class), such as (`Ready to take`, `ready`).

    `kind` is the kind of the place, and `seen` is its entry in the observation.
    """
    if seen["busy"]:
        return gettext("Busy, {wait}").format(wait=more_steps_text(seen["busy"])), "busy"
    if kind == "storage":
        return pgettext("of storage", "Open"), "free"
    if kind == "servingtable" or not seen["items"]:
        return pgettext("of a tool", "Free"), "free"
    if product_from(brief, kind, seen["items"]):
        return gettext("Complete: can be used"), "full"
    finished = seen["open"] and (kind not in _ALWAYS_OPEN or seen["items"][0] in brief["recipes"])
    return (gettext("Ready to take"), "ready") if finished else (gettext("Something missing"), "part")


def _touched(view: SeatView) -> set[str]:
    """Return the ids of the places where a robot did something in the last step."""
    events = view.history[0].events if view.history else ()
    commands = [event.data["command"] for event in events if event.kind == "performed"]
    return {command[1] for command in commands if len(command) > 1 and command[0] != "goto"}


_SIDES = {"storage": "storage", "servingtable": "hatch"}


class FloorPlace(NamedTuple):
    """One place of the floor plan. `side` is its area of the plan: `storage`, `hatch` or `tool`."""

    place: str
    name: str
    kind: str
    side: str
    key: str


class FloorPlan(NamedTuple):
    """The floor plan: the same for the whole episode."""

    stations: tuple[FloorPlace, ...]
    acts: bool
    """True if the reader acts here, and does not only watch."""


class PlaceContents(NamedTuple):
    """The contents and state of one place."""

    kind: str
    items: tuple[ShownItem, ...]
    missing: tuple[ShownItem, ...]
    busy: int
    whole: int
    """Number of steps that it is busy after activation."""
    text: str
    """All of it in words."""
    state: str
    apt: bool
    """True if it is worth going there now."""
    gain: int = 0
    """The number of dishes served in the last step."""


class DrawnRobot(NamedTuple):
    """One robot at its place."""

    seat: int
    name: str
    is_you: bool
    holds: ShownItem | None
    busy: int
    refused: str
    """`odd` or `even`, as the number of the last step, if a command was refused in it."""
    why: str
    """The reasons of the refusal."""
    turn: int
    """The number of robots that acted before it in the last step."""
    pose: str
    """What its character does: the end of an id `pose-…` of `characters.html`."""
    plans: ShownItem | None = None
    """The item of its next action, if the page shows this."""
    works: ShownItem | None = None
    """The ordered dish that it works for now."""
    does: str = ""
    """What it works on, in words."""


class RobotsAtPlace(NamedTuple):
    """The robots at one place."""

    bots: tuple[DrawnRobot, ...]


def floor_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the floor plan with a drawing of the contents and the robots at each place."""
    name, keys = lookup.words.name, lookup.keys
    stations = tuple(
        FloorPlace(place, name(place), kind, _SIDES.get(kind, "tool"), keys.get(place, ""))
        for place, kind in lookup.brief["locations"].items()
    )
    shows = FloorPlan(stations, view.acts)
    return Panel("floor", f"{_TEMPLATES}/floor.jinja", shows, parts=tuple(_parts(view, lookup)))


def _parts(view: SeatView, lookup: BriefLookup) -> Iterator[Panel]:
    wanted, here = [order["dish"] for order in view.observation["orders"]], _robots_by_place(view)
    refused, turns, glad = _refused(view, lookup), _turns(view), celebrating_seats(view)
    worth_going, places = _worth_going(view, lookup), lookup.brief["locations"]
    work = robots_at_work(view, lookup)
    table = next((place for place, kind in places.items() if kind == "servingtable"), "")
    for place, kind in places.items():
        seen = view.observation["locations"][place]
        contents = _contents(kind, seen, lookup, wanted, apt=worth_going(place))
        is_first = place == table
        guests = guest_panels(view, lookup) if is_first else ()
        if is_first:
            contents = contents._replace(gain=dishes_with_event(view, "completed").total())
        yield Panel(f"{place}-pic", f"{_TEMPLATES}/contents.jinja", contents, parts=guests)
        drawn = (_drawn(each, view, lookup, refused, turns, glad) for each in here[place])
        bots = tuple(_with_work(bot, work, lookup) for bot in drawn)
        yield Panel(f"{place}-bots", f"{_TEMPLATES}/standing.jinja", RobotsAtPlace(bots))


def _worth_going(view: SeatView, lookup: BriefLookup) -> Callable[[str], bool]:
    """Return a function that tells whether the reader's robot should go to this place now."""
    useful = commands_to_mark(view, lookup)
    return lambda place: ("goto", place) in useful


def _contents(
    kind: str, seen: Mapping[str, Json], lookup: BriefLookup, wanted: Sequence[str], *, apt: bool
) -> PlaceContents:
    text, state = place_state(kind, seen, lookup.brief)
    items = tuple(map(lookup.shown, seen["items"]))
    needed = missing_items(kind, seen["items"], lookup, wanted) if state == "part" else ()
    lacking = tuple(map(lookup.shown, needed))
    whole = lookup.brief["tools"][kind]["busy"] if seen["busy"] else 0
    words = _in_words(items, text, lacking)
    return PlaceContents(kind, items, lacking, seen["busy"], whole, words, state, apt)


def _in_words(items: Sequence[ShownItem], state: str, lacking: Sequence[ShownItem]) -> str:
    """Return the contents of a tool as text, such as `Rice, seaweed sheet; Something missing, lacks
    salmon`."""
    text = "{state}"
    if items:
        text = gettext("{items}; {state}, lacks {missing}") if lacking else gettext("{items}; {state}")
    return text.format(state=state, items=_names(items), missing=_names(lacking))


def _names(items: Sequence[ShownItem]) -> str:
    return pgettext("between the things of a list", ", ").join(item.name for item in items)


def missing_items(kind: str, items: Sequence[str], lookup: BriefLookup, wanted: Sequence[str]) -> list[str]:
    """Return the items that a partly filled tool still needs. Empty if the tool is empty or no recipe fits.

    If several recipes fit, the one for the most urgent order is used, or else the first. `kind` is the tool's
    kind. `wanted` are the ordered dishes, most urgent first.
    """
    there = Counter(items)
    fitting = [
        (product, recipe["ingredients"])
        for product, recipe in lookup.brief["recipes"].items()
        if recipe["tool"] == kind and there <= Counter(recipe["ingredients"])
    ]
    if not items or not fitting:
        return []
    ranked = sorted(fitting, key=lambda one: _urgency(one[0], wanted, lookup))
    return sorted((Counter(ranked[0][1]) - there).elements())


def _urgency(product: str, wanted: Sequence[str], lookup: BriefLookup) -> int:
    """Return the index of the first dish in `wanted` that needs this product. If none needs it, return the
    length of `wanted`."""
    needing = (n for n, dish in enumerate(wanted) if any(product == part[0] for part in lookup.recipes[dish]))
    return next(needing, len(wanted))


def _drawn(
    player: PlayerView,
    view: SeatView,
    lookup: BriefLookup,
    refused: Mapping[int, str],
    turns: Mapping[int | None, int],
    glad: Collection[int],
) -> DrawnRobot:
    seat, agent, why = player.seat, view.observation["agents"][player.seat], refused.get(player.seat, "")
    holds = lookup.shown(agent["holds"]) if agent["holds"] else None
    mark = ("even", "odd")[view.step % 2] if why else ""
    turn, plans = turns.get(seat, 0), _planned_item(seat, view, lookup)
    pose = _pose(seat, view, refused=bool(why), glad=seat in glad)
    return DrawnRobot(seat, player.name, player.is_you, holds, agent["busy"], mark, why, turn, pose, plans)


def _with_work(bot: DrawnRobot, work: Mapping[int, RobotWork], lookup: BriefLookup) -> DrawnRobot:
    """Return the robot with the dish that it works for."""
    does = _does(bot.seat, work, lookup)
    return bot._replace(works=lookup.shown(work[bot.seat].dish), does=does) if does else bot


def _pose(seat: int, view: SeatView, *, refused: bool, glad: bool) -> str:
    """Return what a robot's character does, from its state and the last step. Those who had a part in a
    served dish are `glad`. If an order was missed, those with empty hands are sad."""
    agent, last = view.observation["agents"][seat], view.history[0].events if view.history else ()
    command = next((tuple(e.data["command"]) for e in last if (e.kind, e.seat) == ("performed", seat)), ())
    kind = view.brief["locations"].get(agent["at"], "")
    if agent["busy"] or command[:1] == ("activate",):
        return "chop" if kind == "chopboard" else "stir"
    if glad:
        return "cheer"
    if refused:
        return "sad"
    if agent["holds"]:
        return "carry"
    if dishes_with_event(view, "failed"):
        return "sad"
    return "wait" if command == ("noop",) else "stand"


def _planned_item(seat: int, view: SeatView, lookup: BriefLookup) -> ShownItem | None:
    item = view.plans.intents.get(seat, {}).get("item", "") if view.plans.shows_intents else ""
    return lookup.shown(item) if item in lookup.brief["base"] or item in lookup.brief["recipes"] else None


def _refused(view: SeatView, lookup: BriefLookup) -> dict[int, str]:
    """Return the reasons why commands were refused in the last step, by seat."""
    if not view.history or all(event.kind != "refused" for event in view.history[0].events):
        return {}
    return {line.seat: line.why for line in past_step(view, 0, lookup.words).lines if line.why}


def _turns(view: SeatView) -> dict[int | None, int]:
    """Return, for each seat, its position in the order in which the seats acted in the last step."""
    events = view.history[0].events if view.history else ()
    seats = dict.fromkeys(event.seat for event in events if event.kind in ("performed", "refused"))
    return {seat: turn for turn, seat in enumerate(seats)}
