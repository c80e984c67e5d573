"""Where seats stand and face, and what comes of each command of theirs that needs nobody else. Plain Python.

All of it follows from the layout, and is worked out once for all episodes in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.world import Command, Event
from kitchen.worlds.overcooked.layout import DIRECTIONS, Cell, Layout, beside

SEATS = (0, 1)
STAY: Command = ("stay",)
INTERACT: Command = ("interact",)
MOVES: tuple[Command, ...] = tuple((face,) for face in DIRECTIONS)
COMMANDS = (*MOVES, INTERACT, STAY)

BY_COUNTER, BY_SEAT = "counter", "seat"
"""What keeps somebody from the cell ahead: furniture, or the other one."""


class Stand:
    """One seat in a cell, and where it faces. Never changed."""

    __slots__ = ("after", "ahead", "at", "face")

    def __init__(self, at: Cell, face: str) -> None:
        self.at, self.face = at, face
        self.ahead = beside(at, face)
        self.after: Mapping[Command, Try] = {}
        """By command."""


class Try(NamedTuple):
    """What a seat wants by a command, and what comes of it."""

    target: Cell
    free: Stand
    """Where it stands then, if the other seat does not keep it."""
    kept: Stand
    """And if it does."""
    event: Event
    """What is told if it is not kept; nothing of this holds for an interact."""
    event_kept: Event
    wants: bool
    """It wants to be in another cell."""
    idle: bool
    acts: bool


class Floor:
    """All stands of both seats on the floor of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._cells = frozenset(layout.floor)
        self._stands = [
            {(cell, face): Stand(cell, face) for cell in layout.floor for face in DIRECTIONS} for _ in SEATS
        ]
        for seat, stands in enumerate(self._stands):
            for stand in stands.values():
                stand.after = {command: self._tried(seat, stand, command) for command in COMMANDS}

    def stand(self, seat: int, at: Cell, face: str) -> Stand:
        """The one object for these."""
        return self._stands[seat][at, face]

    def _tried(self, seat: int, stand: Stand, command: Command) -> Try:
        told: dict[str, object] = {"command": list(command)}
        if command[0] not in DIRECTIONS:
            event = Event("performed", seat, told)
            idle = command == STAY
            return Try(stand.at, stand, stand, event, event, wants=False, idle=idle, acts=not idle)
        ahead = beside(stand.at, command[0])
        wants = ahead in self._cells
        free = {"moved": wants, "blocked_by": None if wants else BY_COUNTER}
        kept = {"moved": False, "blocked_by": BY_SEAT if wants else BY_COUNTER}
        target = ahead if wants else stand.at
        return Try(
            target,
            self.stand(seat, target, command[0]),
            self.stand(seat, stand.at, command[0]),
            Event("performed", seat, {**told, **free}),
            Event("performed", seat, {**told, **kept}),
            wants=wants,
            idle=False,
            acts=False,
        )


@lru_cache(maxsize=64)
def floor_of(layout: Layout) -> Floor:
    """The floor that all episodes in a layout share."""
    return Floor(layout)
