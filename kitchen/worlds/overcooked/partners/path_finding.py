"""Find a cook's shortest paths on an Overcooked layout, with or without a partner who moves at the same time.

A pose is a cell and a facing direction, encoded as one integer. Each turn or move costs one tick (step).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from kitchen.worlds.overcooked.layout import DIRECTIONS, Cell, Layout, cell_ahead

UNREACHABLE = 10_000
"""A cost greater than that of any path: the goal cannot be reached."""
FACE_ORDER = tuple(DIRECTIONS)


class PoseGraph:
    """The graph of all poses (cell and facing direction) on a layout. The cell `wall`, if given, cannot be
    entered."""

    def __init__(self, layout: Layout, wall: Cell | None = None) -> None:
        self.layout = layout
        self.cells = tuple(cell for cell in layout.floor if cell != wall)
        self._number = {cell: number for number, cell in enumerate(self.cells)}
        self.cell_of = tuple(cell for cell in self.cells for _ in FACE_ORDER)
        self.ahead = tuple(cell_ahead(cell, face) for cell in self.cells for face in FACE_ORDER)
        moves = (tuple(self._moved(cell, face) for face in FACE_ORDER) for cell in self.cells)
        self.moves = tuple(after for after in moves for _ in FACE_ORDER)
        """The pose after each direction, in the order of `FACE_ORDER`, by pose."""
        self.facing: dict[Cell, list[int]] = {}
        """The poses that face a cell, by cell."""
        for pose, cell in enumerate(self.ahead):
            self.facing.setdefault(cell, []).append(pose)
        self._before = self._backwards()
        self._ways: dict[Cell, tuple[int, ...]] = {}
        self._between: dict[tuple[int, Cell, Cell], int] = {}

    def pose(self, cell: Cell, face: str) -> int:
        """Return the number of the pose in this cell and facing direction."""
        return self._number[cell] * len(FACE_ORDER) + FACE_ORDER.index(face)

    def _moved(self, cell: Cell, face: str) -> int:
        ahead = cell_ahead(cell, face)
        return self.pose(ahead if ahead in self._number else cell, face)

    def _backwards(self) -> list[list[int]]:
        before: list[list[int]] = [[] for _ in self.moves]
        for pose, ways in enumerate(self.moves):
            for after in ways:
                if after != pose:
                    before[after].append(pose)
        return before

    def ways(self, goal: Cell) -> tuple[int, ...]:
        """Return the ticks that a seat needs from each pose until it faces the cell `goal`. The index is the
        number of the pose. UNREACHABLE if the seat cannot get there."""
        found = self._ways.get(goal)
        if found is None:
            found = self._ways[goal] = self._work_out(goal)
        return found

    def _work_out(self, goal: Cell) -> tuple[int, ...]:
        ways = [UNREACHABLE] * len(self.moves)
        edge = deque(self.facing.get(goal, ()))
        for pose in edge:
            ways[pose] = 0
        while edge:
            pose = edge.popleft()
            for earlier in self._before[pose]:
                if ways[earlier] == UNREACHABLE:
                    ways[earlier] = ways[pose] + 1
                    edge.append(earlier)
        return tuple(ways)

    def between(self, pose: int, first: Cell, target: Cell) -> int:
        """Return the ticks that a seat in this pose needs to use the cell `first` and then face the cell
        `target`.

        Return UNREACHABLE if this is not possible.
        """
        found = self._between.get((pose, first, target))
        if found is None:
            found = self._between[pose, first, target] = self._two(pose, first, target)
        return found

    def _two(self, pose: int, first: Cell, target: Cell) -> int:
        near, to_then = self.from_pose(pose), self.ways(target)
        ends = [end for end in self.facing.get(first, ()) if end in near and to_then[end] < UNREACHABLE]
        return min((near[end] + 1 + to_then[end] for end in ends), default=UNREACHABLE)

    def from_pose(self, pose: int) -> Mapping[int, int]:
        """Return the ticks from this pose to every pose that can be reached."""
        return _reached(self, pose)


@lru_cache(maxsize=8192)
def _reached(ground: PoseGraph, pose: int) -> Mapping[int, int]:
    found, edge = {pose: 0}, deque([pose])
    while edge:
        at = edge.popleft()
        for after in ground.moves[at]:
            if after not in found:
                found[after] = found[at] + 1
                edge.append(after)
    return found


@lru_cache(maxsize=1024)
def pose_graph_of(layout: Layout, wall: Cell | None = None) -> PoseGraph:
    """Return the `PoseGraph` of a layout, from a cache if possible. The cell `wall`, if given, cannot be
    entered."""
    return PoseGraph(layout, wall)


HORIZON_TICKS = 40
"""Number of ticks that the search looks ahead."""
STAY = len(FACE_ORDER)


class TimedPath(NamedTuple):
    """A path of a seat: its pose (cell and facing direction) and its move at each tick."""

    poses: tuple[int, ...]
    """From now on, one for each tick."""
    moves: tuple[int, ...]
    """Numbers of directions, or `STAY`."""
    arrives: bool

    def cells(self, ground: PoseGraph) -> list[Cell]:
        """Return the cell of the seat at each tick.

        If the path reaches its goal, the last cell comes twice, because the `interact` command takes a
        tick.
        """
        cells = [ground.cell_of[pose] for pose in self.poses]
        return [*cells, cells[-1]] if self.arrives else cells


def find_path(
    ground: PoseGraph, start: int, goals: Mapping[Cell, int], other: Sequence[Cell]
) -> TimedPath | None:
    """Return the quickest path from the pose `start` to a pose that faces a goal. None if there is no path
    within HORIZON_TICKS.

    `goals` maps each goal to an extra cost, which is added to the path's cost. `other` has the other
    seat's cell at each tick; the path avoids these cells. After the last of them, the other seat is
    ignored.
    """
    tables = [(ground.ways(cell), more) for cell, more in goals.items()]

    def ahead(pose: int) -> int:
        return min(way[pose] + more for way, more in tables)

    if not tables or ahead(start) >= UNREACHABLE:
        return None
    queue = [(ahead(start), 0, 0, start)]
    came: dict[tuple[int, int], tuple[int, int]] = {(start, 0): (start, STAY)}
    while queue:
        cost, _, tick, pose = heappop(queue)
        if any(way[pose] == 0 and tick + more == cost for way, more in tables):
            return _traced(came, pose, tick, True)
        if tick < HORIZON_TICKS:
            for after in _next_edge(ground, [pose], came, tick, other):
                heappush(queue, (tick + 1 + ahead(after), len(came), tick + 1, after))
    return None


def find_evasion(ground: PoseGraph, start: int, other: Sequence[Cell]) -> TimedPath:
    """Return the quickest path to a cell that the other seat will not enter. If there is none, return a path
    that stays.

    `other` has the other seat's cell at each tick.
    """
    edge, came = [start], {(start, 0): (start, STAY)}
    for tick in range(HORIZON_TICKS):
        for pose in edge:
            if ground.cell_of[pose] not in other[tick:]:
                return _traced(came, pose, tick, False)
        edge = _next_edge(ground, edge, came, tick, other)
    return TimedPath((start, start), (STAY,), False)


def _next_edge(
    ground: PoseGraph,
    edge: Sequence[int],
    came: dict[tuple[int, int], tuple[int, int]],
    tick: int,
    other: Sequence[Cell],
) -> list[int]:
    """Return the poses that can be reached in the next tick but not earlier. Store in `came` the pose from
    which each of them is reached."""
    found: list[int] = []
    for pose in edge:
        for move, after in (*enumerate(ground.moves[pose]), (STAY, pose)):
            key = (after, tick + 1)
            if key not in came and is_move_free(ground.cell_of[pose], ground.cell_of[after], other, tick):
                came[key] = (pose, move)
                found.append(after)
    return found


def is_move_free(here: Cell, there: Cell, other: Sequence[Cell], tick: int) -> bool:
    """Return whether a seat can move from `here` to `there` in the tick after number `tick`.

    `other` has the other seat's cell at each tick. Both seats must not be in the same cell, and must not
    swap cells.
    """
    if tick + 1 >= len(other):
        return True
    return other[tick + 1] != there and not (other[tick] == there and other[tick + 1] == here)


def _traced(
    came: Mapping[tuple[int, int], tuple[int, int]], pose: int, tick: int, arrives: bool
) -> TimedPath:
    poses, moves = [pose], list[int]()
    while tick:
        pose, move = came[pose, tick]
        poses.append(pose)
        moves.append(move)
        tick -= 1
    return TimedPath(tuple(reversed(poses)), tuple(reversed(moves)), arrives)
