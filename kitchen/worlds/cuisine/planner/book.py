"""What never changes in an episode, read from a brief once: recipes, tools, work figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from kitchen.contract.world import Json

MOVE = 4
"""Commands to bring one thing from one place to another: goto, get, goto, put."""


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How one product is made. `lag`: steps from activating until it can be taken; `holds_agent`: steps for
    which it keeps the agent; `work`: commands to make it from nothing and bring it where it is needed;
    `span`: the same with all the help in the world."""

    product: str
    tool: str
    parts: tuple[str, ...]
    lag: int
    holds_agent: int
    work: int
    span: int


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A brief in the form in which the planner computes. Places are numbers: indices of `places`."""

    places: tuple[str, ...]
    number: dict[str, int]
    kinds: tuple[str, ...]
    tools: dict[str, tuple[int, ...]]
    storage: int
    table: int
    base: frozenset[str]
    recipes: dict[str, Recipe]
    dishes: tuple[str, ...]
    chance: float
    lifetimes: dict[str, int]
    interval: int
    max_steps: int
    at_tool: dict[str, tuple[Recipe, ...]]


def read_book(brief: Mapping[str, Json]) -> Book:
    """The book of a brief (`CuisineWorld.brief`); equal briefs share one book."""
    return _read(json.dumps(brief))


@lru_cache(maxsize=64)
def _read(text: str) -> Book:
    brief = json.loads(text)
    places = tuple(brief["locations"])
    kinds = tuple(brief["locations"][place] for place in places)
    recipes: dict[str, Recipe] = {}
    for product in brief["recipes"]:
        _add_recipe(recipes, product, brief, frozenset(kinds))
    return Book(
        places=places,
        number={place: index for index, place in enumerate(places)},
        kinds=kinds,
        tools={kind: tuple(i for i, k in enumerate(kinds) if k == kind) for kind in kinds},
        storage=kinds.index("storage"),
        table=kinds.index("servingtable"),
        base=frozenset(brief["base"]),
        recipes=recipes,
        dishes=tuple(d for d in brief["dishes"] if d in recipes and d not in brief["uncookable"]),
        chance=1.0 / len(brief["dishes"]),
        lifetimes=dict(brief["lifetimes"]),
        interval=brief["interval"],
        max_steps=brief["max_steps"],
        at_tool={kind: tuple(r for r in recipes.values() if r.tool == kind) for kind in kinds},
    )


def _add_recipe(
    recipes: dict[str, Recipe], product: str, brief: Mapping[str, Json], kinds: frozenset[str]
) -> Recipe | None:
    """Add a product and all below it; None where a tool for it is not in this kitchen."""
    if product in recipes:
        return recipes[product]
    entry = brief["recipes"][product]
    made = [part for part in entry["ingredients"] if part in brief["recipes"]]
    below = [_add_recipe(recipes, part, brief, kinds) for part in made]
    if entry["tool"] not in kinds or None in below:
        return None
    recipes[product] = _recipe(product, entry, [r for r in below if r], brief["tools"][entry["tool"]])
    return recipes[product]


def _recipe(product: str, entry: Json, below: list[Recipe], tool: Mapping[str, Json]) -> Recipe:
    span = {recipe.product: recipe.span for recipe in below}
    parts = sorted(entry["ingredients"], key=lambda part: (-span.get(part, 0), part))
    fetched = len(parts) - len(below)
    busy, attended = int(tool["busy"]), bool(tool["attended"])
    return Recipe(
        product=product,
        tool=entry["tool"],
        parts=tuple(parts),
        lag=busy,
        holds_agent=busy if attended else 0,
        work=MOVE * fetched + sum(r.work for r in below) + MOVE,
        span=max([MOVE, *span.values()]) + 1 + busy + 3,
    )
