"""Generate a random level of a given difficulty from a seed.

All dishes of the level can be cooked in its kitchen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.cuisine.level import (
    DIFFICULTIES,
    Level,
    Stock,
    parse_level,
    recipe_depth,
    tools_needed,
)


@dataclass(frozen=True, slots=True)
class LevelClass:
    """The smallest and largest numbers of tool types and dishes in a difficulty class, and the depth of
    its hardest dish."""

    tools: tuple[int, int]
    """Types of tools in the kitchen."""
    depth: int
    """Activations on the longest path to the hardest dish."""
    dishes: tuple[int, int]
    """Dishes that can be ordered."""


LEVEL_CLASSES: Mapping[str, LevelClass] = {
    "very_simple": LevelClass(tools=(1, 1), depth=1, dishes=(1, 3)),
    "simple": LevelClass(tools=(2, 2), depth=2, dishes=(2, 4)),
    "intermediate": LevelClass(tools=(3, 3), depth=2, dishes=(2, 4)),
    "advanced": LevelClass(tools=(4, 5), depth=3, dishes=(3, 5)),
}


@lru_cache(maxsize=256)
def generate_level(seed: int, difficulty: str, stock: Stock) -> Level:
    """Return the level for this seed and difficulty; the same arguments give the same level.

    Raises SettingsError for an unknown difficulty, or if the recipes in `stock` allow no level of it.
    """
    return parse_level(level_text(seed, difficulty, stock), f"{difficulty}_{seed}.toml", stock)


def level_text(seed: int, difficulty: str, stock: Stock) -> str:
    """Return the generated level as the text of a level file.

    Raises SettingsError for an unknown difficulty, or if the recipes in `stock` allow no level of it.
    """
    if difficulty not in LEVEL_CLASSES:
        raise SettingsError(f"difficulty: {difficulty!r} is not one of {', '.join(LEVEL_CLASSES)}")
    chance = Random(f"{difficulty} {seed}")  # noqa: S311 - a game, and the seed is to be repeatable
    dishes = _choose_dishes(chance, LEVEL_CLASSES[difficulty], stock)
    kitchen = _furnish(chance, dishes, stock)
    title = f"{DIFFICULTIES[difficulty]} kitchen {seed}"
    return (
        f'title = "{title}"\ndifficulty = "{difficulty}"\n'
        f"kitchen = {_as_list(kitchen)}\ndishes = {_as_list(dishes)}\n"
    )


def _choose_dishes(chance: Random, level_class: LevelClass, stock: Stock) -> list[str]:
    """Return a random choice of dishes for this class of level. Together they need as many types of tools as
    the class demands. At least one has the recipe depth of the class."""
    wanted = chance.randint(*level_class.dishes)
    depth = {dish: recipe_depth(dish, stock.recipes) for dish in _dishes(stock)}
    deepest = [dish for dish in depth if depth[dish] == level_class.depth]
    firsts = [dish for dish in deepest if len(tools_needed(dish, stock)) <= level_class.tools[1]]
    chance.shuffle(firsts)
    for first in firsts:
        others = [dish for dish in depth if dish != first and depth[dish] <= level_class.depth]
        chance.shuffle(others)
        if chosen := _extend([first], others, wanted, level_class, stock):
            return chosen
    raise SettingsError("difficulty: these recipes make no level of that class")


def _dishes(stock: Stock) -> list[str]:
    """Return the products that guests can order: those that are an ingredient of no other product."""
    parts = {item for recipe in stock.recipes.values() for item in recipe.ingredients}
    return [product for product in stock.recipes if product not in parts]


def _extend(
    chosen: list[str], others: list[str], wanted: int, level_class: LevelClass, stock: Stock
) -> list[str]:
    """Return `chosen` with dishes from `others` added while their tools fit the class of level, up to
    `wanted` dishes. Return an empty list if the result does not fit the class."""
    for dish in others:
        if len(chosen) < wanted and len(_tools([*chosen, dish], stock)) <= level_class.tools[1]:
            chosen = [*chosen, dish]
    enough = len(chosen) >= level_class.dishes[0] and len(_tools(chosen, stock)) >= level_class.tools[0]
    return chosen if enough else []


def _tools(dishes: list[str], stock: Stock) -> list[str]:
    needed = {tool for dish in dishes for tool in tools_needed(dish, stock)}
    return [code for code in stock.tools if code in needed]


def _furnish(chance: Random, dishes: list[str], stock: Stock) -> list[str]:
    """Return the places of the kitchen: the storage, one or two of each tool that the dishes need, and the
    serving table."""
    ends = {tool.role: tool.code for tool in reversed(list(stock.tools.values()))}
    tools = [tool for tool in _tools(dishes, stock) for _ in range(chance.randint(1, 2))]
    return [ends["storage"], *tools, ends["serving"]]


def _as_list(values: list[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"
