"""Read blueprints (building plans), and compare the blocks in a world with a blueprint.

A blueprint is a TOML file in `data/blueprints/` with two keys::

    legend = { s = "stone" }     # the block of each letter; a dot is air
    levels = [["ss", "s."]]      # from the bottom up; the rows of a level are z, the letters of a row x

The score is the share of matching cells among the cells where the blueprint or the site has a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated

from pydantic import Field, Strict, StringConstraints, TypeAdapter

from kitchen.contract.data_files import DataSource, Record, Texts, error_text, parse_toml, read_toml
from kitchen.contract.world import Json
from kitchen.worlds.blocks.block_grid import AIR, BlockGrid, Bounds, Cell, key_cell
from kitchen.worlds.blocks.blueprint_generator import generate_levels
from kitchen.worlds.blocks.item_recipes import DATA
from kitchen.worlds.blocks.item_words import unknown_block

FOLDER = DATA / "blueprints"
NO_BLOCK = "."
DIRT, PICKAXE = "dirt", "diamond_pickaxe"
TOOLS: Mapping[str, int] = {PICKAXE: 1, DIRT: 128}
"""What every builder holds at the start beside materials."""
MOST_SIDE = 32
"""Maximum number of levels, rows and columns of a blueprint."""
Letter = Annotated[str, StringConstraints(min_length=1, max_length=1)]
BlockName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"), error_text("must be the name of a block")
]


class BlueprintFile(Record):
    """The content of a blueprint file."""

    legend: Annotated[Mapping[Letter, BlockName], Field(max_length=26)]
    levels: Annotated[tuple[Texts, ...], Strict(False), Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The blocks to build, by level, and the number of blocks of each material."""

    name: str
    box: Bounds
    levels: tuple[Mapping[Cell, str], ...]
    """The wanted blocks of each level, in order z, then x."""
    materials: Mapping[str, int]
    """The number of blocks of each material, in the order of the first occurrence."""

    @classmethod
    def of(cls, name: str, levels: Sequence[Sequence[Sequence[str]]]) -> Blueprint:
        """Return a blueprint from `levels[y][z][x]` of block names. Empty levels at the top are removed."""
        while all(block == AIR for row in levels[-1] for block in row):
            levels = levels[:-1]
        high = len(levels[0][0]) - 1, len(levels) - 1, len(levels[0]) - 1
        wanted = tuple(
            {(x, y, z): block for z, row in enumerate(rows) for x, block in enumerate(row) if block != AIR}
            for y, rows in enumerate(levels)
        )
        materials = Counter(block for level in wanted for block in level.values())
        return cls(name, Bounds((0, 0, 0), high), wanted, materials)

    @property
    def blocks(self) -> int:
        """Return the number of blocks in the blueprint."""
        return sum(map(len, self.levels))

    def wanted(self, cell: Cell) -> str:
        """Return the block that the blueprint has in this cell of its box; `air` if none."""
        return self.levels[cell[1]].get(cell, AIR)

    def drawing(self) -> dict[str, Json]:
        """Return the blueprint in the form of its file: `legend` and `levels`."""
        letters = {block: chr(ord("A") + number) for number, block in enumerate(self.materials)}
        (_, (far_x, far_y, far_z)) = self.box
        rows = [
            [
                "".join(letters.get(self.wanted((x, y, z)), NO_BLOCK) for x in range(far_x + 1))
                for z in range(far_z + 1)
            ]
            for y in range(far_y + 1)
        ]
        return {"legend": {letter: block for block, letter in letters.items()}, "levels": rows}


