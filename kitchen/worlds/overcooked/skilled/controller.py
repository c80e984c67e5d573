"""What a skill becomes in the coming tick: the cheapest way to where it is done, the partner a wall. Plain
Python.

Where the partner stands in every way the seat stays, or goes as if nobody stood there, by an even chance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from random import Random

from kitchen.contract.skills import Skill
from kitchen.contract.world import Command
from kitchen.worlds.overcooked.layout import Cell, Layout
from kitchen.worlds.overcooked.partners.greedy import go
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, START
from kitchen.worlds.overcooked.stands import STAY


def command(moment: Moment, skill: Skill, chance: Random) -> Command:
    """The next move; to stay where there is nowhere to do it."""
    tiers = [cells for cells in goals(moment, skill) if cells]
    scene, seat = moment.scene, moment.seat
    walled = replace(scene, layout=_without(scene.layout, scene.at[1 - seat]))
    found = next((way for cells in tiers if (way := go(walled, seat, set(cells)))), None)
    if found or not tiers or chance.random() < 0.5:
        return found or STAY
    return next((way for cells in tiers if (way := go(scene, seat, set(cells)))), STAY)


@lru_cache(maxsize=512)
def _without(layout: Layout, cell: Cell) -> Layout:
    """The layout with a wall where somebody stands."""
    return replace(layout, floor=tuple(each for each in layout.floor if each != cell))


def goals(moment: Moment, skill: Skill) -> list[list[Cell]]:
    """Where it is done: cells that go before others first."""
    verb = skill[0]
    if verb == PICKUP:
        found = moment.sources(skill[1])
        shared = moment.shared(found)
        return [[cell for cell in found if cell not in shared], shared]
    if verb == PLACE:
        return [moment.shared(moment.free_counters()), moment.free_counters()]
    if verb == FILL:
        return [moment.started_pots()]
    if verb == DELIVER:
        return [moment.serving()]
    return [moment.startable_pots() if verb == START else moment.open_pots()]
