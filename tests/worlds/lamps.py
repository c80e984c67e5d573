"""Define the test world Lamps, the smallest world with a page. One or two seats light lamps, night after
night.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar
from unittest.mock import patch

from kitchen.contract.declared_settings import Setting
from kitchen.contract.kit import WorldKit
from kitchen.contract.simple_world import SimpleWorld
from kitchen.contract.world import Command, Event, Json, Metric
from kitchen.pages.default_page import DefaultPage
from kitchen.registry.world_registry import WORLDS_VARIABLE

UNLIT, SO_FAR = "blank before one was lit", "Light over the lamps up to here"
LIT = ("lamp lit", "lamps lit")
FIGURES = (
    Metric("glow", "number", "Glow", "Light over the lamps", SO_FAR, UNLIT, "lumen", low=None),
    Metric("dark", "share", "Nights in the dark", undefined="blank before the end", better="lower"),
    Metric("completed", "count", "Nights completed", unit="nights", better="neither"),
    Metric("lit", "count", "LEDs lit", "", "Lamps lit so far", "", "lamps", measured=False, words=LIT),
    Metric("steps", "count", "Steps walked", measured=False),
)


class Lamps(SimpleWorld):
    """The world. The brightness of each lamp is random."""

    kind: ClassVar[str] = "lamps"
    settings: ClassVar[tuple[Setting, ...]] = (Setting("nights", "int", "Nights", 3, minimum=1),)
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Metric, ...]] = FIGURES
    news: ClassVar[str] = "lamps that went out"
    state: ClassVar[tuple[str, ...]] = ("past",)
    steps_setting: ClassVar[str] = "nights"

    def begin(self) -> None:
        self.past: list[int] = []

    def observe(self, seat: int) -> dict[str, Json]:
        return {"lit": sum(self.past)}

    def legal_actions(self, seat: int) -> list[Command]:
        return [("light",), ("rest",)]

    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        return ()

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        self.past.append(list(given.values()).count(("light",)))
        return () if self.past[-1] else (Event("out"),)

    def score(self) -> dict[str, Json]:
        lit, nights = sum(self.past), len(self.past)
        glow = sum(self.chance(lamp).uniform(-1, 2) for lamp in range(lit)) / lit if lit else None
        dark = self.past.count(0) / nights if self.over else None
        return {"glow": glow, "dark": dark, "completed": nights, "lit": lit, "steps": 10 * nights}


KIT = WorldKit(rules=lambda: Lamps, page=DefaultPage)


@contextmanager
def registered() -> Iterator[None]:
    """Add this world to the registry for the length of the block."""
    with patch.dict(os.environ, {WORLDS_VARIABLE: "lamps=tests.worlds.lamps:KIT"}):
        yield
