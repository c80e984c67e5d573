"""Compute poses of the seats and the results of moves, once for each layout. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.world import Command, Event
from kitchen.worlds.overcooked.layout import DIRECTIONS, Cell, Layout, cell_ahead

SEATS = (0, 1)
STAY: Command = ("stay",)
INTERACT: Command = ("interact",)
MOVE_COMMANDS: tuple[Command, ...] = tuple((face,) for face in DIRECTIONS)
COMMANDS = (*MOVE_COMMANDS, INTERACT, STAY)

BLOCKED_BY_COUNTER, BLOCKED_BY_SEAT = "counter", "seat"
"""Obstacles on the cell ahead of a seat: furniture, or the other seat."""


class Pose:
    """One seat in a cell with a facing direction. Never changed after creation."""

    __slots__ = ("after", "ahead", "at", "face")

    def __init__(self, at: Cell, face: str) -> None:
        self.at, self.face = at, face
        self.ahead = cell_ahead(at, face)
        self.after: Mapping[Command, MoveAttempt] = {}
        """The attempt for each command."""


class MoveAttempt(NamedTuple):
    """The move that a seat attempts with a command, and its possible results."""

    target: Cell
    free: Pose
    """The pose if the other seat does not block the move."""
    kept: Pose
    """The pose if the other seat blocks the move."""
    event: Event
    """The event if the move is not blocked; unused for an interact."""
    event_kept: Event
    wants: bool
    """Whether the command moves to another cell."""
    idle: bool
    acts: bool


class FloorPoses:
    """All poses of both seats on the floor of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._cells = frozenset(layout.floor)
        self._stands = [
            {(cell, face): Pose(cell, face) for cell in layout.floor for face in DIRECTIONS} for _ in SEATS
        ]
        for seat, stands in enumerate(self._stands):
            for stand in stands.values():
                stand.after = {command: self._attempt(seat, stand, command) for command in COMMANDS}

    def stand(self, seat: int, at: Cell, face: str) -> Pose:
        """Return the shared Pose object for these values."""
        return self._stands[seat][at, face]

    def _attempt(self, seat: int, stand: Pose, command: Command) -> MoveAttempt:
        data: dict[str, object] = {"command": list(command)}
        if command[0] not in DIRECTIONS:
            event = Event("performed", seat, data)
            idle = command == STAY
            return MoveAttempt(stand.at, stand, stand, event, event, wants=False, idle=idle, acts=not idle)
        ahead = cell_ahead(stand.at, command[0])
        wants = ahead in self._cells
        free = {"moved": wants, "blocked_by": None if wants else BLOCKED_BY_COUNTER}
        kept = {"moved": False, "blocked_by": BLOCKED_BY_SEAT if wants else BLOCKED_BY_COUNTER}
        target = ahead if wants else stand.at
        return MoveAttempt(
            target,
            self.stand(seat, target, command[0]),
            self.stand(seat, stand.at, command[0]),
            Event("performed", seat, {**data, **free}),
            Event("performed", seat, {**data, **kept}),
            wants=wants,
            idle=False,
            acts=False,
        )


@lru_cache(maxsize=64)
def floor_poses_of(layout: Layout) -> FloorPoses:
    """Return the poses that all episodes in a layout share."""
    return FloorPoses(layout)
