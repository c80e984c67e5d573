"""The floor of a layout as poses, and how far each is from what it may face. Plain Python.

A pose is a whole number: where a seat stands and faces. A way costs one tick for each turn or move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import lru_cache

from kitchen.worlds.overcooked.layout import DIRECTIONS, Cell, Layout, beside

FAR = 10_000
"""More than any way costs: it cannot be reached."""
FACES = tuple(DIRECTIONS)


class Ground:
    """All poses of a layout, or of what is left of it where somebody stands for good."""

    def __init__(self, layout: Layout, wall: Cell | None = None) -> None:
        self.layout = layout
        self.cells = tuple(cell for cell in layout.floor if cell != wall)
        self._number = {cell: number for number, cell in enumerate(self.cells)}
        self.cell_of = tuple(cell for cell in self.cells for _ in FACES)
        self.ahead = tuple(beside(cell, face) for cell in self.cells for face in FACES)
        self.moves = tuple(
            tuple(self._moved(cell, face) for face in FACES) for cell in self.cells for _ in FACES
        )
        """By pose: the pose after each direction, in the order of `FACES`."""
        self.facing: dict[Cell, list[int]] = {}
        """By cell: the poses that face it."""
        for pose, cell in enumerate(self.ahead):
            self.facing.setdefault(cell, []).append(pose)
        self._before = self._backwards()
        self._ways: dict[Cell, tuple[int, ...]] = {}
        self._between: dict[tuple[int, Cell, Cell], int] = {}

    def pose(self, cell: Cell, face: str) -> int:
        """The number of a pose."""
        return self._number[cell] * len(FACES) + FACES.index(face)

    def _moved(self, cell: Cell, face: str) -> int:
        ahead = beside(cell, face)
        return self.pose(ahead if ahead in self._number else cell, face)

    def _backwards(self) -> list[list[int]]:
        before: list[list[int]] = [[] for _ in self.moves]
        for pose, ways in enumerate(self.moves):
            for after in ways:
                if after != pose:
                    before[after].append(pose)
        return before

    def ways(self, goal: Cell) -> tuple[int, ...]:
        """By pose: ticks until one faces this cell; FAR where that cannot be."""
        found = self._ways.get(goal)
        if found is None:
            found = self._ways[goal] = self._work_out(goal)
        return found

    def _work_out(self, goal: Cell) -> tuple[int, ...]:
        ways = [FAR] * len(self.moves)
        edge = deque(self.facing.get(goal, ()))
        for pose in edge:
            ways[pose] = 0
        while edge:
            pose = edge.popleft()
            for earlier in self._before[pose]:
                if ways[earlier] == FAR:
                    ways[earlier] = ways[pose] + 1
                    edge.append(earlier)
        return tuple(ways)

    def between(self, pose: int, first: Cell, then: Cell) -> int:
        """Ticks from here to having used one thing and facing the other; FAR where that cannot be."""
        found = self._between.get((pose, first, then))
        if found is None:
            found = self._between[pose, first, then] = self._two(pose, first, then)
        return found

    def _two(self, pose: int, first: Cell, then: Cell) -> int:
        near, to_then = self.from_pose(pose), self.ways(then)
        ends = [end for end in self.facing.get(first, ()) if end in near and to_then[end] < FAR]
        return min((near[end] + 1 + to_then[end] for end in ends), default=FAR)

    def from_pose(self, pose: int) -> Mapping[int, int]:
        """Ticks to every pose that can be reached."""
        return _reached(self, pose)


@lru_cache(maxsize=8192)
def _reached(ground: Ground, pose: int) -> Mapping[int, int]:
    found, edge = {pose: 0}, deque([pose])
    while edge:
        at = edge.popleft()
        for after in ground.moves[at]:
            if after not in found:
                found[after] = found[at] + 1
                edge.append(after)
    return found


@lru_cache(maxsize=1024)
def ground_of(layout: Layout, wall: Cell | None = None) -> Ground:
    """The ground of a layout, worked out once."""
    return Ground(layout, wall)
