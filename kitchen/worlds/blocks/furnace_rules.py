"""Define what a furnace makes from an item, and which fuels it burns.

The rules are read from `data/smelting.toml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, NamedTuple

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import Names, Number, Record, Text, read_toml
from kitchen.worlds.blocks.item_recipes import DATA, TAG, Inventory, tag_items, unknown_tag
from kitchen.worlds.blocks.item_words import unknown_item

SMELTING_STEPS = 10
"""Steps for one item."""


class Fuel(Record):
    """One kind of fuel: its items, and the number of smeltings that one piece lasts."""

    items: Names
    """Items, or tags as the recipes write them."""
    smeltings: Number


class SmeltingFile(Record):
    """The content of the file `data/smelting.toml`."""

    products: Mapping[str, Text]
    fuels: Annotated[tuple[Fuel, ...], Strict(False)]


@dataclass(frozen=True, slots=True)
class SmeltingRules:
    """The product of each item in a furnace, and the kinds of fuel in the order in which they are burnt."""

    products: Mapping[str, str]
    fuels: tuple[tuple[frozenset[str], float], ...]
    """The items of each kind of fuel, and the smeltings that a piece lasts."""


@cache
def smelting_rules() -> SmeltingRules:
    """Return the rules in `data/smelting.toml`. Raises DataError with file, key and reason if the file is
    wrong."""
    source, values = read_toml(DATA / "smelting.toml")
    given = source.read(TypeAdapter(SmeltingFile), values)
    for item, product in given.products.items():
        if reason := unknown_item([item, product]):
            raise source.error(f"products.{item}", reason)
    for number, fuel in enumerate(given.fuels, 1):
        if reason := unknown_tag(fuel.items) or unknown_item(_without_tags(fuel.items)):
            raise source.error(f"fuels[{number}].items", reason)
    fuels = tuple((_fuel_items(fuel.items), fuel.smeltings) for fuel in given.fuels)
    return SmeltingRules(given.products, fuels)


def _fuel_items(items: Names) -> frozenset[str]:
    tags = [tag_items(item.removeprefix(TAG)) for item in items if item.startswith(TAG)]
    return frozenset(_without_tags(items)).union(*tags)


def _without_tags(items: Names) -> list[str]:
    return [item for item in items if not item.startswith(TAG)]


class FuelUse(NamedTuple):
    """The fuel that a furnace job burns, and the fuel that is left in the furnace afterwards."""

    burnt: Inventory
    store: float
    """Smeltings that are left in the furnace afterwards."""


def fuel_for(held: Mapping[str, int], store: float, smeltings: int) -> FuelUse | None:
    """Return the fuel to burn for this number of smeltings; None if it is not enough.

    `held` is the inventory of the seat. `store` is the fuel in the furnace, as a number of smeltings. Of
    several fuels of the same kind, the item with the largest number in the inventory is burnt first; ties:
    by name.
    """
    left, burnt = dict(held), Counter[str]()
    for items, lasts in smelting_rules().fuels:
        while store < smeltings and (found := sorted(items & left.keys())):
            item = max(found, key=left.__getitem__)
            burnt[item] += 1
            store += lasts
            left[item] -= 1
            if not left[item]:
                del left[item]
    return FuelUse(dict(burnt), store - smeltings) if store >= smeltings else None
