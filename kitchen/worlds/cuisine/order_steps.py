"""Find the commands of one robot that advance the open orders.

The menu marks these commands with a dot, and the hints of practice recommend one of them. The commands come
from the same rules with which programs pursue an aim (`SeatPursuit`). They depend only on the observation:

- The most urgent order comes first. What the kitchen already holds counts for one order only.
- Things that other robots carry count, too. If they carry all that is missing, it is best to wait.
- If the robot can do something useful at its place, it does this before it walks.
- If nothing advances an order, the robot empties a tool that is needed, or puts away what it holds. Beside
  others it keeps an item for which another robot was faster: it puts it into a spare tool, or waits with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.advisers import Advice
from kitchen.contract.agent import Situation
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.aim_pursuit import WAIT_COMMAND, SeatPursuit
from kitchen.worlds.cuisine.display_text import BriefLookup

_CACHED_STATES = 1024
"""Number of states with cached commands; each takes some two kilobytes."""
IDLE_STEPS = 6
"""After so many steps without an action, a robot no longer counts as bringing what it holds."""
_ADVANCES, _PREPARES, _PUTS_AWAY = range(3)


class OrderStep(NamedTuple):
    """Advice for one dish. `worth` is `_ADVANCES` (best), `_PREPARES` or `_PUTS_AWAY`."""

    dish: str
    advice: Advice
    worth: int
    order: int
    """The number of the order that it is for: 0 for the most urgent one."""
    pursuit: SeatPursuit
    """The kitchen as far as it is there for this order."""


class _PlaceState(NamedTuple):
    """What a place contains, in a form that can be a key of a cache."""

    items: tuple[str, ...]
    busy: int
    open: bool


class KitchenState(NamedTuple):
    """The parts of an observation that decide which commands are useful."""

    at: str
    holds: str | None
    others: tuple[str, ...]
    """The item that each other robot holds; an empty text for empty hands. Idle robots are left out."""
    places: tuple[tuple[str, _PlaceState], ...]
    orders: tuple[str, ...]
    """The ordered dishes, the most urgent first."""


def useful_commands(
    lookup: BriefLookup, seen: Mapping[str, Json], seat: int, idle: Collection[int] = ()
) -> frozenset[Command]:
    """Return the commands with which this seat advances the open orders best. The result is empty if it is
    best to wait. Results are cached by state.

    If no order is open, the commands advance any dish of the level. `seen` is the seat's observation.
    `idle` are robots that do nothing (`idle_robots`): what they hold does not count as their work.
    """
    return _useful_commands(lookup, kitchen_state(seen, seat, idle))


def commands_to_mark(view: SeatView, lookup: BriefLookup) -> frozenset[Command]:
    """Return the useful commands of the reader's seat. Empty if the condition hides the marks."""
    if not (view.acts and view.marks_actions):
        return frozenset()
    return useful_commands(lookup, view.observation, view.seat, idle_robots(view))


def idle_robots(view: SeatView) -> frozenset[int]:
    """Return the other robots that have done nothing for `IDLE_STEPS` steps."""
    past = view.history[:IDLE_STEPS]
    if len(past) < IDLE_STEPS:
        return frozenset()
    moved = {seat for step in past for seat, command in step.commands.items() if command != WAIT_COMMAND}
    return frozenset(range(len(view.observation["agents"]))) - moved - {view.seat}


def lead_to_dish(situation: Situation) -> Advice | None:
    """Return advice with the next command towards one dish, for a beginner. Of the useful commands, it is the
    one for the dish that needs the fewest. If nothing is useful, the advice is to wait.

    Return None if no dish of the level can be cooked.
    """
    (seat,) = situation.seats
    brief, seen = situation.briefs[seat], situation.observations[seat]
    kitchen = SeatPursuit(brief, seen["locations"], seen["agents"][seat])
    steps = best_steps(brief, seen, seat)
    return min(steps, key=lambda step: kitchen.left(step.dish)).advice if steps else None


def best_steps(
    brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, idle: Collection[int] = ()
) -> list[OrderStep]:
    """Return the steps of this seat that are worth most, the most urgent order first. Steps at the robot's
    place exclude steps that lead elsewhere. Empty if no dish of the level can be cooked.

    `idle` are robots that do nothing: what they hold does not count as their work.
    """
    reserved = set[str]()
    hands = _hands_of_others(seen, seat, idle)
    steps = list(steps_for_orders(brief, seen, seat, Counter(filter(None, hands)), reserved))
    if hands and all(step.worth == _PUTS_AWAY for step in steps):
        steps = list(_steps_for_later(brief, seen, seat, reserved)) or steps
    most = min((step.worth for step in steps), default=_ADVANCES)
    best = [step for step in steps if step.worth == most]
    here = [step for step in best if step.advice.command[0] not in ("goto", "noop")]
    return here or best


