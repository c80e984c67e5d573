"""Find the cells and the items that a request to the agent `blocks_planner` means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from kitchen.contract.world import Json
from kitchen.worlds.blocks.block_grid import Cell
from kitchen.worlds.blocks.blueprints import TOOLS
from kitchen.worlds.blocks.item_recipes import Inventory
from kitchen.worlds.blocks.parsed_requests import CORNERS, EDGE, ParsedRequest

KINDS_OF_ITEM: Mapping[str, tuple[str, ...]] = {"wood": ("_planks", "_log")}
"""Ends of the codes of items that a word for several kinds can mean."""


def meant_items(word: str, held: Inventory) -> list[str]:
    """Return the items that a word can mean: all held materials for no word, the held ones of its kind for a
    word for several kinds, and otherwise the item of this code."""
    if word in KINDS_OF_ITEM:
        return [item for item in sorted(held) if item.endswith(KINDS_OF_ITEM[word])]
    return [word] if word else [item for item in sorted(held) if item not in TOOLS]


def named_cells(brief: Mapping[str, Json], parsed: ParsedRequest) -> Iterator[Cell]:
    """Yield the named cells of the building site, in reading order. Numbers that are not named mean all, or
    the first and the last if the corners are meant. For the edge, only cells all around are meant."""
    size = site_size(brief)
    levels, columns, rows = (
        [number for number in named if 0 <= number < most] if named else range(most)
        for named, most in zip(parsed.places, (size[1], size[0], size[2]), strict=True)
    )
    if parsed.shape == CORNERS:
        columns, rows = (
            [number for number in numbers if number in (0, most - 1)]
            for numbers, most in ((columns, size[0]), (rows, size[2]))
        )
    for level, row, column in product(levels, rows, columns):
        inside = row not in (0, size[2] - 1) and column not in (0, size[0] - 1)
        if not (parsed.shape == EDGE and inside) and not _is_left_out(parsed, (level, column, row)):
            yield column, level, row


def _is_left_out(parsed: ParsedRequest, cell: tuple[int, ...]) -> bool:
    """Return whether a request leaves out a cell, given as level, column and row."""
    return any(
        all(not named or number in named for named, number in zip(place, cell, strict=True))
        for place in parsed.without
    )


def site_size(brief: Mapping[str, Json]) -> tuple[int, int, int]:
    """Return the numbers of columns, levels and rows of the building site; zeros without one."""
    if "size" in brief:
        x, y, z = brief["size"]
        return x, y, z
    levels = brief["blueprint"]["levels"] if "blueprint" in brief else []
    return (len(levels[0][0]), len(levels), len(levels[0])) if levels else (0, 0, 0)
