"""What somebody can plan to do in a level, wherever they stand now (`World.plannable`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.kitchen import NOOP
from kitchen.worlds.cuisine.level import Level


@lru_cache(maxsize=256)
def commands_ahead(level: Level) -> tuple[Command, ...]:
    """Going, taking, putting and starting, place by place; only what leads to a dish of this level."""
    gotos = [("goto", place) for place in level.places]
    return (*gotos, *(command for place in level.places for command in _there(level, place)), NOOP)


def _there(level: Level, place: str) -> Iterator[Command]:
    tool = level.places[place]
    if tool.role == "storage":
        yield from (("get", place, item) for item in _base(level))
        return
    yield from (("get", place, made.product) for made in level.recipes.values() if made.tool == tool.code)
    yield ("put", place)
    if tool.role == "tool":
        yield ("activate", place)


def _base(level: Level) -> list[str]:
    """What the recipes take from the storage."""
    items = [item for recipe in level.recipes.values() for item in recipe.ingredients]
    return list(dict.fromkeys(item for item in items if item not in level.recipes))
