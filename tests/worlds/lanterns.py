"""A small world with figures of its own, for whatever follows from what a world declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import ClassVar, Self
from unittest.mock import patch

from kitchen.contract.kit import WorldKit
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
from kitchen.registry.worlds import WORLDS

FIGURES = (
    Figure(
        "glow",
        "number",
        "Glow",
        meaning="Light over the lanterns",
        so_far="Light over the lanterns up to here",
        undefined="blank before one was lit",
        unit="lumen",
        low=None,
    ),
    Figure("dark", "share", "Nights in the dark", undefined="blank before the end", better="lower"),
    Figure("completed", "count", "Nights completed", unit="nights", better="neither"),
    Figure(
        "lit",
        "count",
        "LEDs lit",
        so_far="Lanterns lit so far",
        unit="lanterns",
        measured=False,
        words=("lantern lit", "lanterns lit"),
    ),
    Figure("steps", "count", "Steps walked", measured=False),
)


class Lanterns(World):
    """One or two light lanterns, night after night; how bright one is is chance. Unlike CuisineWorld it has a
    number below zero, a share that is better when it is low, and one that only its end tells."""

    kind: ClassVar[str] = "lanterns"
    version: ClassVar[int] = 1
    settings: ClassVar[tuple[Setting, ...]] = (Setting("nights", "int", "Nights", 3, minimum=1),)
    max_seats: ClassVar[int] = 2
    figures: ClassVar[tuple[Figure, ...]] = FIGURES
    news: ClassVar[str] = "lanterns that went out"

    def __init__(self, seats: int, nights: int) -> None:
        if not self.min_seats <= seats <= self.max_seats:
            raise SettingsError(f"seats: {seats} is not 1 or 2")
        self.seats, self.nights = seats, nights
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        return cls(seats, clean_settings(cls.settings, settings)["nights"])

    def reset(self, seed: int) -> None:
        self.seed, self.past = seed, list[int]()

    @property
    def clock(self) -> int:
        return len(self.past)

    @property
    def length(self) -> int:
        return self.nights

    @property
    def over(self) -> bool:
        return self.clock >= self.nights

    def brief(self, seat: int) -> dict[str, Json]:
        return {"nights": self.nights}

    def observe(self, seat: int) -> dict[str, Json]:
        return {"lit": sum(self.past)}

    def legal_actions(self, seat: int) -> list[Command]:
        return [] if self.over else [("light",), ("rest",)]

    def step(self, turn: Turn) -> tuple[Event, ...]:
        if self.over:
            return ()
        given = [(seat, command) for seat, command in ordered(turn) if 0 <= seat < self.seats]
        self.past.append(sum(command == ("light",) for _, command in given))
        done = [Event("performed", seat, {"command": list(command)}) for seat, command in given]
        return (*done, *([] if self.past[-1] else [Event("out")]))

    def score(self) -> dict[str, Json]:
        lit = sum(self.past)
        glow = sum(Random(self.seed + one).uniform(-1, 2) for one in range(lit))
        return {
            "glow": glow / lit if lit else None,
            "dark": self.past.count(0) / self.nights if self.over else None,
            "completed": self.clock,
            "lit": lit,
            "steps": 10 * self.clock,
            "by_night": list(self.past),
        }

    def to_dict(self) -> dict[str, Json]:
        state = {
            "seats": self.seats,
            "settings": {"nights": self.nights},
            "seed": self.seed,
            "past": self.past,
        }
        return {"kind": self.kind, "version": self.version, **state}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        if (stored["kind"], stored["version"]) != (cls.kind, cls.version):
            raise StateError("no lanterns")
        found = cls.create(seats=stored["seats"], settings=stored["settings"])
        found.seed, found.past = stored["seed"], list(stored["past"])
        return found


class LanternsPage(Page):
    """Nobody looks at it."""

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        return ()

    def phrase(self, command: Command) -> str:
        return command[0].capitalize()


PAGE = LanternsPage()
KIT = WorldKit(rules="tests.worlds.lanterns:Lanterns", page="tests.worlds.lanterns:PAGE")


@contextmanager
def registered() -> Iterator[None]:
    """While it lasts, the registry has this world."""
    with patch.dict(WORLDS, {"lanterns": "tests.worlds.lanterns:KIT"}):
        yield
