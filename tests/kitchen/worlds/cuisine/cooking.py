"""Play CuisineWorld in tests with commands written as text."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

from kitchen.contract.world import Command, Event
from kitchen.worlds.cuisine.world import CuisineWorld

TRACES = Path(__file__).parents[2] / "data" / "cuisineworld.jsonl.gz"
LEVELS = (*(f"level_{number}" for number in range(13)), "level_12_fryer")


def kitchen(level: str = "level_3", seats: int = 1, seed: int = 0, **settings: Any) -> CuisineWorld:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world = CuisineWorld.create(seats=seats, settings={"level": level, **settings})
    world.reset(seed)
    return world


def command(text: str) -> Command:
    return tuple(text.split())


def act(world: CuisineWorld, *texts: str) -> tuple[Event, ...]:
    """Take one step. The first text is the command of seat 0, the second of seat 1, and so on."""
    return world.step({seat: command(text) for seat, text in enumerate(texts)})


def play(world: CuisineWorld, *texts: str) -> tuple[Event, ...]:
    """Take one step for each command of seat 0, and return the events of the last step."""
    events: tuple[Event, ...] = ()
    for text in texts:
        events = act(world, text)
    return events


def fetch(world: CuisineWorld, item: str, place: str) -> None:
    """Let seat 0 carry a base ingredient to a place and put it there."""
    play(world, "goto storage0", f"get storage0 {item}", f"goto {place}", f"put {place}")


def reasons(events: tuple[Event, ...], number: int = 0) -> set[str]:
    """Return why the command with this number was refused; empty if it was carried out."""
    return set(events[number].data.get("reasons", ()))


def kinds(events: tuple[Event, ...]) -> list[str]:
    return [event.kind for event in events]


def place(world: CuisineWorld, id: str) -> dict[str, Any]:
    found: dict[str, Any] = world.observe(0)["locations"][id]
    return found


def agent(world: CuisineWorld, seat: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = world.observe(0)["agents"][seat]
    return found


def wander(world: CuisineWorld, steps: int, seed: int = 0) -> None:
    """Play random legal actions for all seats. Actions with items are more likely than walking."""
    chance = Random(seed)
    for _ in range(steps):
        turn = {}
        for seat in range(world.seats):
            legal = world.legal_actions(seat)
            handling = [each for each in legal if each[0] in ("put", "activate", "get")]
            turn[seat] = chance.choice(handling if handling and chance.random() < 0.7 else legal)
        world.step(turn)
