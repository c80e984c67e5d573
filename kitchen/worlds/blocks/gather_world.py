"""Define the world `blocks_gather`, in which players gather wood, stone or iron, or build a shelter.

The docstring of `kitchen.worlds.blocks` has the rules. Source: S-Agents, arXiv 2402.04578.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from typing import Annotated, ClassVar

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import DataSource, Record, Text, read_toml
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json, Metric
from kitchen.contract.world_errors import SettingsError
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.blocks.block_grid import BlockMap, Bounds
from kitchen.worlds.blocks.block_maps import place_map
from kitchen.worlds.blocks.blueprints import blueprint, blueprint_files
from kitchen.worlds.blocks.cooking_tasks import MOST_SEATS
from kitchen.worlds.blocks.crafting_tasks import (
    ItemAmount,
    inventory_count_problem,
    parse_task_text,
    unknown_items,
)
from kitchen.worlds.blocks.gathering_macros import HAND
from kitchen.worlds.blocks.goal_worlds import (
    FILLED,
    GIVES,
    ITEMS_GIVEN,
    MATCHES,
    MISMATCHES,
    SCORE,
    STEPS_USED,
    SUCCESS,
    BuildingWorld,
)
from kitchen.worlds.blocks.item_recipes import DATA, Inventory
from kitchen.worlds.blocks.item_words import unknown_item

Amount = Annotated[int, Field(ge=1)]
USUAL_LIMIT = 2400


class GatherTask(Record):
    """A task: gather `amount` of `item`, or build the blueprint."""

    item: str = ""
    amount: int = 0
    blueprint: str = ""


class OwnGatherTask(Record):
    """A researcher's own task: gather `amount` of `item`. Seats may hold things at the start."""

    item: Text
    amount: ItemAmount
    inventories: Annotated[
        tuple[Mapping[str, ItemAmount], ...], Strict(False), Field(max_length=MOST_SEATS)
    ] = ()


class Holders(Record):
    """A division of a shelter's materials: one inventory for each seat that gets some."""

    items: Annotated[tuple[Mapping[str, Amount], ...], Strict(False)]


class Collecting(Record):
    """The item that a block gives, and the steps needed to collect it with each tool (`hand`: without
    one)."""

    block: Text
    gives: Text
    steps: Mapping[str, Amount]


class GatherFile(Record):
    """The content of the file `data/tasks/gather.toml`."""

    tasks: Mapping[str, GatherTask]
    holders: Annotated[tuple[Holders, ...], Strict(False)]
    collects: Annotated[tuple[Collecting, ...], Strict(False)]


@cache
def gather_file() -> GatherFile:
    """Read `data/tasks/gather.toml`. Raises DataError with file, key and reason if a task is wrong."""
    source, values = read_toml(DATA / "tasks" / "gather.toml")
    given = source.read(TypeAdapter(GatherFile), values)
    for name, task in given.tasks.items():
        if bool(task.blueprint) == bool(task.item and task.amount > 0):
            raise source.error(f"tasks.{name}", "needs an item with an amount from 1, or a blueprint")
        if task.blueprint and task.blueprint not in blueprint_files():
            known = ", ".join(blueprint_files())
            raise source.error(f"tasks.{name}.blueprint", f"{task.blueprint!r} is not one of {known}")
    for key, names in _named(given):
        if reason := unknown_item(names):
            raise source.error(key, reason)
    return given