class Comparison:
    """A running comparison of the blocks in the world with a blueprint. The time of an update does not
    depend on the number of blocks."""

    def __init__(self, blueprint: Blueprint, grid: BlockGrid) -> None:
        self.blueprint = blueprint
        self._present: dict[Cell, str] = {}
        """The blocks in the box."""
        self.matches = 0
        self.extra = 0
        """Blocks where the blueprint wants air."""
        self.left = [len(level) for level in blueprint.levels]
        """Wanted blocks of each level that do not stand."""
        self.wrong = [set[Cell]() for _ in blueprint.levels]
        """Cells of each level with a block that is not wanted there."""
        for key in grid.changed:
            self.update(key_cell(key), grid.changed[key])

    def update(self, cell: Cell, block: str) -> None:
        """Record the block that a cell now has; `air` if it is empty."""
        if not self.blueprint.box.holds(cell):
            return
        wanted, level = self.blueprint.wanted(cell), cell[1]
        self._count(self._present.get(cell, AIR), wanted, level, -1)
        self._count(block, wanted, level, 1)
        self._present[cell] = block
        (self.wrong[level].discard if block in (AIR, wanted) else self.wrong[level].add)(cell)

    def _count(self, block: str, wanted: str, level: int, by: int) -> None:
        if block == AIR:
            return
        if block == wanted:
            self.matches += by
            self.left[level] -= by
        elif wanted == AIR:
            self.extra += by

    @property
    def mismatches(self) -> int:
        """Return the number of cells in which the built blocks differ from the blueprint."""
        return self.blueprint.blocks + self.extra - self.matches

    @property
    def score(self) -> float:
        """Return the score, from 0 to 100: 100 x matches / (matches + mismatches)."""
        return 100 * self.matches / (self.matches + self.mismatches)

    @property
    def filled(self) -> float:
        """Return the share of the blueprint's blocks that are already built, from 0 to 1."""
        return self.matches / self.blueprint.blocks

    @property
    def is_complete(self) -> bool:
        """Return True if all blocks of the blueprint are built and its box contains no other block."""
        return not self.mismatches

    @property
    def level(self) -> int | None:
        """Return the lowest level in which the built blocks differ from the blueprint; None if no level
        differs."""
        levels = range(len(self.left))
        return next((each for each in levels if self.left[each] or self.wrong[each]), None)

    def differences(self, level: int) -> list[list[Json]]:
        """Return the cells of a level that differ from the blueprint, as [x, z, wanted block, present
        block]."""
        wanted = self.blueprint.levels[level]
        cells = {cell for cell, block in wanted.items() if self._present.get(cell, AIR) != block}
        return [
            [cell[0], cell[2], wanted.get(cell, AIR), self._present.get(cell, AIR)]
            for cell in sorted(cells | self.wrong[level], key=lambda cell: (cell[2], cell[0]))
        ]


def read_blueprint(name: str) -> Blueprint:
    """Read `data/blueprints/NAME.toml`. Raises DataError with file, key and reason if the file is wrong."""
    return _checked(name, *read_toml(FOLDER / f"{name}.toml"))


@lru_cache(maxsize=16)
def parse_blueprint(text: str, name: str) -> Blueprint:
    """Return the blueprint that a TOML text describes. `name` is the text's name in error messages. Raises
    DataError if the text is wrong."""
    return _checked(name, *parse_toml(text, name, foreign=True))


def _checked(name: str, source: DataSource, values: Json) -> Blueprint:
    given = source.read(TypeAdapter(BlueprintFile), values)
    _check_legend(source, given.legend)
    known = {NO_BLOCK: AIR, **given.legend}
    depth, width = len(given.levels[0]), len(given.levels[0][0])
    if max(len(given.levels), depth, width) > MOST_SIDE:
        raise source.error("levels", f"must not have more than {MOST_SIDE} levels, rows or columns")
    for number, rows in enumerate(given.levels, 1):
        place = source.at(f"levels[{number}]")
        for row_number, row in enumerate(rows, 1):
            if reason := _row_problem(row, known, (len(rows), len(row)), (depth, width)):
                raise place.error(f"[{row_number}]", reason)
    levels = [[[known[letter] for letter in row] for row in rows] for rows in given.levels]
    if all(block == AIR for rows in levels for row in rows for block in row):
        raise source.error("levels", "has no block")
    return Blueprint.of(name, levels)


def _check_legend(source: DataSource, legend: Mapping[str, str]) -> None:
    """Raise DataError if a letter of the legend is wrong, or a block has no translated name."""
    if AIR in legend.values() or NO_BLOCK in legend:
        raise source.error("legend", f"{NO_BLOCK} is {AIR}, and not in the legend")
    for letter, block in legend.items():
        if reason := unknown_block(block):
            raise source.error(f"legend.{letter}", reason)


def _row_problem(row: str, known: Mapping[str, str], size: tuple[int, int], first: tuple[int, int]) -> str:
    """Return a text that says why a row of the blueprint file is wrong. Return an empty text if the row is
    correct."""
    if size != first:
        return f"{size[0]} x {size[1]} cells, where the first level has {first[0]} x {first[1]}"
    unknown = next((letter for letter in row if letter not in known), "")
    return f"{unknown!r} is not one of {', '.join(known)}" if unknown else ""


def blueprint_files() -> tuple[str, ...]:
    """Return the names of the shipped blueprint files, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def blueprint(name: str) -> Blueprint:
    """Return the blueprint of the file with this name. If there is no such file, generate the blueprint
    from the name. Raises LookupError if neither is possible."""
    if name in blueprint_files():
        return read_blueprint(name)
    return Blueprint.of(name, generate_levels(name))
