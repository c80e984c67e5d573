"""The tables of robots and places: each cell that changes is a panel. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.page import Panel, PlayerView, SeatView
from kitchen.contract.world import Json
from kitchen.words.speech import gettext, pgettext
from kitchen.worlds.cuisine.intents import lines
from kitchen.worlds.cuisine.known import Known, made_of
from kitchen.worlds.cuisine.menu import empty_hands, not_busy
from kitchen.worlds.cuisine.words import more_steps

_TEMPLATES = "worlds/cuisine"
_ALWAYS_OPEN = ("storage", "servingtable", "chopboard")


class Robots(NamedTuple):
    """Seat, name, and whose it is, of every robot; whether it is said what it is about to do."""

    rows: tuple[tuple[int, str, bool], ...]
    tells: bool


class Places(NamedTuple):
    """Every place by code and name."""

    rows: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """A few words of one kind."""

    text: str
    kind: str = ""


class Inside(NamedTuple):
    """What lies at a place, or what is said where nothing does."""

    items: tuple[str, ...]
    nothing: str


class Use(NamedTuple):
    """What can be said of a place in a word or two, and its class."""

    text: str
    state: str
    pips: tuple[bool, ...]
    touched: str
    """`odd` or `even` as the step in which something was done here, if that was the last one."""


class Here(NamedTuple):
    """The robots at a place."""

    robots: tuple[tuple[int, str], ...]


def robots(view: SeatView, known: Known) -> Panel:
    """Where everybody is, holds, and does."""
    rows = tuple((player.seat, player.name, player.is_you) for player in view.players)
    parts = tuple(cell for player in view.players for cell in _robot(player, view, known))
    ahead = lines(view, known) if view.shows_intents else ()
    shows = Robots(rows, view.shows_intents)
    return Panel("robots", f"{_TEMPLATES}/robots.jinja", shows, parts=parts + ahead)


def _robot(player: PlayerView, view: SeatView, known: Known) -> tuple[Panel, ...]:
    agent, name = view.observation["agents"][player.seat], known.words.name
    holds = Cell(name(agent["holds"]), "item") if agent["holds"] else Cell(empty_hands(), "quiet")
    return (
        _cell(f"r{player.seat}-at", Cell(name(agent["at"]))),
        _cell(f"r{player.seat}-holds", holds),
        _cell(f"r{player.seat}-busy", _busy(player, agent["busy"], view)),
    )


def _cell(name: str, shows: Cell) -> Panel:
    return Panel(name, f"{_TEMPLATES}/cell.jinja", shows)


def _busy(player: PlayerView, steps: int, view: SeatView) -> Cell:
    if steps:
        return Cell(more_steps(steps), "state busy")
    deciding = view.phase in ("waiting", "thinking") and player.seat in view.waiting_for
    return Cell(gettext("deciding"), "tag") if deciding and not player.is_you else Cell(not_busy(), "quiet")


def locations(view: SeatView, known: Known) -> Panel:
    """Every place: what is inside, what goes on there, who is there."""
    shows = Places(tuple((place, known.words.name(place)) for place in known.brief["locations"]))
    return Panel("locations", f"{_TEMPLATES}/locations.jinja", shows, parts=tuple(_places(view, known)))


def _places(view: SeatView, known: Known) -> Iterator[Panel]:
    touched, here = _touched(view), _here(view)
    for place, kind in known.brief["locations"].items():
        seen = view.observation["locations"][place]
        mark = ("even", "odd")[view.step % 2] if place in touched else ""
        yield Panel(f"{place}-in", f"{_TEMPLATES}/inside.jinja", _inside(kind, seen, known))
        yield Panel(f"{place}-use", f"{_TEMPLATES}/use.jinja", _use(kind, seen, known, mark))
        yield Panel(f"{place}-here", f"{_TEMPLATES}/here.jinja", Here(tuple(here.get(place, ()))))


def _here(view: SeatView) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for player in view.players:
        place = view.observation["agents"][player.seat]["at"]
        found.setdefault(place, []).append((player.seat, player.name))
    return found


def _inside(kind: str, seen: Mapping[str, Json], known: Known) -> Inside:
    if kind == "storage":
        return Inside((), gettext("all ingredients"))
    return Inside(tuple(known.words.name(item) for item in seen["items"]), gettext("empty"))


def _use(kind: str, seen: Mapping[str, Json], known: Known, touched: str) -> Use:
    text, state = state_of(kind, seen, known.brief)
    whole = known.brief["tools"][kind]["busy"] if seen["busy"] else 0
    return Use(text, state, tuple(n < seen["busy"] for n in range(whole)), touched)


def state_of(kind: str, seen: Mapping[str, Json], brief: Mapping[str, Json]) -> tuple[str, str]:
    """What can be said of a place in a word or two, and the class of it."""
    if seen["busy"]:
        return gettext("Busy, {wait}").format(wait=more_steps(seen["busy"])), "busy"
    if kind in ("storage", "servingtable"):
        return _open() if kind == "storage" else _free(), "free"
    if not seen["items"]:
        return _free(), "free"
    if made_of(brief, kind, seen["items"]):
        return gettext("All in: can be used"), "full"
    finished = seen["open"] and (kind not in _ALWAYS_OPEN or seen["items"][0] in brief["recipes"])
    return (gettext("Ready to take"), "ready") if finished else (gettext("Something missing"), "part")


def _open() -> str:
    return pgettext("of storage", "Open")


def _free() -> str:
    return pgettext("of a tool", "Free")


def _touched(view: SeatView) -> set[str]:
    """Places where something was done in the last step."""
    events = view.history[0].events if view.history else ()
    commands = [event.data["command"] for event in events if event.kind == "performed"]
    return {command[1] for command in commands if len(command) > 1 and command[0] != "goto"}
