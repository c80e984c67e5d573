"""Ingredients, tools, recipes and levels: read from TOML, checked, and turned into frozen dataclasses.

A directory of data holds `ingredients.toml`, `tools.toml`, `recipes.toml` and `levels/*.toml`;
`load_catalogue` takes any such directory. A level is added by adding a file. A wrong file is a DataError that
names the file, the key and the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter

from kitchen.contract.data_files import DataError, Names, Record, Source, Text, one_of, opened, said
from kitchen.worlds.cuisine.level import Level, open_level, parse_level
from kitchen.worlds.cuisine.stock import Recipe, Stock, Tool
from kitchen.worlds.cuisine.timing import work_of

DATA = Path(__file__).parent / "data"

COUNTERS = ("storage", "serving")
"""Roles of places that are no tools."""
CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class PlaceEntry(Record):
    """What stands in `tools.toml` of the storage or of the serving table."""

    name: Text
    role: Annotated[Text, one_of((*COUNTERS, "tool"))]


class ToolEntry(PlaceEntry):
    """What stands there of anything else."""

    capacity: Annotated[int, Field(ge=1), said("must be a whole number from 1 on")]
    busy: Annotated[int, Field(ge=0), said("must be a whole number from 0 on")]
    attended: bool = False
    always_open: bool = False


class RecipeEntry(Record):
    """What stands in `recipes.toml` of one product."""

    name: Text
    tool: Text
    ingredients: Names


_INGREDIENTS = TypeAdapter(dict[str, dict[str, Text]], config=ConfigDict(strict=True))
_TABLES = TypeAdapter(dict[str, dict[str, object]], config=ConfigDict(strict=True))
_PLACE, _TOOL = TypeAdapter(PlaceEntry), TypeAdapter(ToolEntry)
_RECIPES = TypeAdapter(dict[str, RecipeEntry], config=ConfigDict(strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """All that is known of one directory of data."""

    stock: Stock
    levels: Mapping[str, Level]
    """By code, in the order of their numbers."""

    def level(self, code: str) -> Level:
        """A level by its code; DataError if there is none."""
        try:
            return self.levels[code]
        except KeyError:
            raise DataError(f"level: {code!r} is not one of {', '.join(self.levels)}") from None

    def level_from_text(self, text: str, file: str) -> Level:
        """A level from the text of a level file that stands elsewhere; its code is the file's stem."""
        return parse_level(text, file, self.stock)


@cache
def shipped() -> Catalogue:
    """The data that come with the project, read once."""
    return load_catalogue(DATA)


def load_catalogue(directory: Path = DATA) -> Catalogue:
    """Read and check a directory of data; DataError for the first thing that is wrong."""
    directory = Path(directory)
    stock = load_stock(directory)
    files = sorted((directory / "levels").glob("*.toml"), key=_in_number_order)
    if not files:
        raise DataError(f"{directory / 'levels'}: holds no level")
    return Catalogue(stock, {path.stem: open_level(path, stock) for path in files})


def load_stock(directory: Path) -> Stock:
    """The ingredients, tools and recipes of a directory of data."""
    ingredients = _ingredients(directory / "ingredients.toml")
    tools = _tools(directory / "tools.toml")
    recipes = _recipes(directory / "recipes.toml", ingredients, tools)
    busy = {tool.code: tool.busy for tool in tools.values()}
    work = {product: work_of(product, recipes, busy) for product in recipes}
    return Stock(ingredients, tools, recipes, work)


def _in_number_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.stem)]


def _ingredients(path: Path) -> dict[str, str]:
    source, values = opened(path)
    ingredients: dict[str, str] = {}
    for group, names in source.read(_INGREDIENTS, values).items():
        for code, name in names.items():
            _check_new(source.at(group), code, name, ingredients)
            ingredients[code] = name
    if not ingredients:
        raise source.error("", "holds no ingredient")
    return ingredients


def _tools(path: Path) -> dict[str, Tool]:
    source, values = opened(path)
    tools: dict[str, Tool] = {}
    for code, table in source.read(_TABLES, values).items():
        tool = _tool(source, code, table)
        _check_new(source, code, tool.name, {each.code: each.name for each in tools.values()})
        if code[-1].isdigit():
            raise source.error(code, "must not end in a digit: places are numbered")
        tools[code] = tool
    for role in COUNTERS:
        if role not in {tool.role for tool in tools.values()}:
            raise source.error("", f"no place has the role {role!r}")
    return tools


def _tool(source: Source, code: str, table: Mapping[str, object]) -> Tool:
    if table.get("role") not in COUNTERS:
        return Tool(code, **source.at(code).read(_TOOL, table).model_dump())
    told = source.at(code).read(_PLACE, table)
    is_open = told.role == "storage"
    return Tool(code, told.name, told.role, capacity=None, busy=0, attended=False, always_open=is_open)


def _recipes(path: Path, ingredients: Mapping[str, str], tools: Mapping[str, Tool]) -> dict[str, Recipe]:
    source, values = opened(path)
    names = {**ingredients, **{tool.code: tool.name for tool in tools.values()}}
    recipes: dict[str, Recipe] = {}
    for product, told in source.read(_RECIPES, values).items():
        _check_new(source, product, told.name, names)
        names[product] = told.name
        _check_made(source.at(product), told, tools, {*ingredients, *values})
        recipes[product] = Recipe(product, **told.model_dump())
        _check_only_one_way(source.at(product), recipes.values())
    _check_cycles(source, recipes)
    return recipes


def _check_made(source: Source, told: RecipeEntry, tools: Mapping[str, Tool], items: set[str]) -> None:
    """It is made in a tool that is there, of what is there and fits into it."""
    capacity = tools[told.tool].capacity if told.tool in tools else None
    if capacity is None:
        raise source.error("tool", f"unknown tool {told.tool!r}")
    for item in told.ingredients:
        if item not in items:
            raise source.error("ingredients", f"unknown ingredient {item!r}")
    if len(told.ingredients) > capacity:
        reason = f"{len(told.ingredients)} do not fit into {told.tool} ({capacity})"
        raise source.error("ingredients", reason)


def _check_new(source: Source, code: str, name: str, names: Mapping[str, str]) -> None:
    if not CODE.fullmatch(code):
        raise source.error(code, "a code is made of letters, digits and _, a letter first")
    if code in names:
        raise source.error(code, "this code is used twice")
    if name in names.values():
        raise source.error(code, f"the name {name!r} is used twice")


def _check_only_one_way(source: Source, recipes: Iterable[Recipe]) -> None:
    *others, last = recipes
    for other in others:
        if other.tool == last.tool and set(other.ingredients) == set(last.ingredients):
            raise source.error("ingredients", f"{other.product} is made of the same in the same tool")


def _check_cycles(source: Source, recipes: Mapping[str, Recipe]) -> None:
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
