"""Read and check the TOML files that define ingredients, tools, recipes and levels.

A data folder holds `ingredients.toml`, `tools.toml`, `recipes.toml` and `levels/*.toml`. You add a level by
adding a file. A wrong file raises a DataError that names file, key and reason.

A level file::

    title = "Sushi"
    difficulty = "intermediate"          # may be left out
    kitchen = ["storage", "pot", "pot", "servingtable"]
    dishes = ["salmonSushi", "tunaSushi"]
    known_uncookable = ["frenchFries"]   # only if a dish has no tool on purpose

If the kitchen lacks a tool of a dish, reading raises an error, unless `known_uncookable` names the dish.
Playing such a level gives an UncookableDishWarning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from kitchen.contract.data_files import (
    DataError,
    DataSource,
    Names,
    Record,
    Text,
    Texts,
    error_text,
    one_of,
    parse_toml,
    read_toml,
)
from kitchen.contract.world import Json


@dataclass(frozen=True, slots=True)
class Tool:
    """A type of place: the storage, the serving table, or a tool for cooking."""

    code: str
    name: str
    role: str
    """`storage`, `serving` or `tool`."""
    capacity: int | None
    """Largest number of items it holds; None if there is no limit."""
    busy: int
    """Number of steps that it is busy after activation."""
    attended: bool
    """True if the agent that activates it is busy for the same time."""
    always_open: bool
    """True if its contents can be taken at any time."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe: its product, the type of tool that makes it, and its ingredients, all different."""

    product: str
    name: str
    tool: str
    ingredients: tuple[str, ...]


STEPS_PER_NODE = 3
"""Part of the work W of a dish for each item of its recipe tree."""


def recipe_items(product: str, recipes: Mapping[str, Recipe]) -> tuple[str, ...]:
    """Return every distinct item in the product's recipe tree: the product first, then all ingredients and
    their ingredients."""
    nodes: dict[str, None] = {product: None}
    if product in recipes:
        for ingredient in recipes[product].ingredients:
            nodes.update(dict.fromkeys(recipe_items(ingredient, recipes)))
    return tuple(nodes)


def recipe_depth(product: str, recipes: Mapping[str, Recipe]) -> int:
    """Return the largest number of activations, one after another, that lead from a base ingredient to the
    product.

    Return 0 for a base ingredient.
    """
    if product not in recipes:
        return 0
    return 1 + max(recipe_depth(ingredient, recipes) for ingredient in recipes[product].ingredients)


def tool_waiting(product: str, recipes: Mapping[str, Recipe], busy: Mapping[str, int]) -> int:
    """Return the number of steps that tools need for everything in a product's recipe tree; 0 for a base
    ingredient.

    `busy` has the busy steps of each tool type. A tool that is busy for b steps adds b - 1. A product that is
    needed twice counts twice.
    """
    if product not in recipes:
        return 0
    recipe = recipes[product]
    own = busy[recipe.tool] - 1 if busy[recipe.tool] > 1 else 0
    return own + sum(tool_waiting(ingredient, recipes, busy) for ingredient in recipe.ingredients)


def work_of_product(product: str, recipes: Mapping[str, Recipe], busy: Mapping[str, int]) -> int:
    """Return the work W of a product: `tool_waiting` plus 3 for each distinct item of its recipe tree.

    `busy` has the busy steps of each tool type.
    """
    return tool_waiting(product, recipes, busy) + STEPS_PER_NODE * len(recipe_items(product, recipes))


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """All ingredients, tools and recipes of a data folder, by code."""

    ingredients: Mapping[str, str]
    """Base ingredients with their readable names, in the order of the file."""
    tools: Mapping[str, Tool]
    recipes: Mapping[str, Recipe]
    work: Mapping[str, int]
    """W of every product (see Timing in the package docstring)."""

    def has(self, item: str) -> bool:
        """Return whether this is the code of an ingredient or a product."""
        return item in self.ingredients or item in self.recipes


