"""Read the maps of the farm and the valley: fields of blocks, single cells, and animals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import Names, Record, Text, read_toml
from kitchen.worlds.blocks.block_grid import BlockMap, Bounds, Cell
from kitchen.worlds.blocks.item_recipes import DATA

Corner = Annotated[tuple[int, int, int], Strict(False)]


class FieldOfBlocks(Record):
    """A box of blocks. `every`: the step between cells in x and z. `other`: the block where x + z is odd."""

    block: Text
    low: Corner
    high: Corner
    other: str = ""
    every: Annotated[int, Field(ge=1)] = 1

    def cells(self) -> Iterator[tuple[Cell, str]]:
        """Yield each cell with its block."""
        (x, y, z), (far_x, far_y, far_z) = self.low, self.high
        xs, zs = range(x, far_x + 1, self.every), range(z, far_z + 1, self.every)
        for cell in product(xs, range(y, far_y + 1), zs):
            odd = (cell[0] + cell[2]) % 2
            yield cell, self.other if self.other and odd else self.block


class Herd(Record):
    """The animals that are drawn anew for each seed."""

    each: Annotated[int, Field(ge=0)]
    """Number of each kind."""
    kinds: Names
    clear: int
    """They keep farther than this from the origin, in x or in z."""


class MapFile(Record):
    """The whole file."""

    low: Corner
    high: Corner
    fields: Annotated[tuple[FieldOfBlocks, ...], Strict(False)]
    cells: Mapping[str, Annotated[tuple[Corner, ...], Strict(False)]]
    animals: Herd | None = None


class PlaceMap(NamedTuple):
    """A map and its animals."""

    start: BlockMap
    herd: Herd | None

    def draw_animals(self, chance: Random) -> list[tuple[str, Cell]]:
        """Return each animal with its cell, in the order of the file. They stand on the ground, where no
        block and no other animal is."""
        if not self.herd:
            return []
        (x, y, z), (far_x, _, far_z) = self.start.area
        taken, found = set(self.start.blocks), list[tuple[str, Cell]]()
        for kind in [kind for kind in self.herd.kinds for _ in range(self.herd.each)]:
            while True:
                draws = chance.random(), chance.random()
                cell = x + int((far_x - x + 1) * draws[0]), y, z + int((far_z - z + 1) * draws[1])
                is_near = max(abs(cell[0]), abs(cell[2])) <= self.herd.clear
                if cell not in taken and not is_near:
                    break
            taken.add(cell)
            found.append((kind, cell))
        return found


@cache
def place_map(name: str) -> PlaceMap:
    """Read `data/maps/NAME.toml`; DataError with file, key and reason if it is wrong."""
    source, values = read_toml(DATA / "maps" / f"{name}.toml")
    given = source.read(TypeAdapter(MapFile), values)
    blocks = dict(entry for field in given.fields for entry in field.cells())
    blocks |= {cell: kind for kind, cells in given.cells.items() for cell in cells}
    return PlaceMap(BlockMap.of(blocks, Bounds(given.low, given.high)), given.animals)