def _hands_of_others(seen: Mapping[str, Json], seat: int, idle: Collection[int]) -> tuple[str, ...]:
    """Return what each other robot that is not idle holds; an empty text for empty hands."""
    agents = enumerate(seen["agents"])
    return tuple(agent["holds"] or "" for other, agent in agents if other not in (seat, *idle))


def steps_for_orders(
    brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, others: Counter[str], reserved: set[str]
) -> Iterator[OrderStep]:
    """Yield the steps for each open order that nobody completes yet. `others` are the items in the hands of
    other robots that count as their work. Add the tools that hold something for an order to `reserved`."""
    me = seen["agents"][seat]
    for number, dish in enumerate(_wanted_dishes(brief, seen)):
        if others[dish] > 0:
            others[dish] -= 1
            continue
        way = SeatPursuit(brief, seen["locations"], me, frozenset(reserved), frozenset(+others))
        for advice in way.steps(dish):
            yield OrderStep(dish, advice, _worth(advice, me["holds"]), number, way)
        for item, place in way.claims(dish):
            reserved.add(place)
            others[item] -= item in way.handled


def _steps_for_later(
    brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, reserved: Collection[str]
) -> Iterator[OrderStep]:
    """Yield the steps of a robot that holds an item which no open order lacks now, because a teammate was
    faster: put it into a tool that no order needs, or wait with it. `reserved` are the tools that hold
    something for an order.

    Yield nothing if no dish of the level needs the item, if it is a dish, or for empty hands.
    """
    held, cookable = seen["agents"][seat]["holds"], _cookable_dishes(brief)
    if held is None:
        return
    ordered = [order["dish"] for order in seen["orders"] if order["dish"] in cookable]
    kitchen = SeatPursuit(brief, seen["locations"], seen["agents"][seat], frozenset(reserved))
    for dish in dict.fromkeys([*ordered, *cookable]):
        if held == dish:
            return
        if place := kitchen.spare_place(dish, ordered):
            aim = {"do": "bring", "item": held, "to": place, "dish": dish}
            yield OrderStep(dish, kitchen.at(place, "put", aim), _PREPARES, 0, kitchen)
            return
    needing = [dish for dish in cookable if held in kitchen.ingredients(dish)]
    waits = Advice(WAIT_COMMAND, {"do": "wait"})
    yield from (OrderStep(dish, waits, _PREPARES, 0, kitchen) for dish in needing[:1])


def _cookable_dishes(brief: Mapping[str, Json]) -> list[str]:
    return [dish for dish in brief["dishes"] if dish not in brief["uncookable"]]


def _wanted_dishes(brief: Mapping[str, Json], seen: Mapping[str, Json]) -> list[str]:
    """Return the ordered dishes that can be cooked. If there are none, return all dishes that can be
    cooked."""
    cookable = _cookable_dishes(brief)
    return [order["dish"] for order in seen["orders"] if order["dish"] in cookable] or cookable


def _worth(advice: Advice, held: str | None) -> int:
    """Return what a step is worth. A robot that holds a needed item waits rather than puts it away. A robot
    with empty hands empties a tool rather than waits."""
    does = advice.aim["do"]
    if does == "wait":
        return _PREPARES if held else _PUTS_AWAY
    return {"clear": _PREPARES, "discard": _PUTS_AWAY, "stock": _PUTS_AWAY}.get(does, _ADVANCES)


def kitchen_state(seen: Mapping[str, Json], seat: int, idle: Collection[int]) -> KitchenState:
    """Return what decides which commands are useful for this seat. `idle` are robots that do nothing."""
    me = seen["agents"][seat]
    return KitchenState(
        me["at"],
        me["holds"],
        tuple(sorted(_hands_of_others(seen, seat, idle))),
        tuple(
            (place, _PlaceState(tuple(its["items"]), its["busy"], its["open"]))
            for place, its in seen["locations"].items()
        ),
        tuple(order["dish"] for order in seen["orders"]),
    )


def observation_of(state: KitchenState) -> dict[str, Json]:
    """Return the parts of an observation that this state was made of. The reader's seat is 0."""
    places = {place: {**its._asdict(), "items": list(its.items)} for place, its in state.places}
    me = {"at": state.at, "holds": state.holds, "busy": 0}
    return {
        "agents": [me, *({"holds": item} for item in state.others)],
        "locations": places,
        "orders": [{"dish": dish} for dish in state.orders],
    }


@lru_cache(maxsize=_CACHED_STATES)
def _useful_commands(lookup: BriefLookup, state: KitchenState) -> frozenset[Command]:
    seen = observation_of(state)
    places = seen["locations"]
    kitchen = SeatPursuit(lookup.brief, places, seen["agents"][0])
    advised = {step.advice.command for step in best_steps(lookup.brief, seen, 0)} - {WAIT_COMMAND}
    alike = {
        ("goto", place)
        for verb, target, *_ in advised
        for place in places
        if verb == "goto" and kitchen.is_alike(place, target)
    }
    return frozenset(advised | alike)