DIFFICULTIES: Mapping[str, str] = {
    "very_simple": "Very simple",
    "simple": "Simple",
    "intermediate": "Intermediate",
    "advanced": "Advanced",
}
"""The paper's four difficulty classes of levels, easiest first, with readable names."""


class LevelFile(Record):
    """The fields of a level file, as a Pydantic model."""

    title: Text
    difficulty: Annotated[Text, one_of(DIFFICULTIES)] | None = None
    kitchen: Texts
    dishes: Names
    known_uncookable: Names = ()


_FILE = TypeAdapter(LevelFile)


class UncookableDishWarning(UserWarning):
    """Warns that some dishes of a level can be ordered but never cooked. Such a level is made on purpose."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Everything that the rules need to know about a level. Two levels are equal only if they are the same
    object."""

    code: str
    title: str
    difficulty: str | None
    """One of DIFFICULTIES, or None."""
    kitchen: tuple[str, ...]
    """Types of its places, in order."""
    dishes: tuple[str, ...]
    """Dishes that can be ordered. Their order determines what the generator draws."""
    uncookable: tuple[str, ...]
    """Dishes whose tool is missing."""
    places: Mapping[str, Tool]
    """Place id (`pot0`) to its type, in the order of the kitchen."""
    serving_table: str
    """The id of the only serving table."""
    recipes: Mapping[str, Recipe]
    """Product to recipe, only those that lead to a dish of this level."""
    stock: Stock

    def warn(self) -> None:
        """Issue an UncookableDishWarning if the kitchen lacks a tool for some dish."""
        if self.uncookable:
            text = f"{self.code}: no tool for {', '.join(self.uncookable)}; such orders always fail"
            warnings.warn(text, UncookableDishWarning, stacklevel=3)


def parse_level(text: str, file: str, stock: Stock) -> Level:
    """Return the level that the text of a level file describes. Raises DataError if the level is faulty.

    `file` is the name of the file. The level's code is this name without its extension.
    """
    return _level(Path(file).stem, *parse_toml(text, file), stock)


def _level(code: str, source: DataSource, values: Mapping[str, Json], stock: Stock) -> Level:
    entry = source.read(_FILE, values)
    _check_kitchen(source, entry, stock)
    for dish in entry.dishes:
        if dish not in stock.recipes:
            raise source.error("dishes", f"no recipe for {dish!r}")
    places = numbered_places(entry.kitchen, stock)
    wanted = {node for dish in entry.dishes for node in recipe_items(dish, stock.recipes)}
    return Level(
        code=code,
        title=entry.title,
        difficulty=entry.difficulty,
        kitchen=entry.kitchen,
        dishes=entry.dishes,
        uncookable=_uncookable(source, entry, stock),
        places=places,
        serving_table=next(id for id, tool in places.items() if tool.role == "serving"),
        recipes={product: recipe for product, recipe in stock.recipes.items() if product in wanted},
        stock=stock,
    )


def numbered_places(kitchen: Iterable[str], stock: Stock) -> dict[str, Tool]:
    """Return the type of each place of a kitchen, by id. Ids are the type and a number from 0, such as
    `pot0` and `pot1`."""
    places: dict[str, Tool] = {}
    seen: dict[str, int] = {}
    for kind in kitchen:
        number = seen[kind] = seen.get(kind, -1) + 1
        places[f"{kind}{number}"] = stock.tools[kind]
    return places


def tools_needed(dish: str, stock: Stock) -> tuple[str, ...]:
    """Return the distinct types of tools that are needed to make a dish and its ingredients."""
    products = (node for node in recipe_items(dish, stock.recipes) if node in stock.recipes)
    return tuple(dict.fromkeys(stock.recipes[product].tool for product in products))


def _check_kitchen(source: DataSource, entry: LevelFile, stock: Stock) -> None:
    """Raise an error if a place of the kitchen is unknown, or if there is not exactly one storage and one
    serving table."""
    for kind in entry.kitchen:
        if kind not in stock.tools:
            raise source.error("kitchen", f"unknown tool {kind!r}")
    roles = [stock.tools[kind].role for kind in entry.kitchen]
    for role in ("storage", "serving"):
        if roles.count(role) != 1:
            reason = f"needs exactly one place of the role {role}, has {roles.count(role)}"
            raise source.error("kitchen", reason)


