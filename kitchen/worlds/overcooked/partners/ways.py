"""Ways in space and time: from a pose to a goal around somebody who is on a way, too. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from kitchen.worlds.overcooked.layout import Cell
from kitchen.worlds.overcooked.partners.ground import FACES, FAR, Ground

HORIZON = 40
"""Ticks that are looked ahead."""
STAY = len(FACES)


class Course(NamedTuple):
    """What a seat does until it is there."""

    poses: tuple[int, ...]
    """From now on, one for each tick."""
    moves: tuple[int, ...]
    """Numbers of directions, or `STAY`."""
    arrives: bool

    def cells(self, ground: Ground) -> list[Cell]:
        """Where it is, tick by tick; then it stays for a tick, to use what it has come for."""
        cells = [ground.cell_of[pose] for pose in self.poses]
        return [*cells, cells[-1]] if self.arrives else cells


def find(ground: Ground, start: int, goals: Mapping[Cell, int], other: Sequence[Cell]) -> Course | None:
    """The quickest course to facing a goal, each with what it costs beside the way, around somebody who is in
    the `other` cells tick by tick, and away after the last of them. None if there is none in time."""
    tables = [(ground.ways(cell), more) for cell, more in goals.items()]

    def ahead(pose: int) -> int:
        return min(way[pose] + more for way, more in tables)

    if not tables or ahead(start) >= FAR:
        return None
    queue = [(ahead(start), 0, 0, start)]
    came: dict[tuple[int, int], tuple[int, int]] = {(start, 0): (start, STAY)}
    while queue:
        cost, _, tick, pose = heappop(queue)
        if any(way[pose] == 0 and tick + more == cost for way, more in tables):
            return _traced(came, pose, tick, True)
        if tick < HORIZON:
            for after in _next_edge(ground, [pose], came, tick, other):
                heappush(queue, (tick + 1 + ahead(after), len(came), tick + 1, after))
    return None


def evade(ground: Ground, start: int, other: Sequence[Cell]) -> Course:
    """The quickest course to a cell where the other one does not come any more; staying, if there is none."""
    edge, came = [start], {(start, 0): (start, STAY)}
    for tick in range(HORIZON):
        for pose in edge:
            if ground.cell_of[pose] not in other[tick:]:
                return _traced(came, pose, tick, False)
        edge = _next_edge(ground, edge, came, tick, other)
    return Course((start, start), (STAY,), False)


def _next_edge(
    ground: Ground,
    edge: Sequence[int],
    came: dict[tuple[int, int], tuple[int, int]],
    tick: int,
    other: Sequence[Cell],
) -> list[int]:
    """Poses that are reached for the first time in the next tick; `came` is told from where."""
    found: list[int] = []
    for pose in edge:
        for move, after in (*enumerate(ground.moves[pose]), (STAY, pose)):
            key = (after, tick + 1)
            if key not in came and is_free(ground.cell_of[pose], ground.cell_of[after], other, tick):
                came[key] = (pose, move)
                found.append(after)
    return found


def is_free(here: Cell, there: Cell, other: Sequence[Cell], tick: int) -> bool:
    """Whether one can go from here to there after this tick: the other one is not there, and does not change
    places."""
    if tick + 1 >= len(other):
        return True
    return other[tick + 1] != there and not (other[tick] == there and other[tick + 1] == here)


def _traced(came: Mapping[tuple[int, int], tuple[int, int]], pose: int, tick: int, arrives: bool) -> Course:
    poses, moves = [pose], list[int]()
    while tick:
        pose, move = came[pose, tick]
        poses.append(pose)
        moves.append(move)
        tick -= 1
    return Course(tuple(reversed(poses)), tuple(reversed(moves)), arrives)
