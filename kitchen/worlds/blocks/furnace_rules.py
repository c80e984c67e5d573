"""Say what a furnace makes of an item, and what it burns. The table is `data/smelting.toml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, NamedTuple

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import Names, Number, Record, Text, read_toml
from kitchen.worlds.blocks.item_recipes import DATA, TAG, Inventory, tag_items

SMELTING_STEPS = 10
"""Steps for one item."""


class Fuel(Record):
    """One kind of fuel."""

    items: Names
    """Items, or tags as the recipes write them."""
    smeltings: Number


class SmeltingFile(Record):
    """The whole file."""

    products: Mapping[str, Text]
    fuels: Annotated[tuple[Fuel, ...], Strict(False)]


@dataclass(frozen=True, slots=True)
class SmeltingRules:
    """What a furnace makes, and its fuels in the order in which they are burnt."""

    products: Mapping[str, str]
    fuels: tuple[tuple[frozenset[str], float], ...]
    """The items of each kind of fuel, and the smeltings that a piece lasts."""


@cache
def smelting_rules() -> SmeltingRules:
    """Read the table; DataError with file, key and reason if it is wrong."""
    source, values = read_toml(DATA / "smelting.toml")
    given = source.read(TypeAdapter(SmeltingFile), values)
    fuels = tuple((_fuel_items(fuel.items), fuel.smeltings) for fuel in given.fuels)
    return SmeltingRules(given.products, fuels)


def _fuel_items(items: Names) -> frozenset[str]:
    tags = [tag_items(item.removeprefix(TAG)) for item in items if item.startswith(TAG)]
    return frozenset(item for item in items if not item.startswith(TAG)).union(*tags)


class FuelUse(NamedTuple):
    """The fuel for some smeltings."""

    burnt: Inventory
    store: float
    """Smeltings that are left in the furnace afterwards."""


def fuel_for(held: Mapping[str, int], store: float, smeltings: int) -> FuelUse | None:
    """Return what is burnt for so many smeltings, given what the furnace has in store; None if all is not
    enough. The item held most is burnt first within a kind of fuel; ties: by name."""
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
