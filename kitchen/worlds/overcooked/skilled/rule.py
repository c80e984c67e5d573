"""What the stand-in plans in a seat: the rule of somebody who looks at hands and pots alone. Plain Python."""

from __future__ import annotations

from kitchen.contract.skills import WAIT, Skill, wait
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, PUT, START
from kitchen.worlds.overcooked.things import DISH

SOON = 10
"""Ticks until a soup is ready for which a dish is fetched before anything else."""
ENOUGH = 2
"""Pieces of food that lie on counters for somebody who cannot get any."""


def plan(moment: Moment) -> Skill:
    """The next skill of a seat."""
    if not moment.pots():
        return _bring_over(moment)
    return _with_something(moment) if moment.held is not None else _empty_handed(moment)


def hinted(moment: Moment) -> Skill:
    """Who would wait with full hands may have taken the wrong thing, and would wait for ever: it is laid
    down."""
    planned = plan(moment)
    return _lay_down(moment) if planned[0] == WAIT and moment.held is not None else planned


def _with_something(moment: Moment) -> Skill:
    held = moment.held
    if isinstance(held, tuple):
        return (DELIVER,) if moment.serving() else _lay_down(moment)
    if held == DISH:
        return (FILL,) if moment.started_pots() else wait()
    return (PUT[str(held)],) if moment.open_pots() else wait()


def _lay_down(moment: Moment) -> Skill:
    return (PLACE,) if moment.free_counters() else wait()


def _empty_handed(moment: Moment) -> Skill:
    if moment.startable_pots():
        return (START,)
    cooking = [pot.left for pot in moment.scene.pots.values() if pot.left is not None]
    dishes = sum(held == DISH for held in moment.scene.hands)
    missing = [food for food in moment.missing() if moment.sources(food)]
    can_take = bool(moment.sources(DISH))
    if can_take and len(cooking) > dishes and (min(cooking) <= SOON or not missing):
        return PICKUP, DISH
    if missing:
        return PICKUP, missing[0]
    return (PICKUP, DISH) if cooking and can_take else wait()


def _bring_over(moment: Moment) -> Skill:
    """For somebody who can."""
    if moment.held is not None:
        return _lay_down(moment)
    scene = moment.scene
    lying = [scene.counters.get(cell) for cell in moment.shared(moment.counters())]
    cooks = any(pot.left is not None for pot in scene.pots.values())
    if cooks and DISH not in lying and moment.sources(DISH):
        return PICKUP, DISH
    wanted = [food for food in dict.fromkeys(moment.missing() or moment.food) if lying.count(food) < ENOUGH]
    there = [food for food in wanted if moment.sources(food)]
    return (PICKUP, there[0]) if there else wait()