def _named(given: GatherFile) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (key, names) for each place of the file that names items or blocks."""
    for name, task in given.tasks.items():
        yield f"tasks.{name}.item", filter(None, [task.item])
    for number, holders in enumerate(given.holders, 1):
        yield f"holders[{number}].items", chain.from_iterable(holders.items)
    for number, each in enumerate(given.collects, 1):
        tools = (tool for tool in each.steps if tool != HAND)
        yield f"collects[{number}]", (each.block, each.gives, *tools)


@lru_cache(maxsize=16)
def parse_own_gather_task(text: str, name: str) -> OwnGatherTask:
    """Return the gather task that a JSON text describes. `name` is the text's name in error messages. Raises
    DataError with key and reason if the text is wrong, or if the map has less than the amount."""
    task, source = parse_task_text(text, name, TypeAdapter(OwnGatherTask)), DataSource(name)
    blocks = {each.gives: each.block for each in gather_file().collects}
    if task.item not in blocks:
        raise source.error("item", f"{task.item[:40]!r} is not one of {', '.join(blocks)}")
    there = sum(block == blocks[task.item] for block in place_map("valley").start.blocks.values())
    if task.amount > there:
        raise source.error("amount", f"must not be more than {there}, which is all that the map has")
    for key, reason in unknown_items(task.inventories):
        raise source.error(key, reason)
    return task


class Gather(BuildingWorld):
    """A world with trees, a hill of stone with iron behind it, and one chest."""

    kind: ClassVar[str] = "blocks_gather"
    figures: ClassVar[tuple[Metric, ...]] = (
        SUCCESS,
        STEPS_USED,
        Metric(
            "amount",
            "count",
            "Amount gathered",
            meaning="Wanted items that all seats and the chest hold",
            so_far="Wanted items that all seats and the chest hold now",
            undefined="blank without an item to gather",
            words=ngettext_noop("item gathered", "items gathered"),
        ),
        GIVES,
        ITEMS_GIVEN,
        SCORE,
        FILLED,
        MATCHES,
        MISMATCHES,
    )
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting(
            "task",
            "choice",
            "Task",
            "50_logs",
            choices=tuple((name, name.replace("_", " ")) for name in gather_file().tasks),
        ),
        Setting(
            "own_task",
            "text",
            "A task of your own",
            "",
            help="If it is not empty, it is used instead. Write it as JSON with the keys item and amount. "
            "If seats hold things at the start, add the key inventories.",
            lines=10,
            maximum=10_000,
            later=True,
        ),
        Setting(
            "limit", "int", "Steps after which the episode is cut off", USUAL_LIMIT, minimum=1, maximum=20_000
        ),
    )

    def set_up(self) -> list[Inventory]:
        """Read the task and the map. Return what each seat holds at the start: nothing, or materials of
        the shelter."""
        given, own = gather_file(), self._own_task()
        self.task = GatherTask(item=own.item, amount=own.amount) if own else given.tasks[self.chosen["task"]]
        self.start = place_map("valley").start
        self.collects = {each.block: (each.gives, each.steps) for each in given.collects}
        self.time_limit = int(self.chosen["limit"])
        held: list[Inventory] = [{} for _ in range(self.seats)]
        if own and own.inventories:
            held = [dict(items) for items in own.inventories]
        if self.task.blueprint:
            self.blueprint = blueprint(self.task.blueprint)
            self.placeable = frozenset({"dirt", *self.blueprint.materials})
            self.start = _widened(self.start, self.blueprint.box.high[1])
            parts = given.holders[min(self.seats, len(given.holders)) - 1].items
            held[len(held) - len(parts) :] = [dict(items) for items in parts]
        return held

    def _own_task(self) -> OwnGatherTask | None:
        """Return the researcher's own task; None if there is none. Raises SettingsError if it is wrong."""
        if not (text := self.chosen["own_task"]):
            return None
        task = parse_own_gather_task(text, "own_task")
        if task.inventories and len(task.inventories) != self.seats:
            raise SettingsError(f"own_task: {inventory_count_problem(len(task.inventories), self.seats)}")
        return task

    @property
    def amount(self) -> int | None:
        """Return the number of wanted items that all seats and the chest hold; None if the task is a
        blueprint."""
        item = self.task.item
        return sum(store.get(item, 0) for store in (*self.inventories, self.chest)) if item else None

    @property
    def over(self) -> bool:
        """Return True if the amount is gathered, or the blueprint is complete."""
        if self.comparison:
            return self.comparison.is_complete
        return (self.amount or 0) >= self.task.amount

    def observe(self, seat: int) -> dict[str, Json]:
        """Return the seat's observation, with the content of the chest as `chest`."""
        return {**super().observe(seat), "chest": dict(sorted(self.chest.items()))}

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the step limit and the goal: the blueprint, or the item and amount, with the blocks and
        tools that yield items."""
        known: dict[str, Json] = {"limit": self.time_limit}
        if self.blueprint:
            return {**known, "blueprint": self.blueprint.drawing()}
        collects = {
            block: {"gives": gives, "steps": dict(steps)} for block, (gives, steps) in self.collects.items()
        }
        return {**known, "item": self.task.item, "amount": self.task.amount, "collects": collects}


def _widened(start: BlockMap, top: int) -> BlockMap:
    """Return the map with empty space added above it, up to the highest level of the blueprint (`top`)."""
    (low, (x, y, z)) = start.area
    return replace(start, area=Bounds(low, (x, max(y, top), z)))
