"""Read the files of the two maps, the farm and the valley.

A file lists boxes of blocks, single blocks, and rules for placing animals.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Names, Record, Text, read_toml
from kitchen.worlds.blocks.block_grid import BlockMap, Bounds, Cell
from kitchen.worlds.blocks.item_recipes import DATA
from kitchen.worlds.blocks.item_words import unknown_item

Herd = tuple[tuple[str, Cell], ...]
"""Each animal with its cell."""
Corner = Annotated[tuple[int, int, int], Strict(False)]


class FieldOfBlocks(Record):
    """A box of blocks in a map file. Only every `every`-th cell in x and z has a block. If `other` is
    given, it replaces the block where x + z is odd."""

    block: Text
    low: Corner
    high: Corner
    other: str = ""
    every: Annotated[int, Field(ge=1)] = 1

    def cells(self) -> Iterator[tuple[Cell, str]]:
        """Yield (cell, block) for each cell that has a block."""
        (x, y, z), (far_x, far_y, far_z) = self.low, self.high
        xs, zs = range(x, far_x + 1, self.every), range(z, far_z + 1, self.every)
        for cell in product(xs, range(y, far_y + 1), zs):
            odd = (cell[0] + cell[2]) % 2
            yield cell, self.other if self.other and odd else self.block


class HerdRule(Record):
    """The kinds and numbers of a map's animals, which get random places for each seed."""

    each: Annotated[int, Field(ge=0)]
    """Number of each kind."""
    kinds: Names
    clear: Annotated[int, Field(ge=0)]
    """They keep farther than this from the origin, in x or in z."""


class MapFile(Record):
    """The content of a map file."""

    low: Corner
    high: Corner
    fields: Annotated[tuple[FieldOfBlocks, ...], Strict(False)]
    cells: Mapping[str, Annotated[tuple[Corner, ...], Strict(False)]]
    animals: HerdRule | None = None


class PlaceMap(NamedTuple):
    """A map's blocks, and the rule that places its animals; `herd` is None if it has none."""

    start: BlockMap
    herd: HerdRule | None


@cache
def place_map(name: str) -> PlaceMap:
    """Read `data/maps/NAME.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "maps" / f"{name}.toml")
    given = source.read(TypeAdapter(MapFile), values)
    _check_map(given, source)
    blocks = dict(entry for field in given.fields for entry in field.cells())
    blocks |= {cell: kind for kind, cells in given.cells.items() for cell in cells}
    place = PlaceMap(BlockMap.of(blocks, Bounds(given.low, given.high)), given.animals)
    if (rule := place.herd) and rule.each * len(rule.kinds) > _count_places(rule, place.start):
        raise source.error("animals", "there is no place for so many")
    return place


def _check_map(given: MapFile, source: DataSource) -> None:
    """Raise DataError for the first name in a map that is unknown, or cell that is outside of its area."""
    area, kinds = Bounds(given.low, given.high), given.animals.kinds if given.animals else ()
    for number, field in enumerate(given.fields, 1):
        if reason := unknown_item([field.block]):
            raise source.error(f"fields[{number}].block", reason)
        if reason := unknown_item(filter(None, [field.other])):
            raise source.error(f"fields[{number}].other", reason)
        if not (area.holds(field.low) and area.holds(field.high)):
            raise source.error(f"fields[{number}]", "is not within the area from low to high")
    _check_cells(given, area, source)
    if reason := unknown_item(kinds):
        raise source.error("animals.kinds", reason)


def _check_cells(given: MapFile, area: Bounds, source: DataSource) -> None:
    for kind, cells in given.cells.items():
        if reason := unknown_item([kind]):
            raise source.error(f"cells.{kind}", reason)
        if outside := next((cell for cell in cells if not area.holds(cell)), None):
            reason = f"{list(outside)} is not within the area from low to high"
            raise source.error(f"cells.{kind}", reason)


def _count_places(rule: HerdRule, start: BlockMap) -> int:
    """Return the number of cells of the ground on which an animal may be at the start."""
    low, high = start.area
    cells = product(range(low[0], high[0] + 1), low[1:2], range(low[2], high[2] + 1))
    return sum(_may_hold_animal(cell, rule, start.blocks) for cell in cells)


def _may_hold_animal(cell: Cell, rule: HerdRule, taken: Container[Cell]) -> bool:
    return cell not in taken and max(abs(cell[0]), abs(cell[2])) > rule.clear


@lru_cache(maxsize=64)
def draw_herd(name: str, seed: int) -> Herd:
    """Return the animals of a map as (kind, cell), in the order of the map file, at random places that depend
    on `seed`.

    They are on the ground, in cells without a block or another animal. Empty if the map has no animals.
    """
    place, chance = place_map(name), Random(seed)  # noqa: S311 - not for secrets
    rule, (low, high) = place.herd, place.start.area
    if not rule:
        return ()
    taken, found = set(place.start.blocks), list[tuple[str, Cell]]()
    for kind in [kind for kind in rule.kinds for _ in range(rule.each)]:
        cell = _draw_cell(low, high, chance)
        while not _may_hold_animal(cell, rule, taken):
            cell = _draw_cell(low, high, chance)
        taken.add(cell)
        found.append((kind, cell))
    return tuple(found)


def _draw_cell(low: Cell, high: Cell, chance: Random) -> Cell:
    x, z = (low[axis] + int((high[axis] - low[axis] + 1) * chance.random()) for axis in (0, 2))
    return x, low[1], z
