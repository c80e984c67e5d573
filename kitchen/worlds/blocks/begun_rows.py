"""Find the rows of blocks that people have just begun.

The agent `blocks_planner` leaves these rows to them while it has other work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.block_grid import AIR, Cell
from kitchen.worlds.blocks.macro_rule import words_cell

BEGUN_KEY = "begun"
"""Key of the agent's memory: the blocks that people placed lately."""
RECENT_STEPS = 5
"""Steps in which a row counts as begun after the last block that a person placed in it."""

PlacedBlocks = Sequence[Sequence[Json]]
"""Blocks as [step in which it was seen, item, x, y, z]."""


def recent_blocks(situation: Situation, known: PlacedBlocks) -> PlacedBlocks:
    """Return the blocks that people of other seats placed lately: those of the last step, and those that were
    `known` and are still recent."""
    found = [one for one in known if situation.step - one[0] < RECENT_STEPS]
    for event in situation.events:
        macro = tuple(event.data.get("macro") or ("",))
        is_theirs = event.seat in situation.people and event.seat not in situation.seats
        if is_theirs and event.kind == "done" and macro[0] == "place":
            found.append([situation.step, macro[1], *words_cell(macro)])
    return found


def begun_cells(
    seen: Mapping[str, Json], legal: Collection[Command], placed: PlacedBlocks
) -> frozenset[Cell]:
    """Return the cells where a seat could place a block in a row that a person has begun: of the same item,
    on the same level, and in the same row or column as one of `placed`."""
    missing = [
        (wanted, (x, seen["level"], z))
        for x, z, wanted, present in seen.get("differences", ())
        if present == AIR
    ]
    missing += [(command[1], words_cell(command)) for command in legal if command[0] == "place"]
    return frozenset(
        cell
        for item, cell in missing
        for _, kind, x, y, z in placed
        if item == kind and cell[1] == y and (cell[0] == x or cell[2] == z)
    )
