"""Read the crafting recipes, and compute which items a recipe takes from an inventory.

The recipes are rows of `data/recipes.toml`. A recipe may ask for a tag (a group of items, such as `#planks`)
instead of an item. An inventory maps each item to its amount and contains no zeros.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Names, Record, Text, read_toml
from kitchen.worlds.blocks.item_words import unknown_item

DATA = Path(__file__).with_name("data")
TABLE = "crafting_table"
TAG, EXCEPT = "#", "!"
Inventory = dict[str, int]


class RowPattern(Record):
    """One row of the recipe file. If `each` names a list, the row is a pattern for one recipe per name in
    the list."""

    makes: Text
    needs: Names
    each: str = ""
    table: Annotated[bool, Strict()] = False


class RecipeFile(Record):
    """The content of the recipe file."""

    lists: Mapping[str, Names]
    tags: Mapping[str, Names]
    rows: Annotated[tuple[RowPattern, ...], Strict(False)]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One recipe: the item that it makes, and the items and tags that it takes."""

    makes: str
    amount: int
    named: Mapping[str, int]
    """Amount of each named item."""
    tagged: Mapping[str, int]
    """Amount of each tag, as the file writes it: `#planks`."""
    table: bool


class RecipeBook:
    """All recipes, in the order of the file."""

    def __init__(self, rows: Iterable[Recipe], tags: Mapping[str, frozenset[str]]) -> None:
        self.tags = tags
        """The items of each tag that a row names."""
        self.by_item: dict[str, list[Recipe]] = {}
        self._made_of: dict[str, set[str]] = {}
        """The items that have each item as an ingredient."""
        for row in rows:
            self.by_item.setdefault(row.makes, []).append(row)
            for item in {*row.named}.union(*(tags[tag] for tag in row.tagged)):
                self._made_of.setdefault(item, set()).add(row.makes)
        self._place = {item: number for number, item in enumerate(self.by_item)}

    def made_of(self, items: Iterable[str]) -> list[str]:
        """Return every item that has a recipe with at least one of these items as an ingredient, in the
        order of the file."""
        found = set().union(*(self._made_of.get(item, ()) for item in items))
        return sorted(found, key=self._place.__getitem__)

    def payment(self, row: Recipe, held: Mapping[str, int], times: int) -> Inventory | None:
        """Return the items that making `row` this many times takes from the inventory; None if the inventory
        lacks any.

        Named items are taken first. For a tag (a group of items), one item at a time is taken. It is the
        item of which the inventory then has most; ties: by name.
        """
        if any(held.get(item, 0) < amount * times for item, amount in row.named.items()):
            return None
        paid = Counter({item: amount * times for item, amount in row.named.items()})
        for tag, amount in row.tagged.items():
            left = {item: held[item] - paid[item] for item in sorted(self.tags[tag] & held.keys())}
            if sum(left.values()) < amount * times:
                return None
            for _ in range(amount * times):
                item = max(left, key=left.__getitem__)
                left[item] -= 1
                paid[item] += 1
        return dict(paid)

    def most_times(self, row: Recipe, held: Mapping[str, int]) -> int:
        """Return how many times the recipe `row` can be made from this inventory."""
        if any(held.get(item, 0) < amount for item, amount in row.named.items()):
            return 0
        pieces = sum(row.named.values()) + sum(row.tagged.values())
        bound = sum(held.values()) // pieces
        return bisect_left(
            range(1, bound + 1), True, key=lambda times: self.payment(row, held, times) is None
        )


def add_items(inventory: Inventory, items: Mapping[str, int]) -> None:
    """Add items to an inventory."""
    for item, amount in items.items():
        inventory[item] = inventory.get(item, 0) + amount


def remove_items(inventory: Inventory, items: Mapping[str, int]) -> None:
    """Remove items from an inventory, which must hold them."""
    for item, amount in items.items():
        inventory[item] -= amount
        if not inventory[item]:
            del inventory[item]


def amount_of(text: str) -> tuple[str, int]:
    """Return (name, amount) of an entry such as `3 stick`. The amount is 1 if the entry has no number."""
    first, _, rest = text.partition(" ")
    return (rest, int(first)) if rest and first.isdecimal() else (text, 1)


def read_recipes(path: Path) -> RecipeBook:
    """Read a recipe file. Raises DataError with file, key and reason if it is wrong."""
    source, values = read_toml(path)
    given = source.read(TypeAdapter(RecipeFile), values)
    for name, items in given.tags.items():
        if reason := unknown_item(items):
            raise source.error(f"tags.{name}", reason)
    tags: dict[str, frozenset[str]] = {}
    recipes = [
        row
        for number, pattern in enumerate(given.rows, 1)
        for row in _filled(pattern, given, source.at(f"rows[{number}]"), tags)
    ]
    return RecipeBook(recipes, tags)


def _filled(
    pattern: RowPattern, given: RecipeFile, source: DataSource, tags: dict[str, frozenset[str]]
) -> Iterator[Recipe]:
    """Yield the rows of a pattern, and add the tags that they name."""
    if pattern.each and pattern.each not in given.lists:
        raise source.error("each", f"{pattern.each!r} is not one of {', '.join(given.lists)}")
    for name in given.lists[pattern.each] if pattern.each else ("",):
        makes, amount = amount_of(pattern.makes.replace("{}", name))
        amounts = dict(amount_of(entry.replace("{}", name)) for entry in pattern.needs)
        tagged = {item: count for item, count in amounts.items() if item.startswith(TAG)}
        for tag in tagged:
            tags[tag] = frozenset(_tag_items(tag, given.tags, source))
        named = {item: count for item, count in amounts.items() if item not in tagged}
        for key, items in (("makes", [makes]), ("needs", named)):
            if reason := unknown_item(items):
                raise source.error(key, reason)
        yield Recipe(makes, amount, named, tagged, pattern.table)


def _tag_items(tag: str, tags: Mapping[str, Collection[str]], source: DataSource) -> Iterator[str]:
    name, _, without = tag.removeprefix(TAG).partition(EXCEPT)
    if name not in tags:
        raise source.error("needs", f"{name!r} is not one of {', '.join(tags)}")
    return (item for item in tags[name] if item != without)


@cache
def recipe_book() -> RecipeBook:
    """Return the shipped recipes, read from `data/recipes.toml`."""
    return read_recipes(DATA / "recipes.toml")


@cache
def _tags() -> Mapping[str, frozenset[str]]:
    _, values = read_toml(DATA / "recipes.toml")
    return {name: frozenset(items) for name, items in values["tags"].items()}


def tag_items(name: str) -> frozenset[str]:
    """Return the items of this tag, a group of items in `data/recipes.toml`. `name` has no `#`."""
    return _tags()[name]


def unknown_tag(items: Iterable[str]) -> str:
    """Return why the first entry that begins with `#` names no tag; empty if all of them do."""
    names = [item.removeprefix(TAG) for item in items if item.startswith(TAG)]
    unknown = next((name for name in names if name not in _tags()), None)
    return "" if unknown is None else f"{unknown!r} is not one of {', '.join(_tags())}"
