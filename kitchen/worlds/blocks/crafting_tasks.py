"""Read MINDcraft's crafting tasks: one target item, and what each player holds at the start.

A file of tasks is a JSON list. A task has, for example, `seats` (number of players), `target`, `inventories`
(one per player) and `timeout` (steps). `plan_blocked` lists the players that may not see the plan. `crafts`
is the shortest list of recipes that makes the target, or null if the target cannot be made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Key, Record, Text, Value, file_text, parse_json
from kitchen.contract.world import Json
from kitchen.worlds.blocks.item_recipes import DATA, TABLE, Recipe, add_items, recipe_book, remove_items
from kitchen.worlds.blocks.item_words import unknown_item

MOST_ITEMS, MOST_CRAFTS = 999, 60
"""Limits of a task, which bound the time to check it: the amount of an item, and the `craft` commands."""
ItemAmount = Annotated[int, Field(ge=1, le=MOST_ITEMS)]
Amount = Annotated[int, Field(ge=1, le=9999)]
Seat = Annotated[int, Field(ge=0)]


class CraftingTask(Record):
    """One crafting task, as its file describes it."""

    id: Key
    seats: Annotated[int, Field(ge=2, le=5)]
    target: Mapping[str, ItemAmount]
    depth: Annotated[int, Field(ge=0)]
    plan_blocked: Annotated[tuple[Seat, ...], Strict(False)]
    inventories: Annotated[tuple[Mapping[str, ItemAmount], ...], Strict(False)]
    timeout: Amount
    crafts: (
        Annotated[
            tuple[Annotated[tuple[Text, ItemAmount], Strict(False)], ...],
            Strict(False),
            Field(max_length=MOST_CRAFTS),
        ]
        | None
    )

    @property
    def number(self) -> str:
        """Return the task's number among the tasks for the same number of seats: `02`."""
        return self.id.split("_")[2]

    def problem(self) -> tuple[str, str]:
        """Return (key, reason) of the first contradiction within the task; two empty texts if there is
        none."""
        if len(self.inventories) != self.seats:
            return "inventories", inventory_count_problem(len(self.inventories), self.seats)
        if any(seat >= self.seats for seat in self.plan_blocked):
            return "plan_blocked", f"the seats are 0 to {self.seats - 1}"
        if len(self.target) != 1:
            return "target", f"must be one item, not {len(self.target)}"
        for key, reason in unknown_items(self.inventories):
            return key, reason
        if reason := unknown_item(self.target):
            return "target", reason
        return ("crafts", "cannot be carried out") if self.crafts and not self.plan() else ("", "")

    def can_be_made(self) -> bool:
        """Return whether `crafts` makes the target, and the seats have a workbench, or can make one, before
        the first recipe that needs it."""
        crafts, usual = tuple(self.crafts or ()), self.plan()
        if not usual or not self._lacks_table(usual):
            return bool(usual)
        with_table = (self._plan((*crafts[:at], (TABLE, 1), *crafts[at:])) for at in range(len(crafts)))
        return any(steps and not self._lacks_table(steps) for steps in with_table)

    def _lacks_table(self, steps: Iterable[Mapping[str, Json]]) -> bool:
        """Return whether a step needs a workbench that no seat holds then."""
        tables = sum(held.get(TABLE, 0) for held in self.inventories)
        for step in steps:
            if step["table"] and not tables:
                return True
            tables += (step["makes"] == TABLE and step["amount"]) - step["needs"].get(TABLE, 0)
        return False

    def plan(self) -> list[dict[str, Json]]:
        """Return the steps that craft the target from all inventories together, each with the items that
        it uses up. Empty if the target cannot be made."""
        return self._plan(self.crafts or ())

    def _plan(self, crafts: Iterable[tuple[str, int]]) -> list[dict[str, Json]]:
        pool: dict[str, int] = {}
        for inventory in self.inventories:
            add_items(pool, inventory)
        steps: list[dict[str, Json]] = []
        for item, times in crafts:
            found = _payable(item, times, pool)
            if not found:
                return []
            row, paid = found
            remove_items(pool, paid)
            add_items(pool, {row.makes: row.amount * times})
            steps.append(
                {
                    "makes": item,
                    "times": times,
                    "amount": row.amount * times,
                    "needs": paid,
                    "table": row.table,
                }
            )
        (target, amount), *_ = self.target.items()
        return steps if pool.get(target, 0) >= amount else []


def inventory_count_problem(inventories: int, seats: int) -> str:
    """Return why a number of inventories does not fit the number of seats."""
    given = "1 inventory" if inventories == 1 else f"{inventories} inventories"
    return f"{given} for {seats} seat{'s' if seats != 1 else ''}"


def unknown_items(inventories: Iterable[Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Yield (key, reason) for each inventory of a task that has an item without a translated name."""
    for number, items in enumerate(inventories, 1):
        if reason := unknown_item(items):
            yield f"inventories[{number}]", reason


def _payable(item: str, times: int, pool: Mapping[str, int]) -> tuple[Recipe, dict[str, int]] | None:
    book = recipe_book()
    rows = book.by_item.get(item, ())
    return next(((row, paid) for row in rows if (paid := book.payment(row, pool, times)) is not None), None)


def read_tasks(path: Path) -> dict[str, CraftingTask]:
    """Return the tasks of a file by id. Raises DataError with file, key and reason if the file is wrong."""
    values = parse_json(file_text(path), path.name)
    tasks: dict[str, CraftingTask] = {}
    for number, task in enumerate(DataSource(path.name).read(TypeAdapter(list[CraftingTask]), values), 1):
        place, (key, reason) = DataSource(path.name, f"[{number}]"), task.problem()
        if task.id in tasks:
            key, reason = "id", f"{task.id!r} is named twice"
        if key:
            raise place.error(key, reason)
        tasks[task.id] = task
    return tasks


@lru_cache(maxsize=16)
def parse_task(text: str, name: str) -> CraftingTask:
    """Return the task that a JSON text describes. `name` is the text's name in error messages. Raises
    DataError with key and reason if the text is wrong."""
    task = parse_task_text(text, name, TypeAdapter(CraftingTask))
    key, reason = task.problem()
    if key:
        raise DataSource(name).error(key, reason)
    return task


def parse_task_text(text: str, name: str, kind: TypeAdapter[Value]) -> Value:
    """Return the value of this type that a JSON text describes. `name` is the text's name in error messages.
    Raises DataError with key and reason if the text is wrong."""
    return DataSource(name).read(kind, parse_json(text, name, foreign=True))


@cache
def crafting_tasks() -> Mapping[str, CraftingTask]:
    """Return the 100 shipped tasks by id."""
    return read_tasks(DATA / "tasks" / "crafting.json")
