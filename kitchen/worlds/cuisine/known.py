"""What the page needs of a brief, looked up once for all who play by it in one language. Plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

from kitchen.contract.world import Json
from kitchen.words.speech import language
from kitchen.worlds.cuisine.keys import PLACES
from kitchen.worlds.cuisine.words import Words

BRIEFS = 64
"""Of how many briefs this is kept; some ten kilobytes each."""


class Known:
    """One brief: its words, what its recipes need, the keys of its places. Nothing here is to be changed."""

    def __init__(self, brief: Mapping[str, Json]) -> None:
        self.brief = brief
        self.words = Words(brief.get("names"))

    @cached_property
    def wanted(self) -> dict[str, int]:
        """Base ingredients that the recipes of this level need, numbered in the order of the recipes."""
        recipes = self.brief["recipes"]
        used = dict.fromkeys(item for recipe in recipes.values() for item in recipe["ingredients"])
        return {item: place for place, item in enumerate(item for item in used if item not in recipes)}

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each place; those of one kind share it."""
        return {place: PLACES.get(kind, "") for place, kind in self.brief["locations"].items()}

    @cached_property
    def room(self) -> int:
        """How many things can be there to be taken at once: what the menu keeps room for."""
        return max(
            len(self.wanted), *(len(set(one["ingredients"])) for one in self.brief["recipes"].values())
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Dishes by their place in the brief."""
        return {dish: number for number, dish in enumerate(self.brief["dishes"])}

    def recipe(self, dish: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """All that goes into a dish, each product with its tool and what it is made of."""
        return self._recipes[dish]

    @cached_property
    def _recipes(self) -> dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]]:
        return {dish: tuple(self._grown(dish)) for dish in self.brief["dishes"]}

    def _grown(self, product: str) -> list[tuple[str, str, tuple[str, ...]]]:
        recipe = self.brief["recipes"].get(product)
        if not recipe:
            return []
        own = (product, recipe["tool"], tuple(recipe["ingredients"]))
        return [own, *(below for item in recipe["ingredients"] for below in self._grown(item))]


def made_of(brief: Mapping[str, Json], tool: str, items: Iterable[str]) -> str:
    """What a tool would make of these items in this level; empty if nothing."""
    wanted = sorted(items)
    for product, recipe in brief["recipes"].items():
        if recipe["tool"] == tool and sorted(recipe["ingredients"]) == wanted:
            return str(product)
    return ""


def known(brief: Mapping[str, Json]) -> Known:
    """What is known by this brief: the same object for equal briefs, and for one language."""
    return _known(json.dumps(brief), language())


@lru_cache(maxsize=BRIEFS)
def _known(brief: str, spoken: str) -> Known:
    return Known(json.loads(brief))
