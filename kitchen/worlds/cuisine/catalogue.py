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

from kitchen.worlds.cuisine.level import Level, build_level, parse_level
from kitchen.worlds.cuisine.reading import DataError, Table, read_table
from kitchen.worlds.cuisine.stock import Recipe, Stock, Tool
from kitchen.worlds.cuisine.timing import work_of

DATA = Path(__file__).parent / "data"

_TOOL_KEYS = ("name", "role", "capacity", "busy", "attended", "always_open")
_RECIPE_KEYS = ("name", "tool", "ingredients")


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

    def level_from_file(self, path: Path) -> Level:
        """A level file from any directory, over the recipes and tools of this catalogue."""
        return build_level(Path(path).stem, read_table(Path(path)), self.stock)


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
    return Catalogue(stock, {path.stem: build_level(path.stem, read_table(path), stock) for path in files})


def load_stock(directory: Path) -> Stock:
    """The ingredients, tools and recipes of a directory of data."""
    ingredients = _ingredients(read_table(directory / "ingredients.toml"))
    tools = _tools(read_table(directory / "tools.toml"))
    table = read_table(directory / "recipes.toml")
    recipes = _recipes(table, ingredients, tools)
    _check_cycles(table, recipes)
    busy = {tool.code: tool.busy for tool in tools.values()}
    work = {product: work_of(product, recipes, busy) for product in recipes}
    return Stock(ingredients, tools, recipes, work)


def _in_number_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", path.stem)]


def _ingredients(file: Table) -> dict[str, str]:
    found: dict[str, str] = {}
    for _, group in file.tables():
        for code in group.values:
            _check_new(group, code, group.text(code), found)
            found[code] = group.text(code)
    if not found:
        raise file.error("", "holds no ingredient")
    return found


def _tools(file: Table) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for code, table in file.tables():
        _check_new(file, code, table.text("name"), {each.code: each.name for each in found.values()})
        if code[-1].isdigit():
            raise file.error(code, "must not end in a digit: places are numbered")
        found[code] = _tool(code, table)
    for role in ("storage", "serving"):
        if role not in {tool.role for tool in found.values()}:
            raise file.error("", f"no place has the role {role!r}")
    return found


def _tool(code: str, table: Table) -> Tool:
    table.only(_TOOL_KEYS)
    name, role = table.text("name"), table.text("role")
    if role in ("storage", "serving"):
        table.only(("name", "role"))
        return Tool(code, name, role, capacity=None, busy=0, attended=False, always_open=role == "storage")
    if role != "tool":
        raise table.error("role", f"{role!r} is not one of storage, serving, tool")
    return Tool(
        code,
        name,
        role,
        capacity=table.whole("capacity", 1),
        busy=table.whole("busy", 0),
        attended=table.truth("attended", False),
        always_open=table.truth("always_open", False),
    )


def _recipes(file: Table, ingredients: Mapping[str, str], tools: Mapping[str, Tool]) -> dict[str, Recipe]:
    names = {**ingredients, **{tool.code: tool.name for tool in tools.values()}}
    found: dict[str, Recipe] = {}
    for product, table in file.tables():
        table.only(_RECIPE_KEYS)
        _check_new(file, product, table.text("name"), names)
        names[product] = table.text("name")
        found[product] = _recipe(product, table, tools, {*ingredients, *file.values})
        _check_only_one_way(table, found.values())
    return found


def _recipe(product: str, table: Table, tools: Mapping[str, Tool], items: set[str]) -> Recipe:
    tool, ingredients = table.text("tool"), table.distinct("ingredients")
    if tool not in tools or tools[tool].capacity is None:
        raise table.error("tool", f"unknown tool {tool!r}")
    for item in ingredients:
        if item not in items:
            raise table.error("ingredients", f"unknown ingredient {item!r}")
    if len(ingredients) > (tools[tool].capacity or 0):
        raise table.error(
            "ingredients", f"{len(ingredients)} do not fit into {tool} ({tools[tool].capacity})"
        )
    return Recipe(product, table.text("name"), tool, ingredients)


def _check_new(table: Table, code: str, name: str, names: Mapping[str, str]) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", code):
        raise table.error(code, "a code is made of letters, digits and _, a letter first")
    if code in names:
        raise table.error(code, "this code is used twice")
    if name in names.values():
        raise table.error(code, f"the name {name!r} is used twice")


def _check_only_one_way(table: Table, recipes: Iterable[Recipe]) -> None:
    *others, last = recipes
    for other in others:
        if other.tool == last.tool and set(other.ingredients) == set(last.ingredients):
            raise table.error("ingredients", f"{other.product} is made of the same in the same tool")


def _check_cycles(file: Table, recipes: Mapping[str, Recipe]) -> None:
    safe: set[str] = set()

    def visit(item: str, way: tuple[str, ...]) -> None:
        if item in way:
            raise file.error(item, f"is made of itself: {' <- '.join((*way[way.index(item) :], item))}")
        if item in safe or item not in recipes:
            return
        for ingredient in recipes[item].ingredients:
            visit(ingredient, (*way, item))
        safe.add(item)

    for product in recipes:
        visit(product, ())


__all__ = ["DATA", "Catalogue", "DataError", "load_catalogue", "load_stock", "shipped"]
