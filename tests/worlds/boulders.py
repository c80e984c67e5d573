"""Define the test world Boulders, which has a large state: seats dig blocks out of a wall, put bricks in, and
moss grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import ClassVar

from kitchen.contract.declared_settings import Setting
from kitchen.contract.kit import WorldKit
from kitchen.contract.large_map import LargeMap
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.pages.default_page import DefaultPage

WIDTH = 20
STRIDE = 7
DIG, PUT, REST = ("dig",), ("put",), ("rest",)


class Boulders(SimpleWorld):
    """The world. Each seat is at one place, digs out the block there or puts a brick into the gap, and moves
    on. Moss grows on one block after every step."""

    kind: ClassVar[str] = "boulders"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("blocks", "int", "Blocks", 30, minimum=4, maximum=100_000),
        Setting("steps", "int", "Steps", 12, minimum=1),
        Setting("tick_ms", "int", "Milliseconds of a step; 0: turns", 0, minimum=0),
    )
    idle: ClassVar[Command] = REST
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = (
        Metric("dug", "count", "Blocks dug", so_far="Blocks dug so far", words=("block", "blocks")),
    )
    large: ClassVar[tuple[str, ...]] = ("blocks",)
    state: ClassVar[tuple[str, ...]] = ("dug", "at", "blocks")

    def begin(self) -> None:
        self.dug, self.at = 0, [0, 1][: self.seats]
        self.blocks = LargeMap({key_of(number): {"kind": "stone"} for number in range(self.chosen["blocks"])})

    @property
    def tick_ms(self) -> int | None:
        return self.chosen["tick_ms"] or None

    def observe(self, seat: int) -> dict[str, Json]:
        return {"at": self.at[seat], "here": self.blocks.get(key_of(self.at[seat])), "dug": self.dug}

    def legal_actions(self, seat: int) -> list[Command]:
        return [DIG if key_of(self.at[seat]) in self.blocks else PUT, REST]

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        key = key_of(self.at[seat])
        if command == DIG:
            del self.blocks[key]
            self.dug += 1
        elif command == PUT:
            self.blocks[key] = {"kind": "brick", "by": seat}
        if command != REST:
            self.at[seat] = (self.at[seat] + STRIDE) % self.chosen["blocks"]
        return ()

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        key = key_of(Random(f"{self.seed} {self.clock + 1}").randrange(self.chosen["blocks"]))
        if block := self.blocks.get(key):
            self.blocks[key] = {**block, "moss": block.get("moss", 0) + 1}
        return ()


def key_of(number: int) -> str:
    """Return the key of a block: its column and row, such as `3,0`."""
    return f"{number % WIDTH},{number // WIDTH}"


class BouldersPage(DefaultPage):
    """The page for turns. In real time, only programs play this world."""

    supports_clock = True


KIT = WorldKit(rules=lambda: Boulders, page=BouldersPage, steps="steps")
LINE = "boulders=tests.worlds.boulders:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
