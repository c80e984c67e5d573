"""Define the grid of blocks of a world: find the nearest block of a kind, and compute walks between cells.

A cell is (x, y, z) in whole numbers, and y points up. A grid stores a start map, which never changes, and the
cells that differ from that map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

from kitchen.contract.large_map import LargeMap
from kitchen.contract.world import Json

Cell = tuple[int, int, int]
AIR = "air"
MOVES_PER_STEP = 4
_CUBE_BITS = 2
"""A cube of the index has 2 ** 3 cells a side."""
_CUBE_LAST = (1 << _CUBE_BITS) - 1
_NO_CELLS: frozenset[Cell] = frozenset()

CHUNK = 8
"""A chunk has all cells above a square of so many cells a side."""
CHUNKS_AROUND = 2
"""Chunks that are drawn on each side of the one in which a seat is."""
Chunk = tuple[int, int]
"""The place of a chunk: x and z of its cells, divided by `CHUNK`."""
Index = Mapping[str, Mapping[Cell, frozenset[Cell] | set[Cell]]]
"""The cells of each kind, by cube."""


def squared_distance(one: Iterable[int], other: Iterable[int]) -> int:
    """Return the square of the straight-line distance between two cells."""
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def is_within(one: Iterable[int], other: Iterable[int], reach: float) -> bool:
    """Return whether two cells are at most `reach` apart."""
    return squared_distance(one, other) <= reach * reach


def walked(start: Cell, goal: Cell, reach: float, moves: int = MOVES_PER_STEP) -> tuple[Cell, int]:
    """Return the cell that is reached from `start` with up to `moves` unit moves towards `goal`, and the
    number of moves made.

    Each move changes the coordinate with the largest difference; ties: x, then z, then y. The walk ends as
    soon as the goal is within `reach`.
    """
    at = list(start)
    for taken in range(moves):
        if is_within(at, goal, reach):
            moves = taken
            break
        axis = max((0, 2, 1), key=lambda each: abs(goal[each] - at[each]))
        at[axis] += 1 if goal[axis] > at[axis] else -1
    return (at[0], at[1], at[2]), moves


Rank = tuple[int, int, int, int]
"""The order of cells by distance from a cell: (squared distance, x, z, y)."""


def rank_from(origin: Cell) -> Callable[[Cell], Rank]:
    """Return a sort key that orders cells by their distance from `origin`. Among equal distances, cells
    with smaller x come first, then smaller z, then smaller y."""
    from_x, from_y, from_z = origin

    def rank(cell: Cell) -> Rank:
        x, y, z = cell
        return (x - from_x) ** 2 + (y - from_y) ** 2 + (z - from_z) ** 2, x, z, y

    return rank


def nearest_cell(cells: Iterable[Cell], origin: Cell, reach: float) -> Cell | None:
    """Return the cell nearest to `origin` if it is at most `reach` away, else None."""
    best = min(map(rank_from(origin), cells), default=None)
    return _within(best, reach * reach)


def _within(best: Rank | None, limit: float) -> Cell | None:
    """Return the cell of a ranked candidate if its squared distance is at most `limit`; else None."""
    return (best[1], best[3], best[2]) if best and best[0] <= limit else None


class Bounds(NamedTuple):
    """A box of cells between two corners, both included. It is empty if a lower corner is above the higher
    one."""

    low: Cell
    high: Cell

    def holds(self, cell: Cell) -> bool:
        """Return whether the cell is in the box."""
        return all(low <= each <= high for low, each, high in zip(self.low, cell, self.high, strict=True))

    def widened(self, by: int) -> Bounds:
        """Return the box with `by` more cells on each side in x and z."""
        (x, y, z), (far_x, far_y, far_z) = self
        return Bounds((x - by, y, z - by), (far_x + by, far_y, far_z + by))


EMPTY_BOUNDS = Bounds((0, 0, 0), (-1, -1, -1))


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of blocks of one kind, and a box that contains them all."""

    count: int
    box: Bounds

    def changed(self, cell: Cell, by: int) -> Extent:
        """Return the extent after a block in this cell was added (`by` 1) or removed (`by` -1)."""
        if by < 0:
            return Extent(self.count + by, self.box)
        (low_x, low_y, low_z), (high_x, high_y, high_z) = self.box
        x, y, z = cell
        low = min(low_x, x), min(low_y, y), min(low_z, z)
        return Extent(self.count + by, Bounds(low, (max(high_x, x), max(high_y, y), max(high_z, z))))

    def is_within(self, origin: Cell, limit: float) -> bool:
        """Return whether every cell of the box is near `origin`: at most `limit` away in squared distance."""
        ends = zip(*self.box, origin, strict=True)
        return sum(max(at - low, high - at) ** 2 for low, high, at in ends) <= limit


