"""Divide the missing blocks of a blueprint into pieces: rectangles of one material that a sentence can name.

The agent `blocks_planner` names pieces to people who do not know the blueprint.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kitchen.contract.world import Json
from kitchen.worlds.blocks.block_grid import AIR, Cell
from kitchen.worlds.blocks.blueprints import NO_BLOCK


@dataclass(frozen=True, slots=True)
class BlueprintPiece:
    """A rectangle of cells of one level that want the same material. All numbers count from 0."""

    item: str
    level: int
    rows: tuple[int, int]
    """The first and the last row."""
    columns: tuple[int, int]
    """The first and the last column."""

    @property
    def cells(self) -> Iterator[tuple[int, int]]:
        """Yield the cells as (column, row)."""
        for row in range(self.rows[0], self.rows[1] + 1):
            for column in range(self.columns[0], self.columns[1] + 1):
                yield column, row

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return (self.rows[1] - self.rows[0] + 1) * (self.columns[1] - self.columns[0] + 1)

    def to_json(self) -> list[Json]:
        """Return the piece as arguments of a sentence: item, level, rows, columns, number of cells."""
        return [self.item, self.level, list(self.rows), list(self.columns), self.size]


def missing_pieces(
    brief: Mapping[str, Json], seen: Mapping[str, Json], level: int, without: Container[Cell] = ()
) -> list[BlueprintPiece]:
    """Return the pieces of a level that are still to be built, in reading order, except for the cells in
    `without`. `seen` is the observation of a seat that knows the blueprint. It lists the missing cells of the
    lowest unfinished level only: of higher levels, cells that already have a block are included, unless the
    whole level stands."""
    if level == seen["level"]:
        wanted = {(x, z): block for x, z, block, _ in seen["differences"] if block != AIR}
    elif seen["left_by_level"][level]:
        wanted = _wanted_cells(brief, level)
    else:
        wanted = {}
    wanted = {(x, z): block for (x, z), block in wanted.items() if (x, level, z) not in without}
    items = dict.fromkeys(wanted.values())
    return [
        BlueprintPiece(item, level, rows, columns)
        for item in items
        for rows, columns in _rectangles(cell for cell, block in wanted.items() if block == item)
    ]


def wanted_blocks(brief: Mapping[str, Json]) -> dict[Cell, str]:
    """Return the block of each cell of the blueprint, for a seat whose brief has the blueprint."""
    levels = range(len(brief["blueprint"]["levels"]))
    return {(x, y, z): block for y in levels for (x, z), block in _wanted_cells(brief, y).items()}


def _wanted_cells(brief: Mapping[str, Json], level: int) -> dict[tuple[int, int], str]:
    legend, rows = brief["blueprint"]["legend"], brief["blueprint"]["levels"][level]
    return {
        (x, z): legend[letter]
        for z, row in enumerate(rows)
        for x, letter in enumerate(row)
        if letter != NO_BLOCK
    }


def _rectangles(cells: Iterable[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield rectangles that together cover these (column, row) cells, each as (rows, columns). Each begins
    at the first cell that is left, and grows along its row first."""
    left = set(cells)
    while left:
        first, row = min(left, key=lambda cell: (cell[1], cell[0]))
        last = first
        while (last + 1, row) in left:
            last += 1
        bottom = row
        while all((x, bottom + 1) in left for x in range(first, last + 1)):
            bottom += 1
        left -= {(x, z) for x in range(first, last + 1) for z in range(row, bottom + 1)}
        yield (row, bottom), (first, last)
