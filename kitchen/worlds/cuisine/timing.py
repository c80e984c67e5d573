"""How long dishes may take: work figures, lifetimes and the order interval (MindAgent, section 3).

All times are whole steps. The order of the floating-point operations is part of the rule, so that every
machine rounds the same way. The number of agents changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Protocol

WORK_PER_NODE = 3
STEPS_PER_WORK = 0.3


class HasRecipe(Protocol):
    """What timing needs of a recipe."""

    @property
    def tool(self) -> str: ...
    @property
    def ingredients(self) -> tuple[str, ...]: ...


def nodes_of(product: str, recipes: Mapping[str, HasRecipe]) -> tuple[str, ...]:
    """Every distinct item of the recipe tree, the product first; items without a recipe are leaves."""
    nodes: dict[str, None] = {product: None}
    if product in recipes:
        for ingredient in recipes[product].ingredients:
            nodes.update(dict.fromkeys(nodes_of(ingredient, recipes)))
    return tuple(nodes)


def depth_of(product: str, recipes: Mapping[str, HasRecipe]) -> int:
    """Activations on the longest way from a base ingredient to the product; 0 for a base ingredient."""
    if product not in recipes:
        return 0
    return 1 + max(depth_of(ingredient, recipes) for ingredient in recipes[product].ingredients)


def waiting(product: str, recipes: Mapping[str, HasRecipe], busy: Mapping[str, int]) -> int:
    """Steps of waiting for tools, counted each time a product occurs on the way down its tree."""
    if product not in recipes:
        return 0
    recipe = recipes[product]
    own = busy[recipe.tool] - 1 if busy[recipe.tool] > 1 else 0
    return own + sum(waiting(ingredient, recipes, busy) for ingredient in recipe.ingredients)


def work_of(product: str, recipes: Mapping[str, HasRecipe], busy: Mapping[str, int]) -> int:
    """W of a product: its waiting, and 3 for each distinct node of its tree. `busy` is steps by tool type."""
    return waiting(product, recipes, busy) + WORK_PER_NODE * len(nodes_of(product, recipes))


@dataclass(frozen=True, slots=True)
class Timing:
    """What follows from a level and its difficulty."""

    interval: int
    """Steps between two orders."""
    lifetimes: Mapping[str, int]
    """Steps for which an order of a dish stands."""


def timing_of(work: Mapping[str, int], dishes: Iterable[str], alpha: float, beta: float) -> Timing:
    """Lifetimes and interval: base = (alpha * W) * 0.3, ceil(beta * base), and the largest ceil(base)."""
    base = {dish: (alpha * work[dish]) * STEPS_PER_WORK for dish in dishes}
    lifetimes = {dish: ceil(beta * each) for dish, each in base.items()}
    return Timing(interval=max(ceil(each) for each in base.values()), lifetimes=lifetimes)