@dataclass(frozen=True, slots=True)
class BlockMap:
    """The blocks at the start of an episode, with an index by kind, and the area where seats may go."""

    blocks: Mapping[Cell, str]
    area: Bounds
    """The cells that seats may enter."""
    index: Index
    extents: Mapping[str, Extent]

    @classmethod
    def of(cls, blocks: Mapping[Cell, str], area: Bounds) -> BlockMap:
        """Return the map with these blocks by cell. Seats may go everywhere in `area`."""
        index: dict[str, dict[Cell, set[Cell]]] = {}
        for cell, kind in blocks.items():
            index.setdefault(kind, {}).setdefault(_cube(cell), set()).add(cell)
        frozen = {
            kind: {cube: frozenset(cells) for cube, cells in cubes.items()} for kind, cubes in index.items()
        }
        extents: dict[str, Extent] = {}
        for cell, kind in blocks.items():
            extents[kind] = extents.get(kind, Extent(0, Bounds(cell, cell))).changed(cell, 1)
        return cls(dict(blocks), area, frozen, extents)


def cell_key(cell: Iterable[int]) -> str:
    """Return the cell as a text, its key in the stored state: `3,0,-2`."""
    return ",".join(map(str, cell))


def key_cell(key: str) -> Cell:
    """Return the cell that a key such as `3,0,-2` names."""
    x, y, z = map(int, key.split(","))
    return x, y, z


