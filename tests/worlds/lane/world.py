"""Define the test world Lane, version 1: every seat is on one of ten cells, and goes west, goes east, or
stays.

A move beyond an end is refused (`wall`). Score: `walked`, the number of cells that all seats have walked.
With `tick_ms`, a clock runs the steps; without it, the world is turn-based.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric

WAYS = {"west": -1, "east": 1, "stay": 0}
CELLS = 10


class Lane(SimpleWorld):
    """The world: cells in a row."""

    kind: ClassVar[str] = "lane"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("steps", "int", "Steps", 10, minimum=1, maximum=2000),
        Setting("tick_ms", "int", "Milliseconds of a step", 20, minimum=0, maximum=2000),
    )
    idle: ClassVar[Command] = ("stay",)
    max_seats: ClassVar[int] = 4
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric("walked", "count", "Cells walked", words=("cell walked", "cells walked")),
    )
    state: ClassVar[tuple[str, ...]] = ("walked", "at")

    def begin(self) -> None:
        """Place all seats at the west end."""
        self.walked, self.at = 0, [0] * self.seats

    @property
    def tick_ms(self) -> int | None:
        """Return the length of a tick from the settings, in milliseconds; None for turn-based play."""
        return self.chosen["tick_ms"] or None

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the positions of all seats."""
        return {"at": list(self.at), "you": self.at[seat], "players": [{"at": [at, 0]} for at in self.at]}

    def legal_actions(self, seat: int) -> list[Command]:
        """Return all directions that do not lead into a wall, and `stay`."""
        return [(way,) for way, by in WAYS.items() if 0 <= self.at[seat] + by < CELLS]

    def accepts(self, seat: int, command: Command) -> bool:
        """Accept all directions, and `stay`."""
        return len(command) == 1 and command[0] in WAYS

    def why_not(self, seat: int, command: Command) -> str:
        """Return the code `wall` for a move beyond an end."""
        return "wall"

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Walk one cell, or stay."""
        self.at[seat] += WAYS[command[0]]
        self.walked += abs(WAYS[command[0]])
        return ()