def _uncookable(source: DataSource, entry: LevelFile, stock: Stock) -> tuple[str, ...]:
    """Return the dishes for which the kitchen lacks a tool. Raise an error if the file lists other dishes
    than these."""
    needed = {dish: tools_needed(dish, stock) for dish in entry.dishes}
    missing = {dish: [t for t in tools if t not in entry.kitchen] for dish, tools in needed.items()}
    for dish, tools in missing.items():
        if tools and dish not in entry.known_uncookable:
            raise source.error("dishes", f"{dish!r} needs {', '.join(tools)}, which the kitchen lacks")
    for dish in entry.known_uncookable:
        if not missing.get(dish):
            raise source.error("known_uncookable", f"{dish!r} is not a dish of this level that lacks a tool")
    return tuple(dish for dish, tools in missing.items() if tools)


DATA_FOLDER = Path(__file__).parent / "data"

COUNTER_PLACES = ("storage", "serving")
"""Roles of places that are no tools."""
CODE_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class PlaceEntry(Record):
    """The fields of the storage or the serving table in `tools.toml`."""

    name: Text
    role: Annotated[Text, one_of((*COUNTER_PLACES, "tool"))]


class ToolEntry(PlaceEntry):
    """The fields of a tool in `tools.toml`."""

    capacity: Annotated[int, Field(ge=1), error_text("must be a whole number from 1 on")]
    busy: Annotated[int, Field(ge=0), error_text("must be a whole number from 0 on")]
    attended: bool = False
    always_open: bool = False


class RecipeEntry(Record):
    """The fields of one product in `recipes.toml`."""

    name: Text
    tool: Text
    ingredients: Names


_INGREDIENTS = TypeAdapter(dict[str, dict[str, Text]], config=ConfigDict(strict=True))
_TABLES = TypeAdapter(dict[str, dict[str, object]], config=ConfigDict(strict=True))
_PLACE, _TOOL = TypeAdapter(PlaceEntry), TypeAdapter(ToolEntry)
_RECIPES = TypeAdapter(dict[str, RecipeEntry], config=ConfigDict(strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """All levels of one data folder, and the ingredients, tools and recipes they use."""

    stock: Stock
    levels: Mapping[str, Level]
    """Levels by code, in the order of their numbers."""

    def level(self, code: str) -> Level:
        """Return the level with this code. Raises DataError if there is none."""
        try:
            return self.levels[code]
        except KeyError:
            raise DataError(f"level: {code!r} is not one of {', '.join(self.levels)}") from None


@cache
def shipped_catalogue() -> Catalogue:
    """Return the levels, recipes, tools and ingredients that come with the project, read once."""
    return load_catalogue(DATA_FOLDER)


def load_catalogue(directory: Path = DATA_FOLDER) -> Catalogue:
    """Read a data folder and return its levels, recipes, tools and ingredients. Raises DataError at the
    first fault."""
    directory = Path(directory)
    stock = load_stock(directory)
    files = sorted((directory / "levels").glob("*.toml"), key=_in_number_order)
    if not files:
        raise DataError(f"{directory / 'levels'}: holds no level")
    return Catalogue(stock, {path.stem: _level(path.stem, *read_toml(path), stock) for path in files})


def load_stock(directory: Path) -> Stock:
    """Return the ingredients, tools and recipes of a data folder. Raises DataError at the first fault."""
    ingredients = _ingredients(directory / "ingredients.toml")
    tools = _tools(directory / "tools.toml")
    recipes = _recipes(directory / "recipes.toml", ingredients, tools)
    busy = {tool.code: tool.busy for tool in tools.values()}
    work = {product: work_of_product(product, recipes, busy) for product in recipes}
    return Stock(ingredients, tools, recipes, work)


def _in_number_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.stem)]


