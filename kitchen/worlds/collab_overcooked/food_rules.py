"""Define all things in the kitchen of Collab-Overcooked, and what each utensil makes from its contents.

The rules are read from `data/utensil_rows.toml`. A thing has a code such as `potato` or `dish`. The code of
food in a dish ends in `IN_DISH`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Names, Record, Text, Texts, one_of, read_toml

DATA = Path(__file__).with_name("data")
DISH = "dish"
IN_DISH = "_in_dish"
POT, OVEN, BOARD, BLENDER = "pot0", "oven0", "chopping_board0", "blender0"
UTENSILS = (POT, OVEN, BOARD, BLENDER)
JOB_STEPS = 3
"""Steps of every job."""
CAPACITY = 3
"""Maximum number of ingredients in a utensil."""


class RowFamily(Record):
    """Several recipes of one utensil with the same pattern, such as `{0}_slices` for many ingredients."""

    utensil: Annotated[Text, one_of(UTENSILS)]
    inside: Texts
    makes: Text
    each: Names
    dish: Annotated[bool, Strict()] = False

    def filled(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str]]:
        """Yield (names, sorted contents, product) for each recipe of the pattern. `names` are the
        ingredients that replace the pattern's placeholders."""
        for names in (tuple(each.split()) for each in self.each):
            inside = tuple(sorted(part.format(*names) for part in self.inside))
            yield names, inside, self.makes.format(*names)


class RowTable(Record):
    """The content of the file `data/utensil_rows.toml`."""

    raw: Names
    rows: Annotated[tuple[RowFamily, ...], Strict(False)]


@dataclass(frozen=True, slots=True)
class FoodRules:
    """All things in the kitchen, and what utensils make from them."""

    raw: tuple[str, ...]
    """The ingredients of the dispenser."""
    rows: Mapping[tuple[str, tuple[str, ...]], str]
    """The product by (utensil, sorted contents)."""
    served_in_dish: frozenset[str]
    """Products that must be carried in a dish: soups, stews and patties."""
    patterns: Mapping[str, tuple[str, tuple[str, ...]]]
    """(pattern of the name, names that fill it) of each product: ("{0}_slices", ("potato",))."""
    things: frozenset[str]
    """Raw ingredients, products and the dish."""

    @property
    def products(self) -> Collection[str]:
        """Return all things that utensils make."""
        return self.patterns.keys()

    def product(self, utensil: str, contents: Sequence[str]) -> str | None:
        """Return what the utensil makes from these contents; None if there is no recipe for them."""
        return self.rows.get((utensil, tuple(sorted(contents))))

    def made_in(self, utensil: str) -> set[str]:
        """Return the products of a utensil that can be picked up without a dish."""
        made = {product for (name, _), product in self.rows.items() if name == utensil}
        return made - self.served_in_dish

    def made_with(self, utensils: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        """Return, for each thing, the products of jobs that use the thing alone or with others. With
        `utensils`, only jobs in these utensils are considered."""
        made: dict[str, set[str]] = {}
        for (utensil, inside), product in self.rows.items():
            for thing in inside if utensils is None or utensil in utensils else ():
                made.setdefault(thing, set()).add(product)
        return {thing: tuple(sorted(products)) for thing, products in made.items()}

    def taken_by(self, utensil: str) -> set[str]:
        """Return all ingredients of the products that this utensil makes."""
        return {thing for name, inside in self.rows if name == utensil for thing in inside}

    def fit(self, utensil: str, contents: Sequence[str]) -> str:
        """Return how the contents fit the utensil's recipes.

        `all`: they make a product. `part`: they could make one with more ingredients. `none`: they can
        never make one. Empty if there are no contents.
        """
        if not contents:
            return ""
        if self.product(utensil, contents):
            return "all"
        wholes = (list(inside) for name, inside in self.rows if name == utensil)
        return "part" if any(_is_part(contents, whole) for whole in wholes) else "none"


def _is_part(contents: Sequence[str], whole: list[str]) -> bool:
    for each in contents:
        if each not in whole:
            return False
        whole.remove(each)
    return True


def base_food(thing: str) -> str:
    """Return the code of the food without the ending for a dish (`IN_DISH`)."""
    return thing.removesuffix(IN_DISH)


def read_food_rules(path: Path) -> FoodRules:
    """Read a file of utensil recipes. Raises DataError with file, key and reason if it is wrong."""
    source, values = read_toml(path)
    table = source.read(TypeAdapter(RowTable), values)
    rows: dict[tuple[str, tuple[str, ...]], str] = {}
    patterns: dict[str, tuple[str, tuple[str, ...]]] = {}
    in_dish: set[str] = set()
    for number, family in enumerate(table.rows, 1):
        for names, inside, made in _filled(family, source, f"rows[{number}]"):
            if rows.setdefault((family.utensil, inside), made) != made:
                reason = f"{family.utensil} already makes something of {', '.join(inside)}"
                raise source.error(f"rows[{number}].each", reason)
            patterns[made] = family.makes, names
            in_dish |= {made} if family.dish else set()
    return FoodRules(table.raw, rows, frozenset(in_dish), patterns, frozenset((*table.raw, *patterns, DISH)))


def _filled(
    family: RowFamily, source: DataSource, key: str
) -> list[tuple[tuple[str, ...], tuple[str, ...], str]]:
    if len(family.inside) > CAPACITY:
        raise source.error(f"{key}.inside", f"is more than {CAPACITY} ingredients")
    try:
        return list(family.filled())
    except (IndexError, KeyError, ValueError) as error:
        raise source.error(f"{key}.each", "does not fill the patterns of inside and makes") from error


@cache
def food_rules() -> FoodRules:
    """Return the rules in `data/utensil_rows.toml`."""
    return read_food_rules(DATA / "utensil_rows.toml")
