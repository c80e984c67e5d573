"""Define the test world Tunnel, version 1, in which every seat digs or rests.

`dig` is a macro of four steps, which `stop` ends. `rest` lasts one step. A seat that digs is not asked for a
command, but may stop. Score: `dug`, the number of completed macros.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from kitchen.contract import world as contract
from kitchen.contract.declared_settings import Setting, clean_settings
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.contract.world_errors import StateError

DIG: Command = ("dig",)
STOP: Command = ("stop",)
REST: Command = ("rest",)
GO_ON: Command = ("go_on",)
MACRO = 4
"""The number of steps of a `dig`."""


class Tunnel(contract.World):
    """The world in which seats dig."""

    kind: ClassVar[str] = "tunnel"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("steps", "int", "Steps", 20, minimum=1, maximum=200),
        Setting("deaf", "bool", "The last seat hears nobody", False),
    )
    idle: ClassVar[Command] = GO_ON
    passes_by: ClassVar[bool] = True
    max_seats: ClassVar[int] = 3
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric("dug", "count", "Tunnels dug", words=("tunnel dug", "tunnels dug")),
    )
    clock, length = 0, 0

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        self.seats, self.chosen = seats, clean_settings(self.settings, settings)
        self.length = self.chosen["steps"]
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """Create the world. Raises SettingsError for wrong settings."""
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        """Set the start state, in which no seat digs."""
        self.clock, self.dug, self.left = 0, 0, [0] * self.seats

    @property
    def over(self) -> bool:
        """Return whether the last step was taken."""
        return self.clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the settings."""
        return dict(self.chosen)

    def observe(self, seat: int) -> dict[str, Json]:
        """Return for each seat how many more steps it digs."""
        return {"left": list(self.left)}

    def asks(self, seat: int) -> bool:
        """Return whether the seat can choose: it cannot while it digs."""
        return not self.left[seat]

    def legal_actions(self, seat: int) -> list[Command]:
        """Return stop (and the idle command) for a seat that digs, otherwise dig, rest and the idle
        command."""
        return [GO_ON, STOP] if self.left[seat] else [DIG, REST, GO_ON]

    def plannable(self, seat: int) -> list[Command]:
        """Return the commands that begin something."""
        return [DIG, REST]

    def visible(self, seat: int, event: Event) -> bool:
        """Return whether the seat sees the event. A deaf seat sees no messages."""
        return event.kind != "message" or not self.chosen["deaf"] or seat != self.seats - 1

    def step(self, turn: contract.TurnCommands) -> tuple[Event, ...]:
        """Run the commands one after another. Then let all seats dig."""
        events = tuple(self._act(seat, tuple(command)) for seat, command in contract.ordered_commands(turn))
        self.dug += self.left.count(1)
        self.left = [max(0, left - 1) for left in self.left]
        self.clock += 1
        return events

    def _act(self, seat: int, command: Command) -> Event:
        if command not in self.legal_actions(seat):
            return Event("refused", seat, {"command": list(command), "reasons": ["busy"]})
        self.left[seat] = {DIG: MACRO, STOP: 0}.get(command, self.left[seat])
        return Event("performed", seat, {"command": list(command)})

    def score(self) -> dict[str, Json]:
        """Return the metric `dug`."""
        return {"dug": self.dug}

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state."""
        named = {"kind": self.kind, "version": self.version, "seats": self.seats, "settings": self.chosen}
        return {**named, "clock": self.clock, "dug": self.dug, "left": list(self.left)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the world from a stored state. Raises StateError for a state of another world or version."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise StateError("not a state of tunnel, version 1")
        world = cls(stored["seats"], stored["settings"])
        world.clock, world.dug, world.left = stored["clock"], stored["dug"], list(stored["left"])
        return world
