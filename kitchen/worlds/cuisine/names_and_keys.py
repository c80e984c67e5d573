"""Look up the names, letter keys and pictures of a kitchen, once per brief and language. Plain Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import current_language, gettext
from kitchen.worlds.cuisine.display_text import KitchenWords

PLACE_KEYS = {
    "storage": "s",
    "servingtable": "v",
    "chopboard": "c",
    "blender": "b",
    "pan": "a",
    "fryer": "f",
    "mixer": "m",
    "pot": "o",
    "steamer": "e",
    "oven": "n",
}
"""The key goes to a place of this kind; pressed again, to the next such place."""
VERB_KEYS = {"get": "t", "put": "p", "activate": "u", "noop": "w"}
"""The key chooses an action of this kind; pressing the key for taking again moves to the next item."""
THROW_AWAY_KEY = "x"
ITEM_KEYS = "1234567890"
"""Keys that take the first item, the second, …"""


def key_of(command: Command, kind: str, number: int = 0) -> str:
    """Return the key of a command about a kind of place and, for a get, the item's number; empty if none."""
    verb = command[0]
    if verb == "goto":
        return PLACE_KEYS.get(kind, "")
    if verb == "get":
        return ITEM_KEYS[number : number + 1]
    return THROW_AWAY_KEY if verb == "put" and kind == "storage" else VERB_KEYS.get(verb, "")


def key_explanations(kinds: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return every key of a kitchen with its meaning. `kinds` are codes and names of the kinds of places."""
    known = ((PLACE_KEYS[kind], name) for kind, name in kinds if kind in PLACE_KEYS)
    keys = [
        *((key, gettext("Go: {place}").format(place=name)) for key, name in known),
        (VERB_KEYS["get"], gettext("Take something; press again for the next thing")),
        (f"{ITEM_KEYS[0]} … {ITEM_KEYS[8]}", gettext("Take the first thing, the second, and so on")),
        (VERB_KEYS["put"], gettext("Put down what you hold")),
        (THROW_AWAY_KEY, gettext("Throw away what you hold, at storage")),
        (VERB_KEYS["activate"], gettext("Use the tool where you are")),
        (VERB_KEYS["noop"], gettext("Wait one step")),
    ]
    return [(key.upper(), meaning) for key, meaning in keys]


ProductLine = tuple[str, str, tuple[str, ...]]
"""A product, its tool and its ingredients."""
MAX_KNOWN_BRIEFS = 64
"""Number of briefs in the cache; each takes some ten kilobytes."""


class ShownItem(NamedTuple):
    """An item, a tool or a place as it is shown: its picture and its name."""

    icon: str
    name: str


class BriefLookup:
    """One brief with its words, the needs of its recipes, and the keys of its places. Do not change it."""

    def __init__(self, brief: Mapping[str, Json]) -> None:
        self.brief = brief
        self.words = KitchenWords(brief.get("names"))

    def shown(self, item: str) -> ShownItem:
        """Return the picture and the name of an item."""
        return ShownItem(picture_of(item), self.words.name(item))

    @cached_property
    def wanted(self) -> dict[str, int]:
        """Base ingredients that the recipes of this level need, numbered in the order of the recipes."""
        recipes = self.brief["recipes"]
        used = dict.fromkeys(item for recipe in recipes.values() for item in recipe["ingredients"])
        return {item: place for place, item in enumerate(item for item in used if item not in recipes)}

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each place; places of one kind share it."""
        return {place: PLACE_KEYS.get(kind, "") for place, kind in self.brief["locations"].items()}

    @cached_property
    def room(self) -> int:
        """The largest number of things that can be taken at once: the menu keeps so many slots."""
        recipes = self.brief["recipes"].values()
        return max(len(self.wanted), *(len(set(recipe["ingredients"])) for recipe in recipes))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Dishes by their position in the brief."""
        return {dish: number for number, dish in enumerate(self.brief["dishes"])}

    @cached_property
    def recipes(self) -> dict[str, tuple[ProductLine, ...]]:
        """All products of each dish, each with its tool and ingredients."""
        return {dish: tuple(self._products(dish)) for dish in self.brief["dishes"]}

    def _products(self, product: str) -> list[ProductLine]:
        if not (recipe := self.brief["recipes"].get(product)):
            return []
        own = (product, recipe["tool"], tuple(recipe["ingredients"]))
        return [own, *(below for item in recipe["ingredients"] for below in self._products(item))]


def product_from(brief: Mapping[str, Json], tool: str, items: Iterable[str]) -> str:
    """Return what a tool would make of these items in this level; empty if nothing."""
    wanted = sorted(items)
    for product, recipe in brief["recipes"].items():
        if recipe["tool"] == tool and sorted(recipe["ingredients"]) == wanted:
            return str(product)
    return ""


def brief_lookup(brief: Mapping[str, Json]) -> BriefLookup:
    """Return the lookup of this brief: the same object for equal briefs in one language."""
    return _known(json.dumps(brief), current_language())


@lru_cache(maxsize=MAX_KNOWN_BRIEFS)
def _known(brief: str, spoken: str) -> BriefLookup:
    return BriefLookup(json.loads(brief))


_FILE = Path(__file__).parent / "static/worlds/cuisine/pictures.svg"
DEFAULT_PICTURE = "plate"
"""Picture of items without one, for example from a researcher's own catalogue."""


def picture_of(item: str) -> str:
    """Return the name of the picture of an item."""
    return item if item in picture_names() else DEFAULT_PICTURE


@cache
def picture_names() -> frozenset[str]:
    """Return the names of all pictures."""
    return frozenset(re.findall(r'<symbol id="([A-Za-z]+)"', _FILE.read_text("utf-8")))
