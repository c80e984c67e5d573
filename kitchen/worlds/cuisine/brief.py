"""What every seat knows beforehand: recipes, tools, timing and names of a level, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.orders import MAX_ORDERS
from kitchen.worlds.cuisine.timing import Timing, nodes_of

VERB_NAMES: Mapping[str, str] = {
    "goto": "Go to",
    "get": "Take",
    "put": "Put down",
    "activate": "Start",
    "noop": "Wait",
}


def level_brief(level: Level, timing: Timing) -> dict[str, Json]:
    """Level, dishes, recipes, tools, places and readable names; no seat knows more than another."""
    return {
        "level": level.code,
        "title": level.title,
        "interval": timing.interval,
        "max_orders": MAX_ORDERS,
        "dishes": list(level.dishes),
        "lifetimes": dict(timing.lifetimes),
        "recipes": {
            product: {"tool": recipe.tool, "ingredients": list(recipe.ingredients)}
            for product, recipe in level.recipes.items()
        },
        "base": _base(level),
        "tools": {
            tool.code: {"capacity": tool.capacity, "busy": tool.busy, "attended": tool.attended}
            for tool in level.places.values()
        },
        "locations": {place: tool.code for place, tool in level.places.items()},
        "names": {**_item_names(level), **_place_names(level), **VERB_NAMES},
        "uncookable": list(level.uncookable),
    }


def _base(level: Level) -> list[str]:
    used = {node for dish in level.dishes for node in nodes_of(dish, level.recipes)}
    return [item for item in level.stock.ingredients if item in used]


def _item_names(level: Level) -> dict[str, str]:
    return {**level.stock.ingredients, **{r.product: r.name for r in level.recipes.values()}}


def _place_names(level: Level) -> dict[str, str]:
    """Types and places by readable name: numbered from 1 where the kitchen has several of a type."""
    tools = {*level.kitchen, *(recipe.tool for recipe in level.recipes.values())}
    names = {code: tool.name for code, tool in level.stock.tools.items() if code in tools}
    several, seen = Counter(level.kitchen), Counter[str]()
    for place, tool in level.places.items():
        seen[tool.code] += 1
        names[place] = f"{tool.name} {seen[tool.code]}" if several[tool.code] > 1 else tool.name
    return names