class BlockGrid:
    """The present blocks of a world: the start map and the cells that differ from it."""

    def __init__(self, start: BlockMap, changed: Mapping[str, Json] | None = None) -> None:
        """Copy `changed`: the block or `air` of each cell that differs from `start`, by the cell's key."""
        self.start = start
        self.changed = LargeMap(changed)
        self._blocks: dict[Cell, str] = {}
        """The blocks of all cells that ever changed."""
        self._own: dict[str, dict[Cell, set[Cell]]] = {}
        """The cubes of the index that differ from those of the map."""
        self._extents = dict(start.extents)
        self._found: dict[str, dict[tuple[Cell, float], Cell | None]] = {}
        """What was found of each kind since it changed last."""
        self._chunks: dict[Chunk, dict[str, list[int]]] = {}
        """The chunks that were read and have not changed since."""
        for key, block in self.changed.items():
            self._note(key_cell(key), block)

    def block(self, cell: Cell) -> str:
        """Return the block in a cell; `air` if the cell is empty."""
        return self._blocks.get(cell) or self.start.blocks.get(cell, AIR)

    def put(self, cell: Cell, block: str) -> None:
        """Put a block into a cell, or empty the cell (`air`)."""
        self._note(cell, block)
        if block == self.start.blocks.get(cell, AIR):
            self.changed.pop(cell_key(cell), None)
        else:
            self.changed[cell_key(cell)] = block

    def _note(self, cell: Cell, block: str) -> None:
        """Update the index of blocks after a cell has changed."""
        before, self._blocks[cell] = self.block(cell), block
        if before == block:
            return
        self._chunks.pop((cell[0] // CHUNK, cell[2] // CHUNK), None)
        cube = _cube(cell)
        for kind in {before, block} - {AIR}:
            self._found.pop(kind, None)
            extent = self._extents.get(kind) or Extent(0, Bounds(cell, cell))
            self._extents[kind] = extent.changed(cell, 1 if kind == block else -1)
            own = self._own.setdefault(kind, {})
            if cube not in own:
                own[cube] = set(self.start.index.get(kind, {}).get(cube, _NO_CELLS))
            if kind == block:
                own[cube].add(cell)
            else:
                own[cube].discard(cell)

    def kinds(self) -> list[str]:
        """Return all kinds of block that this grid has or had, in alphabetical order."""
        return sorted({*self.start.index, *self._own})

    def _cubes(self, kind: str) -> Mapping[Cell, frozenset[Cell] | set[Cell]]:
        start, own = self.start.index.get(kind), self._own.get(kind)
        if not start or not own:
            return start or own or {}
        return {**start, **own}

    def chunk(self, at: Chunk) -> dict[str, list[int]]:
        """Return the blocks of a chunk: for each kind its cells in numbers, as runs (first, length, first,
        length ...). The number of a cell is 64 y + 8 z + x, counted from the lowest corner of the chunk."""
        if at not in self._chunks:
            self._chunks[at] = {kind: _runs(cells) for kind in self.kinds() if (cells := self._in(kind, at))}
        return self._chunks[at]

    def _in(self, kind: str, at: Chunk) -> list[int]:
        low, high = self.start.area
        first, last = _cube((at[0] * CHUNK, low[1], at[1] * CHUNK)), _cube((0, high[1], 0))
        start, own = self.start.index.get(kind, {}), self._own.get(kind, {})
        cubes = product((first[0], first[0] + 1), range(first[1], last[1] + 1), (first[2], first[2] + 1))
        cells = chain.from_iterable(own[each] if each in own else start.get(each, ()) for each in cubes)
        return sorted((y - low[1]) * CHUNK * CHUNK + z % CHUNK * CHUNK + x % CHUNK for x, y, z in cells)

    def nearest(self, kind: str, origin: Cell, reach: float) -> Cell | None:
        """Return the cell of the nearest block of this kind within `reach` of `origin`; None if there is
        none."""
        found = self._found.setdefault(kind, {})
        if (origin, reach) not in found:
            found[origin, reach] = self._search(kind, origin, reach * reach)
        return found[origin, reach]

    def _search(self, kind: str, origin: Cell, limit: float) -> Cell | None:
        best, rank = None, rank_from(origin)
        cubes = self._cubes(kind)
        for least, cube in sorted((_least_distance(cube, origin), cube) for cube in cubes):
            if least > (best[0] if best else limit):
                break
            nearest = min(map(rank, cubes[cube]), default=None)
            if nearest and (best is None or nearest < best):
                best = nearest
        return _within(best, limit)

    def count(self, kind: str, origin: Cell, reach: float) -> int:
        """Return the number of blocks of this kind within `reach` of `origin`."""
        total, limit, rank = 0, reach * reach, rank_from(origin)
        extent = self._extents.get(kind)
        if extent is None or extent.is_within(origin, limit):
            return extent.count if extent else 0
        for cube, cells in self._cubes(kind).items():
            if _most_distance(cube, origin) <= limit:
                total += len(cells)
            elif _least_distance(cube, origin) <= limit:
                total += sum(rank(cell)[0] <= limit for cell in cells)
        return total


def picture_around(grid: BlockGrid, animals: Iterable[tuple[str, Cell]], cell: Cell) -> dict[str, Json]:
    """Return what a map shows around a cell: the area, and blocks and animals of the chunks that are near."""
    near = range(-CHUNKS_AROUND, CHUNKS_AROUND + 1)
    east, south = cell[0] // CHUNK, cell[2] // CHUNK
    places = {(east + x, south + z) for x in near for z in near}
    blocks = {f"{x},{z}": grid.chunk((x, z)) for x, z in sorted(places)}
    return {
        "area": [list(corner) for corner in grid.start.area],
        "chunks": {place: found for place, found in blocks.items() if found},
        "animals": [[kind, x, y, z] for kind, (x, y, z) in animals if (x // CHUNK, z // CHUNK) in places],
    }


def _runs(numbers: Iterable[int]) -> list[int]:
    """Return sorted numbers as runs: first, length, first, length ..."""
    runs: list[int] = []
    for number in numbers:
        if runs and runs[-2] + runs[-1] == number:
            runs[-1] += 1
        else:
            runs += (number, 1)
    return runs


def _cube(cell: Cell) -> Cell:
    x, y, z = cell
    return x >> _CUBE_BITS, y >> _CUBE_BITS, z >> _CUBE_BITS


def _least_distance(cube: Cell, origin: Cell) -> int:
    """Return the square of the least distance of a cell in the cube."""
    total = 0
    for each, at in zip(cube, origin, strict=True):
        low = each << _CUBE_BITS
        gap = low - at if at < low else at - low - _CUBE_LAST
        if gap > 0:
            total += gap * gap
    return total


def _most_distance(cube: Cell, origin: Cell) -> int:
    """Return the square of the greatest distance of a cell in the cube."""
    total = 0
    for each, at in zip(cube, origin, strict=True):
        low = each << _CUBE_BITS
        total += max(abs(low - at), abs(low + _CUBE_LAST - at)) ** 2
    return total
