"""Create games of the block worlds with given inventories, and play them seat by seat."""

from __future__ import annotations

from typing import Any

from kitchen.contract.world import Command, Event
from kitchen.worlds.blocks.construction_world import Construction
from kitchen.worlds.blocks.cooking_world import Cooking
from kitchen.worlds.blocks.crafting_world import Crafting
from kitchen.worlds.blocks.gather_world import Gather
from kitchen.worlds.blocks.kitchen_world import BlocksKitchen
from kitchen.worlds.blocks.macro_world import MacroWorld

GO_ON: Command = ("go_on",)
FAMILIES: dict[str, type[Any]] = {
    "crafting": Crafting,
    "cooking": Cooking,
    "construction": Construction,
    "gather": Gather,
    "kitchen": BlocksKitchen,
}


def game(family: str, *inventories: dict[str, int], seats: int = 2, seed: int = 0, **settings: Any) -> Any:
    """Create a world of blocks at its start, with the given inventories instead of the usual ones."""
    world = FAMILIES[family].create(seats=seats, settings=settings)
    world.reset(seed)
    for seat, items in enumerate(inventories):
        world.inventories[seat] = dict(items)
    return world


def step(world: MacroWorld, *words: str) -> list[tuple[Any, ...]]:
    """Take a step with one command for each seat (`-` for none). Return seat, kind, and codes or count of
    each event."""
    turn = {seat: tuple(each.split()) for seat, each in enumerate(words) if each != "-"}
    return [told(event) for event in world.step(turn)]


def told(event: Event) -> tuple[Any, ...]:
    """Return an event in short form: `(0, "refused", "missing")`, `(1, "done", 3)`."""
    count = (event.data["n"],) if "n" in event.data else ()
    return (event.seat, event.kind, *event.data.get("reasons", ()), *count)


def play(world: MacroWorld, *words: str, steps: int = 100) -> list[tuple[Any, ...]]:
    """Give these commands, and take steps until no macro is in progress. Return the events."""
    found = step(world, *words)
    while any(world.macros) and not world.has_ended and steps:
        found += step(world)
        steps -= 1
    return found


def refusal(world: Any, words: str, seat: int = 0) -> str:
    """Return the code with which a command would be refused now; empty if it is legal."""
    command = tuple(words.split())
    return "" if world.allows(seat, command) else world.why_not(seat, command)
