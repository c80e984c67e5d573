"""Estimate how many steps a piece of work takes, so that a person can choose what to do first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.food_rules import JOB_STEPS
from kitchen.worlds.collab_overcooked.macro_checks import DELIVER, PLACE, STARTED_BY
from kitchen.worlds.collab_overcooked.room_layout import (
    COUNTER,
    EAST,
    NORTH,
    PLACE_CELLS,
    ROOM_COLUMNS,
    ROOM_ROWS,
    SERVING,
    SHARED_COUNTERS,
    SOUTH,
    WEST,
    Cell,
    approach,
    nearest,
)


def estimated_steps(macros: Sequence[Command], seat: int, observation: Mapping[str, Json]) -> int:
    """Return how many steps these commands of a seat take in a row from the observed state on, if the other
    cook changes nothing."""
    player = observation["players"][seat]
    row, face = int(player["at"][1]), str(player["face"])
    occupied = {tuple(one["at"]) for one in observation["counters"]}
    left = {one["thing"]: one["left"] or 0 for one in observation["utensils"]}
    steps = 0
    for macro in macros:
        cell = _target(macro, seat, row, face, occupied)
        cost = max(approach(seat, row, face, cell).cost, left.get(macro[-1], 0) + 1)
        left = {name: max(0, number - cost) for name, number in left.items()}
        if macro[0] in STARTED_BY:
            left[macro[-1]] = JOB_STEPS - 1
        steps += cost
        row, face = _after(seat, cell)
    return steps


def _target(macro: Command, seat: int, row: int, face: str, occupied: Collection[Cell]) -> Cell:
    """Return the cell at which a command is carried out."""
    if macro[0] != PLACE and macro[-1] != COUNTER:
        return PLACE_CELLS[SERVING if macro[0] == DELIVER else macro[-1]]
    fitting = [cell for cell in SHARED_COUNTERS if (cell in occupied) == (macro[0] != PLACE)]
    return nearest(seat, row, face, fitting or SHARED_COUNTERS) or SHARED_COUNTERS[0]


def _after(seat: int, cell: Cell) -> tuple[int, str]:
    """Return the row and the direction of a seat that has just used a cell."""
    x, y = cell
    row = min(max(y, ROOM_ROWS[0]), ROOM_ROWS[1])
    if x != ROOM_COLUMNS[seat]:
        return row, EAST if x > ROOM_COLUMNS[seat] else WEST
    return row, NORTH if y < row else SOUTH
