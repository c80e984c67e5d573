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

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import TypeAdapter

from kitchen.contract.data_files import Names, Record, Source, Text, Texts, one_of, opened, parsed
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.stock import Recipe, Stock, Tool
from kitchen.worlds.cuisine.timing import nodes_of

DIFFICULTIES: Mapping[str, str] = {
    "very_simple": "Very simple",
    "simple": "Simple",
    "intermediate": "Intermediate",
    "advanced": "Advanced",
}
"""The paper's four classes of levels, easiest first, with readable names."""


class LevelFile(Record):
    """What stands in a level file."""

    title: Text
    difficulty: Annotated[Text, one_of(DIFFICULTIES)] | None = None
    kitchen: Texts
    dishes: Names
    known_uncookable: Names = ()


_FILE = TypeAdapter(LevelFile)


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
    """A level from the text of a level file; its code is the stem of `file`. DataError for whatever cannot be
    played."""
    return _level(Path(file).stem, *parsed(text, file), stock)


def open_level(path: Path, stock: Stock) -> Level:
    """Likewise from a level file."""
    return _level(path.stem, *opened(path), stock)


def _level(code: str, source: Source, values: Mapping[str, Json], stock: Stock) -> Level:
    told = source.read(_FILE, values)
    _check_kitchen(source, told, stock)
    for dish in told.dishes:
        if dish not in stock.recipes:
            raise source.error("dishes", f"no recipe for {dish!r}")
    places = number_places(told.kitchen, stock)
    return Level(
        code=code,
        title=told.title,
        difficulty=told.difficulty,
        kitchen=told.kitchen,
        dishes=told.dishes,
        uncookable=_uncookable(source, told, stock),
        places=places,
        serving_table=next(id for id, tool in places.items() if tool.role == "serving"),
        recipes=_leading_to(told.dishes, stock),
        stock=stock,
    )


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


def _check_kitchen(source: Source, told: LevelFile, stock: Stock) -> None:
    """Every place is known, one is the storage and one the serving table."""
    for kind in told.kitchen:
        if kind not in stock.tools:
            raise source.error("kitchen", f"unknown tool {kind!r}")
    roles = [stock.tools[kind].role for kind in told.kitchen]
    for role in ("storage", "serving"):
        if roles.count(role) != 1:
            raise source.error(
                "kitchen", f"needs exactly one place of the role {role}, has {roles.count(role)}"
            )


def _uncookable(source: Source, told: LevelFile, stock: Stock) -> tuple[str, ...]:
    """The dishes that lack a tool; the file says of just these that it is meant."""
    missing = {dish: [t for t in tools_needed(dish, stock) if t not in told.kitchen] for dish in told.dishes}
    for dish, tools in missing.items():
        if tools and dish not in told.known_uncookable:
            raise source.error("dishes", f"{dish!r} needs {', '.join(tools)}, which the kitchen lacks")
    for dish in told.known_uncookable:
        if not missing.get(dish):
            raise source.error("known_uncookable", f"{dish!r} is not a dish of this level that lacks a tool")
    return tuple(dish for dish, tools in missing.items() if tools)


def _leading_to(dishes: Iterable[str], stock: Stock) -> dict[str, Recipe]:
    wanted = {node for dish in dishes for node in nodes_of(dish, stock.recipes)}
    return {product: recipe for product, recipe in stock.recipes.items() if product in wanted}
