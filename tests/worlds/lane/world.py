"""Lane, version 1: every seat stands on one of ten cells, and goes west, east, or stays. Goes beyond an end:
refused, `wall`. Score: `walked`, how many cells all have walked. A clock takes a step every `tick_ms`;
without, it is turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from kitchen.contract import world as contract
from kitchen.contract.world import Command, Event, Figure, Json, Setting

WAYS = {"west": -1, "east": 1, "stay": 0}
CELLS = 10


class Lane(contract.World):
    """Cells in a row."""

    kind: ClassVar[str] = "lane"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("steps", "int", "Steps", 10, minimum=1, maximum=2000),
        Setting("tick_ms", "int", "Milliseconds of a step", 20, minimum=0, maximum=2000),
    )
    idle: ClassVar[Command] = ("stay",)
    max_seats: ClassVar[int] = 4
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("walked", "count", "Cells walked", words=("cell walked", "cells walked")),
    )
    clock, length = 0, 0

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        self.seats, self.chosen = seats, contract.clean_settings(self.settings, settings)
        self.length = self.chosen["steps"]
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """SettingsError for settings that are none."""
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        """All at the west end."""
        self.clock, self.walked, self.at = 0, 0, [0] * self.seats

    @property
    def tick_ms(self) -> int | None:
        """As it is set; 0 for turns."""
        return self.chosen["tick_ms"] or None

    @property
    def over(self) -> bool:
        """After the last step."""
        return self.clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        """The settings."""
        return dict(self.chosen)

    def observe(self, seat: int) -> dict[str, Json]:
        """Where all are."""
        return {"at": list(self.at), "you": self.at[seat], "players": [{"at": [at, 0]} for at in self.at]}

    def legal_actions(self, seat: int) -> list[Command]:
        """All ways but into a wall."""
        return [(way,) for way, by in WAYS.items() if 0 <= self.at[seat] + by < CELLS]

    def accepts(self, seat: int, command: Command) -> bool:
        """All ways."""
        return len(command) == 1 and command[0] in WAYS

    def step(self, turn: contract.Turn) -> tuple[Event, ...]:
        """One after the other."""
        events = tuple(self._go(seat, tuple(command)) for seat, command in contract.ordered(turn))
        self.clock += 1
        return events

    def _go(self, seat: int, command: Command) -> Event:
        if command not in self.legal_actions(seat):
            return Event("refused", seat, {"command": list(command), "reasons": ["wall"]})
        self.at[seat] += WAYS[command[0]]
        self.walked += abs(WAYS[command[0]])
        return Event("performed", seat, {"command": list(command)})

    def score(self) -> dict[str, Json]:
        """`walked`."""
        return {"walked": self.walked}

    def to_dict(self) -> dict[str, Json]:
        """All of it."""
        named = {"kind": self.kind, "version": self.version, "seats": self.seats, "settings": self.chosen}
        return {**named, "clock": self.clock, "walked": self.walked, "at": list(self.at)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """StateError for what is no state of it."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise contract.StateError("not a state of lane, version 1")
        world = cls(stored["seats"], stored["settings"])
        world.clock, world.walked, world.at = stored["clock"], stored["walked"], list(stored["at"])
        return world
