"""Implement the agent `StepAsideAgent`, which stays out of its partner's way. It is the teammate of practice.

The agent goes to the floor cell where it takes the least room from its partner, and stays there. If the
partner walks into it, the agent moves to another cell and waits a moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.world import Command
from kitchen.worlds.overcooked.game_rules import BLOCKED_BY_SEAT, STAY
from kitchen.worlds.overcooked.layout import (
    DIRECTIONS,
    DISPENSERS,
    POT,
    SERVING,
    Cell,
    Layout,
    cell_ahead,
    cells_in_reach,
)
from kitchen.worlds.overcooked.partners.baseline_agents import SimplePartner, free_directions, paths_from
from kitchen.worlds.overcooked.partners.grid_snapshot import GridScene, scene_from_situation

WAIT_TICKS = 6
"""Ticks for which the agent stays where it has stepped aside."""


class StepAsideAgent(SimplePartner):
    """An agent that does nothing but keep out of its partner's way."""

    kind: ClassVar[str] = "step_aside"

    async def decide(self, situation: Situation) -> Decision:
        """Return a move out of the partner's way for every seat that the agent plays; `stay` if none is
        needed. The memory is the number of ticks left to wait after a step aside."""
        waits, commands = int(situation.memory or 0), dict[int, Command]()
        for seat in situation.seats:
            commands[seat], waits = step_aside(situation, seat, waits)
        return Decision(commands, memory=max(0, waits - 1))


def step_aside(situation: Situation, seat: int, waits: int) -> tuple[Command, int]:
    """Return the move of this seat out of its partner's way, and the ticks left to wait after it. `waits` are
    the ticks left before it."""
    scene = scene_from_situation(situation)
    if _is_pushed(situation, 1 - seat):
        return _dodge(scene, seat), WAIT_TICKS
    return (STAY if waits else _towards_refuge(scene, seat)), waits


def _is_pushed(situation: Situation, other: int) -> bool:
    """Return whether the seat `other` has just walked into this agent."""
    return any(
        event.seat == other and event.data.get("blocked_by") == BLOCKED_BY_SEAT for event in situation.events
    )


def _dodge(scene: GridScene, seat: int) -> Command:
    """Return the move to the free neighbouring cell with the most room for the partner; `stay` if there is
    no free one."""
    best = refuges(scene.layout)
    ways = free_directions(scene, seat)
    return min(ways, key=lambda way: best.index(cell_ahead(scene.at[seat], way[0])), default=STAY)


def _towards_refuge(scene: GridScene, seat: int) -> Command:
    """Return the first move to the best cell that this seat can reach around its partner; `stay` if it is
    there."""
    walled = without_cells(scene.layout, (scene.at[1 - seat],))
    ways = {way.cell: way for way in paths_from(walled, scene.at[seat])}
    goal = next(cell for cell in refuges(scene.layout) if cell in ways)
    return (ways[goal].first,) if ways[goal].first else STAY


@lru_cache(maxsize=512)
def without_cells(layout: Layout, cells: tuple[Cell, ...]) -> Layout:
    """Return a copy of the layout in which these floor cells are walls."""
    return replace(layout, floor=tuple(each for each in layout.floor if each not in cells))


@lru_cache(maxsize=64)
def refuges(layout: Layout) -> tuple[Cell, ...]:
    """Return the floor cells, best first: those that leave a partner the most furniture to reach, then those
    next to the least furniture, then those that lengthen its paths the least."""
    return tuple(sorted(layout.floor, key=lambda cell: (*_taken_room(layout, cell), cell)))


def _taken_room(layout: Layout, cell: Cell) -> tuple[int, int, int]:
    rest = without_cells(layout, (cell,))
    needed = [each for letter in (*DISPENSERS, POT, SERVING) for each in layout.places(letter)]
    reached = sum(len(cells_in_reach(rest, start).intersection(needed)) for start in rest.floor)
    beside = sum(cell_ahead(cell, face) in needed for face in DIRECTIONS)
    lengths = sum(_path_lengths(rest, start) for start in rest.floor)
    return -reached, beside, lengths


def _path_lengths(layout: Layout, start: Cell) -> int:
    steps: Iterable[int] = (way.moves for way in paths_from(layout, start))
    return sum(steps)