def _ingredients(path: Path) -> dict[str, str]:
    source, values = read_toml(path)
    ingredients: dict[str, str] = {}
    for group, names in source.read(_INGREDIENTS, values).items():
        for code, name in names.items():
            _check_new(source.at(group), code, name, ingredients)
            ingredients[code] = name
    if not ingredients:
        raise source.error("", "holds no ingredient")
    return ingredients


def _tools(path: Path) -> dict[str, Tool]:
    source, values = read_toml(path)
    tools: dict[str, Tool] = {}
    for code, table in source.read(_TABLES, values).items():
        tool = _tool(source, code, table)
        _check_new(source, code, tool.name, {each.code: each.name for each in tools.values()})
        if code[-1].isdigit():
            raise source.error(code, "must not end in a digit: places are numbered")
        tools[code] = tool
    for role in COUNTER_PLACES:
        if role not in {tool.role for tool in tools.values()}:
            raise source.error("", f"no place has the role {role!r}")
    return tools


def _tool(source: DataSource, code: str, table: Mapping[str, object]) -> Tool:
    if table.get("role") not in COUNTER_PLACES:
        return Tool(code, **source.at(code).read(_TOOL, table).model_dump())
    entry = source.at(code).read(_PLACE, table)
    is_open = entry.role == "storage"
    return Tool(code, entry.name, entry.role, capacity=None, busy=0, attended=False, always_open=is_open)


def _recipes(path: Path, ingredients: Mapping[str, str], tools: Mapping[str, Tool]) -> dict[str, Recipe]:
    source, values = read_toml(path)
    names = {**ingredients, **{tool.code: tool.name for tool in tools.values()}}
    recipes: dict[str, Recipe] = {}
    for product, entry in source.read(_RECIPES, values).items():
        _check_new(source, product, entry.name, names)
        names[product] = entry.name
        _check_made(source.at(product), entry, tools, {*ingredients, *values})
        recipes[product] = Recipe(product, **entry.model_dump())
        _check_only_one_way(source.at(product), recipes.values())
    _check_cycles(source, recipes)
    return recipes


def _check_made(source: DataSource, entry: RecipeEntry, tools: Mapping[str, Tool], items: set[str]) -> None:
    """Raise an error if the product's tool or an ingredient does not exist, or if the ingredients do not fit
    into the tool."""
    capacity = tools[entry.tool].capacity if entry.tool in tools else None
    if capacity is None:
        raise source.error("tool", f"unknown tool {entry.tool!r}")
    for item in entry.ingredients:
        if item not in items:
            raise source.error("ingredients", f"unknown ingredient {item!r}")
    if len(entry.ingredients) > capacity:
        reason = f"{len(entry.ingredients)} do not fit into {entry.tool} ({capacity})"
        raise source.error("ingredients", reason)


def _check_new(source: DataSource, code: str, name: str, names: Mapping[str, str]) -> None:
    if not CODE_PATTERN.fullmatch(code):
        raise source.error(code, "a code is made of letters, digits and _, a letter first")
    if code in names:
        raise source.error(code, "this code is used twice")
    if name in names.values():
        raise source.error(code, f"the name {name!r} is used twice")


def _check_only_one_way(source: DataSource, recipes: Iterable[Recipe]) -> None:
    *others, last = recipes
    for other in others:
        if other.tool == last.tool and set(other.ingredients) == set(last.ingredients):
            raise source.error("ingredients", f"{other.product} is made of the same in the same tool")


def _check_cycles(source: DataSource, recipes: Mapping[str, Recipe]) -> None:
    safe: set[str] = set()

    def visit(item: str, way: tuple[str, ...]) -> None:
        if item in way:
            raise source.error(item, f"is made of itself: {' <- '.join((*way[way.index(item) :], item))}")
        if item in safe or item not in recipes:
            return
        for ingredient in recipes[item].ingredients:
            visit(ingredient, (*way, item))
        safe.add(item)

    for product in recipes:
        visit(product, ())
