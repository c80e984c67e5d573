"""A level: one kitchen with the dishes that can be ordered in it, checked against the stock.

A level file::

    title = "Sushi"
    difficulty = "intermediate"          # may be left out
    kitchen = ["storage", "pot", "pot", "servingtable"]
    dishes = ["salmonSushi", "tunaSushi"]
    known_uncookable = ["frenchFries"]   # only where a dish has no tool, and that is meant

A dish whose tool the kitchen lacks is an error, unless `known_uncookable` names it: then playing the level
warns with UncookableDishWarning.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kitchen.worlds.cuisine.reading import Table, parse_table
from kitchen.worlds.cuisine.stock import Recipe, Stock, Tool
from kitchen.worlds.cuisine.timing import nodes_of

DIFFICULTIES: Mapping[str, str] = {
    "very_simple": "Very simple",
    "simple": "Simple",
    "intermediate": "Intermediate",
    "advanced": "Advanced",
}
"""The paper's four classes of levels, easiest first, with readable names."""

_KEYS = ("title", "difficulty", "kitchen", "dishes", "known_uncookable")


class UncookableDishWarning(UserWarning):
    """A level lets dishes be ordered that nobody can cook in its kitchen, and its file says so."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """All that the rules need to know; the same object is the same level."""

    code: str
    title: str
    difficulty: str | None
    """One of DIFFICULTIES, or None."""
    kitchen: tuple[str, ...]
    """Types of its places, in order."""
    dishes: tuple[str, ...]
    """What can be ordered; their order decides what the generator draws."""
    uncookable: tuple[str, ...]
    """Dishes whose tool is missing."""
    places: Mapping[str, Tool]
    """Place id (`pot0`) to its type, in the order of the kitchen."""
    serving_table: str
    """The id of the one serving table."""
    recipes: Mapping[str, Recipe]
    """Product to recipe, only those that lead to a dish of this level."""
    stock: Stock

    def warn(self) -> None:
        """Say so where a dish can never be cooked."""
        if self.uncookable:
            text = f"{self.code}: no tool for {', '.join(self.uncookable)}; such orders always fail"
            warnings.warn(text, UncookableDishWarning, stacklevel=3)


def parse_level(text: str, file: str, stock: Stock) -> Level:
    """A level from the text of a level file; its code is the stem of `file`."""
    return build_level(Path(file).stem, parse_table(text, file), stock)


def build_level(code: str, table: Table, stock: Stock) -> Level:
    """A level from its file; DataError for whatever cannot be played."""
    table.only(_KEYS)
    kitchen = _kitchen(table, stock)
    dishes = _dishes(table, stock)
    uncookable = _uncookable(table, dishes, kitchen, stock)
    places = number_places(kitchen, stock)
    return Level(
        code=code,
        title=table.text("title"),
        difficulty=_difficulty(table),
        kitchen=kitchen,
        dishes=dishes,
        uncookable=uncookable,
        places=places,
        serving_table=next(id for id, tool in places.items() if tool.role == "serving"),
        recipes=_leading_to(dishes, stock),
        stock=stock,
    )


def write_level(level: Level) -> str:
    """The level as the text of a level file; reading it gives an equal level."""
    lines = [f"title = {json.dumps(level.title, ensure_ascii=False)}"]
    lines += [f'difficulty = "{level.difficulty}"'] if level.difficulty else []
    lines += [f"kitchen = {_as_list(level.kitchen)}", f"dishes = {_as_list(level.dishes)}"]
    lines += [f"known_uncookable = {_as_list(level.uncookable)}"] if level.uncookable else []
    return "\n".join(lines) + "\n"


def number_places(kitchen: Iterable[str], stock: Stock) -> dict[str, Tool]:
    """Every place by its id: its type and a number that counts from 0 within the type."""
    places: dict[str, Tool] = {}
    seen: dict[str, int] = {}
    for kind in kitchen:
        number = seen[kind] = seen.get(kind, -1) + 1
        places[f"{kind}{number}"] = stock.tools[kind]
    return places


def tools_needed(dish: str, stock: Stock) -> tuple[str, ...]:
    """The types of tools that the recipe tree of a dish uses, each once."""
    products = (node for node in nodes_of(dish, stock.recipes) if node in stock.recipes)
    return tuple(dict.fromkeys(stock.recipes[product].tool for product in products))


def _as_list(values: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


def _kitchen(table: Table, stock: Stock) -> tuple[str, ...]:
    kitchen = table.texts("kitchen")
    for kind in kitchen:
        if kind not in stock.tools:
            raise table.error("kitchen", f"unknown tool {kind!r}")
    roles = [stock.tools[kind].role for kind in kitchen]
    for role in ("storage", "serving"):
        if roles.count(role) != 1:
            raise table.error(
                "kitchen", f"needs exactly one place of the role {role}, has {roles.count(role)}"
            )
    return kitchen


def _dishes(table: Table, stock: Stock) -> tuple[str, ...]:
    dishes = table.distinct("dishes")
    for dish in dishes:
        if dish not in stock.recipes:
            raise table.error("dishes", f"no recipe for {dish!r}")
    return dishes


def _difficulty(table: Table) -> str | None:
    if "difficulty" not in table.values:
        return None
    found = table.text("difficulty")
    if found not in DIFFICULTIES:
        raise table.error("difficulty", f"{found!r} is not one of {', '.join(DIFFICULTIES)}")
    return found


def _uncookable(table: Table, dishes: Iterable[str], kitchen: Iterable[str], stock: Stock) -> tuple[str, ...]:
    known = table.distinct("known_uncookable", [])
    present = set(kitchen)
    missing = {dish: [t for t in tools_needed(dish, stock) if t not in present] for dish in dishes}
    for dish, tools in missing.items():
        if tools and dish not in known:
            raise table.error("dishes", f"{dish!r} needs {', '.join(tools)}, which the kitchen lacks")
    for dish in known:
        if not missing.get(dish):
            raise table.error("known_uncookable", f"{dish!r} is not a dish of this level that lacks a tool")
    return tuple(dish for dish, tools in missing.items() if tools)


def _leading_to(dishes: Iterable[str], stock: Stock) -> dict[str, Recipe]:
    wanted = {node for dish in dishes for node in nodes_of(dish, stock.recipes)}
    return {product: recipe for product, recipe in stock.recipes.items() if product in wanted}
