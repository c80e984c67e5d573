"""Which dish a demonstration cooks, and in which kitchen: none of the level's, with the tools it needs."""

from __future__ import annotations

from dataclasses import dataclass

from kitchen.worlds.cuisine.catalogue import shipped
from kitchen.worlds.cuisine.level import Level, tools_needed
from kitchen.worlds.cuisine.stock import Stock
from kitchen.worlds.cuisine.timing import nodes_of

CODE = "demonstration"
Rank = tuple[bool, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """A dish and a kitchen that has just what it needs."""

    dish: str
    level: Level


def choices(level: Level, agents: int) -> list[Choice]:
    """All dishes that a demonstration for this level can show, the best first."""
    stock = shipped().stock
    others = [product for product in stock.recipes if product not in level.recipes]
    ranked = sorted(others, key=lambda dish: _rank(dish, level, agents, stock))
    return [Choice(dish, _kitchen_for(dish, level, stock)) for dish in ranked]


def _rank(dish: str, level: Level, agents: int, stock: Stock) -> Rank:
    """Smaller is better: a dish that guests would order, with nothing of this level's menu in it, cooked with
    this kitchen's tools, many of them; about as many ingredients as agents; little work."""
    nodes, tools = nodes_of(dish, stock.recipes), tools_needed(dish, stock)
    leaves = [node for node in nodes if node not in stock.recipes]
    return (
        any(dish in recipe.ingredients for recipe in stock.recipes.values()),
        sum(node in level.recipes for node in nodes),
        sum(tool not in level.kitchen for tool in tools),
        -len(tools),
        abs(len(leaves) - max(agents, 2)),
        stock.work[dish],
    )


def _kitchen_for(dish: str, level: Level, stock: Stock) -> Level:
    """The tools that the dish needs, as many of each as the level has."""
    ends = {tool.role: tool.code for tool in reversed(list(stock.tools.values()))}
    tools = [
        tool for tool in tools_needed(dish, stock) for _ in range(min(max(level.kitchen.count(tool), 1), 2))
    ]
    kitchen = ", ".join(f'"{each}"' for each in (ends["storage"], *tools, ends["serving"]))
    text = f'title = "Demonstration"\nkitchen = [{kitchen}]\ndishes = ["{dish}"]\n'
    return shipped().level_from_text(text, f"{CODE}.toml")
