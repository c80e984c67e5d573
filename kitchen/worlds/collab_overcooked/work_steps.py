"""Estimate how many steps a piece of work takes, so that a person can choose what to do first.

The estimate depends on the commands alone, so that a request says the same in every step until it is begun.
"""

from __future__ import annotations

from functools import cache

from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.food_rules import JOB_STEPS
from kitchen.worlds.collab_overcooked.macro_checks import DELIVER, PLACE, STARTED_BY
from kitchen.worlds.collab_overcooked.room_layout import (
    COUNTER,
    EAST,
    NORTH,
    ROOM_COLUMNS,
    ROOM_ROWS,
    SERVING,
    SOUTH,
    WEST,
    Cell,
    Layout,
    approach,
    nearest,
)


@cache
def estimated_steps(macros: tuple[Command, ...], seat: int, layout: Layout) -> int:
    """Return how many steps these commands of a seat take in a row from the middle of its room on, if the
    other cook changes nothing. Nothing lies on the counters, except for what the commands take from there."""
    row, face, wait, steps = sum(ROOM_ROWS) // 2, SOUTH, 0, 0
    for macro in macros:
        cell = _target(macro, seat, row, face, layout)
        is_job = macro[-1] in STARTED_BY.values() and macro[0] not in STARTED_BY
        cost = max(approach(seat, row, face, cell).cost, wait + 1 if is_job else 0)
        wait = JOB_STEPS - 1 if macro[0] in STARTED_BY else max(0, wait - cost)
        steps += cost
        row, face = _after(seat, cell)
    return steps


def _target(macro: Command, seat: int, row: int, face: str, layout: Layout) -> Cell:
    """Return the cell at which a command is carried out."""
    if macro[0] != PLACE and macro[-1] != COUNTER:
        return layout.places[SERVING if macro[0] == DELIVER else macro[-1]]
    return nearest(seat, row, face, layout.shared) or layout.shared[0]


def _after(seat: int, cell: Cell) -> tuple[int, str]:
    """Return the row and the direction of a seat that has just used a cell."""
    x, y = cell
    row = min(max(y, ROOM_ROWS[0]), ROOM_ROWS[1])
    if x != ROOM_COLUMNS[seat]:
        return row, EAST if x > ROOM_COLUMNS[seat] else WEST
    return row, NORTH if y < row else SOUTH
