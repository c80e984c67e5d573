"""Define the aims (goals) that others can ask an Overcooked cook to achieve, and check their status.

`World.aims` lists the aims. They are the skills of the ProAgent paper, such as picking up an onion. Aims
whose places the cook cannot reach are left out. A pickup is achieved when the cook holds the thing. Any other
action counts only if it was done after the request.
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
    """Return all skills for which the layout has the needed dispensers, pots and serving places. Whether a
    seat can reach them is not checked.

    `starts_itself` is True if full pots start by themselves. Otherwise there is a skill to start a pot.
    """
    starts = [] if starts_itself else [(START,)]
    puts = [(PUT_VERBS[food],) for food in layout.food]
    takes = [(PICKUP, each) for each in (*layout.food, DISH)]
    return [*takes, *puts, (PLACE,), (FILL,), (DELIVER,), *starts]


@lru_cache(maxsize=256)
def seat_aims(layout: Layout, starts_itself: bool, seat: int) -> tuple[Aim, ...]:
    """Return the skills that this seat can carry out in the layout. Some of them may need items that the
    other seat hands over.

    `starts_itself` is True if full pots start by themselves.
    """
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
    """Return how often the seat has done this aim's action so far; None for a pickup. `aim_status` needs this
    value later. `counts` are the seat's counted actions."""
    return None if aim[0] == PICKUP else counts[_DEEDS[aim[0]]]


def aim_status(counts: Mapping[str, int], held: Item | None, pot: Pot | None, aim: Aim, since: Json) -> str:
    """Return SUCCESS if a seat's aim is reached, else UNKNOWN. Return FAIL if the seat should put an item
    down but holds none.

    `held` is what the seat holds, and `pot` is the pot in front of it. `since` is what `aim_mark` returned
    when the aim was given.
    """
    verb = aim[0]
    if verb == PICKUP:
        return SUCCESS if held == aim[1] else UNKNOWN
    if counts[_DEEDS[verb]] > since and _is_in(pot, FOOD_OF_PUT.get(verb)):
        return SUCCESS
    return FAIL if verb == PLACE and held is None else UNKNOWN


def _is_in(pot: Pot | None, food: str | None) -> bool:
    """Return whether `pot` contains this ingredient. Return True if `food` is None."""
    return food is None or (pot is not None and food in pot.contents)
