"""Define the aims that a cook can be asked to achieve (`World.aims`), and check their progress.

The aims are the skills of ProAgent, as far as the cook reaches the places for them. To pick something up is
achieved when the cook holds it, every other aim when the cook has done it since it was asked. Plain Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kitchen.contract.agent_skills import Skill
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Json
from kitchen.worlds.overcooked.game_rules import (
    DISH,
    FILLED,
    LAID,
    POTTED,
    SERVED,
    STARTED,
    Item,
    Pot,
)
from kitchen.worlds.overcooked.layout import COUNTER, DISPENSERS, POT, SERVING, Layout, cells_in_reach
from kitchen.worlds.overcooked.skill_names import DELIVER, FILL, PICKUP, PLACE, PUT_VERBS, START

FOOD_OF_PUT: Mapping[str, str] = {verb: food for food, verb in PUT_VERBS.items()}
"""The ingredient that each verb puts into a pot."""
_DEEDS: Mapping[str, str] = {
    **dict.fromkeys(FOOD_OF_PUT, POTTED),
    PLACE: LAID,
    FILL: FILLED,
    DELIVER: SERVED,
    START: STARTED,
}
"""The counted action that achieves each skill, by verb."""
_PLACES: Mapping[str, str] = {**dict.fromkeys(_DEEDS, POT), PLACE: COUNTER, DELIVER: SERVING}
"""The letter of the place where each skill is done, by verb."""


def layout_skills(layout: Layout, starts_itself: bool) -> list[Skill]:
    """Return all skills of a layout, whether or not a seat reaches the places."""
    starts = [] if starts_itself else [(START,)]
    puts = [(PUT_VERBS[food],) for food in layout.food]
    takes = [(PICKUP, each) for each in (*layout.food, DISH)]
    return [*takes, *puts, (PLACE,), (FILL,), (DELIVER,), *starts]


@lru_cache(maxsize=256)
def seat_aims(layout: Layout, starts_itself: bool, seat: int) -> tuple[Aim, ...]:
    """Return the skills of a layout that this seat can ever do, if the other seat helps it."""
    reached, other = (cells_in_reach(layout, layout.starts[each]) for each in (seat, 1 - seat))
    letters = {layout.furniture[cell] for cell in reached if cell in layout.furniture}
    is_handed = any(layout.furniture.get(cell) == COUNTER for cell in reached & other)
    given = {thing for letter, thing in DISPENSERS.items() if letter in letters or is_handed}
    return tuple(
        aim
        for aim in layout_skills(layout, starts_itself)
        if (aim[1] in given if aim[0] == PICKUP else _PLACES[aim[0]] in letters)
    )


def aim_mark(counts: Mapping[str, int], aim: Aim) -> Json:
    """Return how often the seat has done this so far, from its counted actions; None for a pickup."""
    return None if aim[0] == PICKUP else counts[_DEEDS[aim[0]]]


def aim_status(counts: Mapping[str, int], held: Item | None, pot: Pot | None, aim: Aim, since: Json) -> str:
    """Return the status of one aim of a seat. `held` is in its hands, and `pot` is in front of it.

    A pot into which this seat has put the ingredient of the aim is still in front of it in the next step.
    """
    verb = aim[0]
    if verb == PICKUP:
        return SUCCESS if held == aim[1] else UNKNOWN
    if counts[_DEEDS[verb]] > since and _is_in(pot, FOOD_OF_PUT.get(verb)):
        return SUCCESS
    return FAIL if verb == PLACE and held is None else UNKNOWN


def _is_in(pot: Pot | None, food: str | None) -> bool:
    """Return whether the pot holds this ingredient, if there is one."""
    return food is None or (pot is not None and food in pot.contents)
