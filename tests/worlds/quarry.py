"""Quarry: seats dig blocks out of a quarry and put bricks in, and moss grows. Its blocks are a large part of
its state."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar, Self

from kitchen.contract.kit import WorldKit
from kitchen.contract.large_state import LargeMap
from kitchen.contract.page import Page, Panel, SeatView
from kitchen.contract.world import (
    Command,
    Event,
    Figure,
    Json,
    Setting,
    SettingsError,
    StateError,
    Turn,
    World,
    clean_settings,
    ordered,
)

WIDTH = 20
STRIDE = 7
DIG, PUT, REST = ("dig",), ("put",), ("rest",)


class Quarry(World):
    """Each seat stands at one place. It digs out the block there, or puts a brick where none is, and goes on.
    Moss grows on one block after every step."""

    kind: ClassVar[str] = "quarry"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("blocks", "int", "Blocks", 30, minimum=4, maximum=100_000),
        Setting("steps", "int", "Steps", 12, minimum=1),
        Setting("tick_ms", "int", "Milliseconds of a step; 0: turns", 0, minimum=0),
    )
    idle: ClassVar[Command] = REST
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("dug", "count", "Blocks dug", so_far="Blocks dug so far", words=("block", "blocks")),
    )
    large: ClassVar[tuple[str, ...]] = ("blocks",)
    clock, length = 0, 0

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        if not self.min_seats <= seats <= self.max_seats:
            raise SettingsError(f"seats: {seats} is not 1 or 2")
        self.seats, self.chosen = seats, clean_settings(self.settings, settings)
        self.length = self.chosen["steps"]

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        self.seed, self.clock, self.dug = seed, 0, 0
        self.at = [0, 1][: self.seats]
        self.blocks = LargeMap({key_of(number): {"kind": "stone"} for number in range(self.chosen["blocks"])})

    @property
    def tick_ms(self) -> int | None:
        return self.chosen["tick_ms"] or None

    @property
    def over(self) -> bool:
        return self.clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        return dict(self.chosen)

    def observe(self, seat: int) -> dict[str, Json]:
        return {"at": self.at[seat], "here": self.blocks.get(key_of(self.at[seat])), "dug": self.dug}

    def legal_actions(self, seat: int) -> list[Command]:
        return [DIG if key_of(self.at[seat]) in self.blocks else PUT, REST]

    def step(self, turn: Turn) -> tuple[Event, ...]:
        events = tuple(self._act(seat, tuple(command)) for seat, command in ordered(turn))
        self.clock += 1
        key = key_of(Random(f"{self.seed} {self.clock}").randrange(self.chosen["blocks"]))
        if block := self.blocks.get(key):
            self.blocks[key] = {**block, "moss": block.get("moss", 0) + 1}
        return events

    def _act(self, seat: int, command: Command) -> Event:
        if not 0 <= seat < self.seats or command not in self.legal_actions(seat):
            return Event("refused", seat, {"command": list(command), "reasons": ["senseless"]})
        key = key_of(self.at[seat])
        if command == DIG:
            del self.blocks[key]
            self.dug += 1
        elif command == PUT:
            self.blocks[key] = {"kind": "brick", "by": seat}
        if command != REST:
            self.at[seat] = (self.at[seat] + STRIDE) % self.chosen["blocks"]
        return Event("performed", seat, {"command": list(command)})

    def score(self) -> dict[str, Json]:
        return {"dug": self.dug}

    def to_dict(self) -> dict[str, Json]:
        named = {"kind": self.kind, "version": self.version, "seats": self.seats, "settings": self.chosen}
        small = {"seed": self.seed, "clock": self.clock, "dug": self.dug, "at": list(self.at)}
        return {**named, **small, "blocks": self.blocks}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        if (stored["kind"], stored["version"]) != (cls.kind, cls.version) or not stored["settings"]:
            raise StateError("not a state of quarry, version 1")
        world = cls(stored["seats"], stored["settings"])
        world.seed, world.clock, world.dug = stored["seed"], stored["clock"], stored["dug"]
        world.at, world.blocks = list(stored["at"]), LargeMap(stored["blocks"])
        return world


def key_of(number: int) -> str:
    """The place of a block, row by row."""
    return f"{number % WIDTH},{number // WIDTH}"


class QuarryPage(Page):
    """Nobody looks at it."""

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        return ()

    def phrase(self, command: Command) -> str:
        return command[0].capitalize()


PAGE = QuarryPage()
KIT = WorldKit(rules="tests.worlds.quarry:Quarry", page="tests.worlds.quarry:PAGE", steps="steps")
LINE = "quarry=tests.worlds.quarry:KIT"
"""Its line in `BRIGADE_WORLDS`."""
