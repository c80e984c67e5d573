"""Read the cooking tasks of the world `blocks_cooking` from `data/tasks/cooking.toml`.

The module also divides the ingredients among the players, and lists the steps of a recipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Names, Record, read_toml
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.worlds.blocks.crafting_tasks import ItemAmount, parse_task_text, unknown_items
from kitchen.worlds.blocks.furnace_rules import smelting_rules
from kitchen.worlds.blocks.item_recipes import DATA, Inventory, Recipe, add_items, recipe_book
from kitchen.worlds.blocks.item_words import unknown_item

MOST_TARGETS, MOST_SEATS, MOST_STEPS = 4, 5, 5000
JOIN = "+"


class CookingFile(Record):
    """The content of the file `data/tasks/cooking.toml`."""

    limit: int
    hells_kitchen_limit: int
    tests: Names
    pairs: Names
    items: Mapping[str, Mapping[str, int]]
    without_fuel: Mapping[str, Mapping[str, int]]
    gives: Mapping[str, str]
    meat: Mapping[str, str]


@cache
def cooking_file() -> CookingFile:
    """Read `data/tasks/cooking.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "tasks" / "cooking.toml")
    given = source.read(TypeAdapter(CookingFile), values)
    for key, names in (("tests", given.tests), ("without_fuel", tuple(given.without_fuel))):
        if unknown := next((name for name in names if name not in given.items), ""):
            raise source.error(key, f"{unknown!r} is not one of {', '.join(given.items)}")
    for pair in given.pairs:
        if any(name not in given.items for name in pair.split(JOIN)):
            raise source.error("pairs", f"{pair!r} is not two items joined by {JOIN}")
    for key, codes in _named(given):
        if reason := unknown_item(codes):
            raise source.error(key, reason)
    return given


def _named(given: CookingFile) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (key, names) for each table of the file that names items, blocks or animals."""
    for table, entries in (("items", given.items), ("without_fuel", given.without_fuel)):
        for item, held in entries.items():
            yield f"{table}.{item}", (item, *held)
    for table, gives in (("gives", given.gives), ("meat", given.meat)):
        for kind, item in gives.items():
            yield f"{table}.{kind}", (kind, *filter(None, [item]))


def read_targets(text: str) -> tuple[str, ...]:
    """Return the dishes that a setting such as `bread+cake` names. Raises SettingsError if one is unknown
    or repeated, or if there are too many."""
    names = tuple(text.split(JOIN))
    known = cooking_file().items
    if unknown := next((name for name in names if name not in known), None):
        raise SettingsError(f"targets: {unknown!r} is not one of {', '.join(known)}")
    if len(names) > MOST_TARGETS or len(set(names)) < len(names):
        raise SettingsError(f"targets: {text!r} is not one to {MOST_TARGETS} different items")
    return names


class OwnCookingTask(Record):
    """A researcher's own cooking task: the dishes, what each seat holds at the start, and the step limit."""

    targets: Names
    inventories: Annotated[
        tuple[Mapping[str, ItemAmount], ...], Strict(False), Field(min_length=1, max_length=MOST_SEATS)
    ]
    limit: Annotated[int, Field(ge=1, le=MOST_STEPS)]


@lru_cache(maxsize=16)
def parse_own_cooking_task(text: str, name: str) -> OwnCookingTask:
    """Return the cooking task that a JSON text describes. `name` is the text's name in error messages.
    Raises DataError with key and reason if the text is wrong."""
    task = parse_task_text(text, name, TypeAdapter(OwnCookingTask))
    source, known = DataSource(name), cooking_file().items
    for number, target in enumerate(task.targets, 1):
        if target not in known:
            raise source.error(f"targets[{number}]", f"{target[:40]!r} is not one of {', '.join(known)}")
    if len(task.targets) > MOST_TARGETS:
        raise source.error("targets", f"must not have more than {MOST_TARGETS} dishes")
    for key, reason in unknown_items(task.inventories):
        raise source.error(key, reason)
    return task


def deal(targets: Sequence[str], seats: int, *, with_fuel: bool) -> list[Inventory]:
    """Return what each seat holds at the start of an episode with these targets.

    The ingredients of all targets are dealt in alphabetical order. Two or more of a kind are divided
    evenly; the first seats get the remainder. A single item goes to the seat with the fewest items so far.
    If `with_fuel` is False (the furnace has no fuel), the coal that the targets need is dealt, too.
    """
    given, pool = cooking_file(), dict[str, int]()
    for target in targets:
        add_items(pool, given.items[target])
        add_items(pool, {} if with_fuel else given.without_fuel.get(target, {}))
    dealt: list[Inventory] = [{} for _ in range(seats)]
    for item, amount in sorted(pool.items()):
        if amount == 1:
            add_items(min(dealt, key=lambda held: sum(held.values())), {item: 1})
            continue
        for seat, held in enumerate(dealt):
            if share := amount // seats + (seat < amount % seats):
                add_items(held, {item: share})
    return dealt


def recipe_steps(target: str) -> list[dict[str, Json]]:
    """Return the steps that make a target, in order. In each, `do` is collect, attack, smelt or craft."""
    steps: list[dict[str, Json]] = []
    for step in _steps(target, 1):
        if step not in steps:
            steps.append(step)
    return steps


def _steps(item: str, amount: int) -> Iterator[dict[str, Json]]:
    """Yield the plan's steps to get this amount of an item. Yield nothing if the seats hold the item at
    the start."""
    given, products = cooking_file(), smelting_rules().products
    for do, sources in (("collect", given.gives), ("attack", given.meat)):
        if found := [source for source, gives in sources.items() if gives == item]:
            yield {"do": do, "from": found, "makes": item, "amount": amount}
            return
    if raw := next((raw for raw, product in products.items() if product == item), ""):
        yield from _steps(raw, amount)
        yield {"do": "smelt", "needs": {raw: amount}, "makes": item, "amount": amount}
    elif row := _row(item):
        yield from _craft_steps(row, amount)


def _row(item: str) -> Recipe | None:
    """Return the recipe of an item. Return None if the seats hold the item at the start."""
    held = {name for items in cooking_file().items.values() for name in items}
    return None if item in held else next(iter(recipe_book().by_item.get(item, ())), None)


def _craft_steps(row: Recipe, amount: int) -> Iterator[dict[str, Json]]:
    times = -(-amount // row.amount)
    book = recipe_book()
    for need, count in row.named.items():
        yield from _steps(need, count * times)
    for tag, count in row.tagged.items():
        yield from _steps(min(book.tags[tag]), count * times)
    needs = {name: count * times for name, count in (*row.named.items(), *row.tagged.items())}
    yield {
        "do": "craft",
        "needs": needs,
        "makes": row.makes,
        "amount": row.amount * times,
        "table": row.table,
    }
