"""Read the files of the two maps, the farm and the valley.

A file lists boxes of blocks, single blocks, and rules for placing animals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import Names, Record, Text, read_toml
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
    key, reason = _problem(given)
    if key:
        raise source.error(key, reason)
    blocks = dict(entry for field in given.fields for entry in field.cells())
    blocks |= {cell: kind for kind, cells in given.cells.items() for cell in cells}
    return PlaceMap(BlockMap.of(blocks, Bounds(given.low, given.high)), given.animals)


def _problem(given: MapFile) -> tuple[str, str]:
    """Return (key, reason) of the first thing in a map that cannot be; two empty texts if there is none."""
    area, kinds = Bounds(given.low, given.high), given.animals.kinds if given.animals else ()
    for number, field in enumerate(given.fields, 1):
        if reason := unknown_item([field.block, *filter(None, [field.other])]):
            return f"fields[{number}].block", reason
        if not (area.holds(field.low) and area.holds(field.high)):
            return f"fields[{number}]", "is not within the area from low to high"
    for kind, cells in given.cells.items():
        if reason := unknown_item([kind]):
            return f"cells.{kind}", reason
        if outside := next((cell for cell in cells if not area.holds(cell)), None):
            return f"cells.{kind}", f"{list(outside)} is not within the area from low to high"
    if reason := unknown_item(kinds):
        return "animals.kinds", reason
    return _crowded(given, area)


def _crowded(given: MapFile, area: Bounds) -> tuple[str, str]:
    """Return (key, reason) if the map might have no place for its animals; else two empty texts."""
    rule, (low, high) = given.animals, area
    if not rule:
        return "", ""
    free = (high[0] - low[0] + 1) * (high[2] - low[2] + 1) - (2 * rule.clear + 1) ** 2
    taken = sum(len(list(field.cells())) for field in given.fields) + sum(map(len, given.cells.values()))
    return (
        ("animals", "there is no place for so many")
        if rule.each * len(rule.kinds) > free - taken
        else ("", "")
    )


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
        while cell in taken or max(abs(cell[0]), abs(cell[2])) <= rule.clear:
            cell = _draw_cell(low, high, chance)
        taken.add(cell)
        found.append((kind, cell))
    return tuple(found)


def _draw_cell(low: Cell, high: Cell, chance: Random) -> Cell:
    x, z = (low[axis] + int((high[axis] - low[axis] + 1) * chance.random()) for axis in (0, 2))
    return x, low[1], z
