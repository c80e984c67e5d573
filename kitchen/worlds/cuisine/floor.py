"""The kitchen as drawn: every place with what lies in it, the robots where they stand. Plain Python.

The same facts as in the tables, in pictures. Which commands a place stands for is found in the menu by the
page itself (`static/js/stage.js`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel, PlayerView, SeatView
from kitchen.contract.world import Json
from kitchen.words.speech import gettext, pgettext
from kitchen.worlds.cuisine.fitting import moment
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.story import past
from kitchen.worlds.cuisine.tables import state_of

_TEMPLATES = "worlds/cuisine"
_SIDES = {"storage": "storage", "servingtable": "hatch"}


class Station(NamedTuple):
    """One place of the floor plan; `side` is `storage`, `hatch` or `tool`."""

    place: str
    name: str
    kind: str
    side: str
    key: str


class Floor(NamedTuple):
    """The floor plan: the same for the whole episode."""

    stations: tuple[Station, ...]
    acts: bool
    """Somebody acts here, and does not only look on."""


class Lying(NamedTuple):
    """An item in a picture: its picture and its name."""

    icon: str
    name: str


class Contents(NamedTuple):
    """What goes on at one place."""

    kind: str
    items: tuple[Lying, ...]
    missing: tuple[Lying, ...]
    busy: int
    whole: int
    """Steps that it is busy when it begins."""
    text: str
    """All of it in words."""
    state: str
    apt: bool
    """Whether it is worth going there now."""


class Bot(NamedTuple):
    """One robot where it stands."""

    seat: int
    name: str
    is_you: bool
    holds: Lying | None
    busy: int
    refused: str
    """`odd` or `even` as the step in which it was refused something, if that was the last one."""
    why: str
    """Why it was."""
    turn: int
    """How many acted before it in the last step."""


class Standing(NamedTuple):
    """The robots at one place."""

    bots: tuple[Bot, ...]


def floor(view: SeatView, known: Known) -> Panel:
    """The floor plan, and in it what changes."""
    shows = Floor(tuple(_stations(known)), view.acts)
    return Panel("floor", f"{_TEMPLATES}/floor.jinja", shows, parts=tuple(_parts(view, known)))


def _stations(known: Known) -> Iterator[Station]:
    for place, kind in known.brief["locations"].items():
        side = _SIDES.get(kind, "tool")
        yield Station(place, known.words.name(place), kind, side, known.keys.get(place, ""))


def _parts(view: SeatView, known: Known) -> Iterator[Panel]:
    wanted, standing = [order["dish"] for order in view.observation["orders"]], _standing(view, known)
    worth_going = moment(view, known).worth_going if view.acts else lambda place: False
    for place, kind in known.brief["locations"].items():
        seen = view.observation["locations"][place]
        contents = _contents(kind, seen, known, wanted, apt=worth_going(place))
        yield Panel(f"{place}-pic", f"{_TEMPLATES}/contents.jinja", contents)
        bots = Standing(tuple(standing.get(place, ())))
        yield Panel(f"{place}-bots", f"{_TEMPLATES}/standing.jinja", bots)


def _contents(
    kind: str, seen: Mapping[str, Json], known: Known, wanted: Sequence[str], *, apt: bool
) -> Contents:
    text, state = state_of(kind, seen, known.brief)
    items = tuple(_lying(item, known) for item in seen["items"])
    needed = missing(kind, seen["items"], known, wanted) if state == "part" else ()
    lacking = tuple(_lying(item, known) for item in needed)
    whole = known.brief["tools"][kind]["busy"] if seen["busy"] else 0
    return Contents(kind, items, lacking, seen["busy"], whole, _in_words(items, text, lacking), state, apt)


def _in_words(items: Sequence[Lying], state: str, lacking: Sequence[Lying]) -> str:
    """`Rice, seaweed sheet; Something missing, lacks salmon`."""
    text = "{state}"
    if items:
        text = gettext("{items}; {state}, lacks {missing}") if lacking else gettext("{items}; {state}")
    return text.format(state=state, items=_names(items), missing=_names(lacking))


def _names(items: Sequence[Lying]) -> str:
    return pgettext("between the things of a list", ", ").join(item.name for item in items)


def _lying(item: str, known: Known) -> Lying:
    return Lying(icon(item), known.words.name(item))


def missing(kind: str, items: Sequence[str], known: Known, wanted: Sequence[str]) -> list[str]:
    """What is still to come into a tool, for the most urgent order that what lies there can become part of;
    without an order for it, for the first recipe that fits."""
    there = Counter(items)
    fitting = [
        (product, recipe["ingredients"])
        for product, recipe in known.brief["recipes"].items()
        if recipe["tool"] == kind and there <= Counter(recipe["ingredients"])
    ]
    if not items or not fitting:
        return []
    ranked = sorted(fitting, key=lambda one: _urgency(one[0], wanted, known))
    return sorted((Counter(ranked[0][1]) - there).elements())


def _urgency(product: str, wanted: Sequence[str], known: Known) -> int:
    """The place of the first order that needs this product."""
    needing = (n for n, dish in enumerate(wanted) if any(product == part[0] for part in known.recipe(dish)))
    return next(needing, len(wanted))


def _standing(view: SeatView, known: Known) -> dict[str, list[Bot]]:
    found: dict[str, list[Bot]] = {}
    refused, turns = _refused(view, known), _turns(view)
    for player in view.players:
        agent, why = view.observation["agents"][player.seat], refused.get(player.seat, "")
        bot = _bot(player, agent, known, why, ("even", "odd")[view.step % 2] if why else "")
        found.setdefault(agent["at"], []).append(bot._replace(turn=turns.get(player.seat, 0)))
    return found


def _bot(player: PlayerView, agent: Mapping[str, Json], known: Known, why: str, refused: str) -> Bot:
    holds = _lying(agent["holds"], known) if agent["holds"] else None
    return Bot(player.seat, player.name, player.is_you, holds, agent["busy"], refused, why, turn=0)


def _refused(view: SeatView, known: Known) -> dict[int, str]:
    """Seats that were refused something in the last step, and why."""
    if not view.history or all(event.kind != "refused" for event in view.history[0].events):
        return {}
    return {line.seat: line.why for line in past(view, 0, known.words).lines if line.why}


def _turns(view: SeatView) -> dict[int | None, int]:
    """The order in which the seats acted in the last step."""
    events = view.history[0].events if view.history else ()
    seats = dict.fromkeys(event.seat for event in events if event.kind in ("performed", "refused"))
    return {seat: turn for turn, seat in enumerate(seats)}
