"""In which order one participant reads the items of a page: it follows from the design and their number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

from kitchen.contract.seeds import derived_seed
from study.design.blueprint import Blueprint
from study.design.questions.fields import ItemPlan


def items_for(design: Blueprint, page: str, number: int, condition: str = "") -> list[ItemPlan]:
    """The items of a page as the participant of this number reads them, after an episode in the condition of
    this key if there is one: the same order after each, without what is not asked there."""
    items = design.items_at(page)
    if page == "survey" and design.study["shuffle_items"]:
        items = shuffled(items, derived_seed(int(design.study["seed"]), "items", page, number))
    asked = design.items_after(condition) if condition else items
    return [item for item in items if item in asked]


def shuffled(items: Sequence[ItemPlan], seed: int) -> list[ItemPlan]:
    """The items in an order drawn from the seed. Those of one sub-scale stay together, as they have one kind
    of scale."""
    rng, units = Random(seed), defaultdict[str, list[ItemPlan]](list)  # noqa: S311 - not a secret
    for item in items:
        units[f"scale {item.scale}" if item.scale else f"item {item.key}"].append(item)
    order = list(units.values())
    rng.shuffle(order)
    for unit in order:
        rng.shuffle(unit)
    return [item for unit in order for item in unit]
