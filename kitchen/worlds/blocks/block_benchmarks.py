"""Define the benchmarks of the five worlds of blocks, which compare agents that play without people.

The source papers publish results for groups of tasks, not for single tasks. `data/published_tables.toml`
holds these results. `data/published_figures.toml` explains how far they can be compared with ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Annotated, ClassVar

from pydantic import Strict, TypeAdapter

from kitchen.contract.benchmark import ComparisonBenchmark, PublishedRow, PublishedTable
from kitchen.contract.data_files import DataSource, Record, Text, Value, read_toml
from kitchen.contract.line_up import SEAT_SEPARATOR
from kitchen.contract.world import Json
from kitchen.words.english_text import counted_noun
from kitchen.worlds.blocks.block_traces import FAMILIES
from kitchen.worlds.blocks.blueprints import blueprint_files
from kitchen.worlds.blocks.cooking_tasks import JOIN, cooking_file
from kitchen.worlds.blocks.cooking_world import BLOCKED_SEATS, BOTH, FIRST_SEAT, NOBODY
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.gather_world import gather_file
from kitchen.worlds.blocks.item_recipes import DATA

STANDARD_INTERVALS = (3, 4, 5, 6, 8)
INTERVAL_PREFIX = "interval_"
FAMILY_NAMES = tuple(kind.removeprefix("blocks_") for kind in FAMILIES)
BLOCKED_ENDINGS: Mapping[str, str] = {"": NOBODY, "_one_blocked": FIRST_SEAT, "_both_blocked": BOTH}
"""Endings of cooking levels, and who does not know the recipes there (the setting `recipe_blocked`)."""


@cache
def published() -> Mapping[str, str]:
    """Return a text about the published results of each family of worlds, by family. It also explains why
    they are not comparable with ours."""
    source, values = read_toml(DATA / "published_figures.toml")
    return _of_families(source.read(TypeAdapter(dict[str, Text]), values), source)


class PrintedRow(Record):
    """One row in the file of published tables."""

    name: Text
    values: Annotated[tuple[float, ...], Strict(False)] = ()
    where: Mapping[str, bool | int | str] | None = None


class PrintedTable(Record):
    """One table in the file of published tables (see `PublishedTable`)."""

    title: Text
    columns: Annotated[tuple[Text, ...], Strict(False)]
    note: Text
    figure: str = ""
    scale: Annotated[float, Strict(False)] = 1.0
    rows: Annotated[tuple[PrintedRow, ...], Strict(False)]


@cache
def published_tables_by_family() -> Mapping[str, tuple[PublishedTable, ...]]:
    """Return the published tables of each family of worlds. Raises DataError with file, key and reason if the
    file is wrong."""
    source, values = read_toml(DATA / "published_tables.toml")
    kind = TypeAdapter(dict[str, Annotated[tuple[PrintedTable, ...], Strict(False)]])
    read = source.read(kind, values)
    given = _of_families(read, source)
    return {
        family: tuple(
            _table(table, source.at(f"{family}[{number}]")) for number, table in enumerate(tables, 1)
        )
        for family, tables in given.items()
    }


def _of_families(given: Mapping[str, Value], source: DataSource) -> Mapping[str, Value]:
    """Return the tables of a file of published results. Raises DataError if a key is not a family."""
    if unknown := next((family for family in given if family not in FAMILY_NAMES), None):
        raise source.error(unknown, f"is not one of {', '.join(FAMILY_NAMES)}")
    return given


def _table(given: PrintedTable, source: DataSource) -> PublishedTable:
    for number, row in enumerate(given.rows, 1):
        if len(row.values) not in (0, len(given.columns)):
            reason = f"{len(row.values)} values for {len(given.columns)} columns"
            raise source.error(f"rows[{number}].values", reason)
    rows = tuple(PublishedRow(row.name, row.values, row.where) for row in given.rows)
    return PublishedTable(given.title, given.columns, rows, given.note, given.figure, given.scale)


class BlocksBenchmark(ComparisonBenchmark):
    """A benchmark of one family of worlds. Each of its levels is a task of the family."""

    family: ClassVar[str]

    agents: ClassVar[tuple[int, ...]] = (2,)
    coplayer: ClassVar[str] = "blocks_planner"
    setting: ClassVar[str]
    """The setting that names the task."""

    def usual_levels(self) -> tuple[str, ...]:
        """Return all levels, so that all tasks are played by default."""
        return self.levels()

    def published_tables(self) -> tuple[PublishedTable, ...]:
        """Return the tables that the family's paper prints."""
        return published_tables_by_family().get(self.family, ())

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings: the task that `level` names, and `steps` as the step limit."""
        return {self.setting: level, "limit": steps}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the only line-up (agents that play together) to compare: one planner that commands all
        `seats` seats."""
        return (f"{self.coplayer}{SEAT_SEPARATOR}{seats}",)


class CraftingBenchmark(BlocksBenchmark):
    """A benchmark of the 100 crafting tasks. By default, only the tasks for two seats that can be made are
    played."""

    steps: ClassVar[int] = 300
    setting: ClassVar[str] = "task"
    figure: ClassVar[str] = "success"
    family: ClassVar[str] = "crafting"
    source: ClassVar[str] = published()["crafting"]

    def levels(self) -> tuple[str, ...]:
        """Return the ids of all crafting tasks."""
        return tuple(crafting_tasks())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the ids of the tasks that are played by default: those for two seats that can be made."""
        return self.levels_for(self.agents)

    def levels_for(self, seats: Sequence[int]) -> tuple[str, ...]:
        """Return the ids of the tasks for so many seats that can be made."""
        return tuple(name for name, task in crafting_tasks().items() if task.seats in seats and task.crafts)

    def level_refusal(self, level: str) -> str:
        """Return why a task is refused: its target cannot be made from what the seats hold."""
        return "" if crafting_tasks()[level].crafts else "cannot be made from what the seats hold"

    def omitted_levels_text(self, levels: Sequence[str]) -> str:
        """Return how many of the tasks are not played, by number of seats, and how many cannot be made."""
        left = [task for name, task in crafting_tasks().items() if name not in levels]
        parts = [
            f"{count} for {counted_noun(seats, 'seat')}"
            for seats in sorted({task.seats for task in left})
            if (count := sum(task.seats == seats and bool(task.crafts) for task in left))
        ]
        if impossible := sum(not task.crafts for task in left):
            parts.append(f"{impossible} that cannot be made")
        return f"left out: {len(left)} of {len(self.levels())} tasks ({', '.join(parts)})" if left else ""

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return two facts about the task: the depth of its recipe tree, and whether all seats are given
        the plan (`full`)."""
        task = crafting_tasks()[level]
        return {"depth": task.depth, "plan": "partial" if task.plan_blocked else "full"}


def cooking_pairs() -> tuple[str, ...]:
    """Return the six pairs of the test set, then all other pairs of test dishes, then all pairs of other
    dishes."""
    given = cooking_file()
    others = tuple(item for item in given.items if item not in given.tests)
    used = [set(pair.split(JOIN)) for pair in given.pairs]
    rest = [*combinations(given.tests, 2), *combinations(others, 2)]
    return (*given.pairs, *(JOIN.join(pair) for pair in rest if set(pair) not in used))


class CookingBenchmark(BlocksBenchmark):
    """A benchmark of pairs of dishes. By default, only the six pairs of the test set are played, each
    with the recipes known to both seats, to the second one only, and to nobody."""

    steps: ClassVar[int] = 500
    setting: ClassVar[str] = "targets"
    figure: ClassVar[str] = "success"
    family: ClassVar[str] = "cooking"
    source: ClassVar[str] = published()["cooking"]

    def levels(self) -> tuple[str, ...]:
        """Return all pairs of dishes (`cooking_pairs`), then the same pairs for seats that do not know the
        recipes."""
        return tuple(f"{pair}{ending}" for ending in BLOCKED_ENDINGS for pair in cooking_pairs())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the six pairs of the test set, which are played by default: with nobody, one seat and both
        seats without recipes."""
        return tuple(f"{pair}{ending}" for ending in BLOCKED_ENDINGS for pair in cooking_file().pairs)

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings: the dishes, the step limit, and who does not know the recipes."""
        ending = _blocked_ending(level)
        settings = super().settings(level.removesuffix(ending), alpha, steps)
        return {**settings, "recipe_blocked": BLOCKED_ENDINGS[ending]} if ending else settings

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return how many seats do not know the recipes."""
        return {"blocked": len(BLOCKED_SEATS[BLOCKED_ENDINGS[_blocked_ending(level)]])}


def _blocked_ending(level: str) -> str:
    return next((ending for ending in BLOCKED_ENDINGS if ending and level.endswith(ending)), "")


class ConstructionBenchmark(BlocksBenchmark):
    """A benchmark of blueprints. Some blueprints are read from files; 27 are generated."""

    steps: ClassVar[int] = 1200
    setting: ClassVar[str] = "blueprint"
    figure: ClassVar[str] = "score"
    second_figure: ClassVar[str] = "filled"
    family: ClassVar[str] = "construction"
    source: ClassVar[str] = published()["construction"]

    def levels(self) -> tuple[str, ...]:
        """Return the names of all blueprints. Blueprints from files come first, then the generated ones."""
        generated = (
            f"materials_{materials}_rooms_{rooms}_window_{style}_carpet_{style}_variant_0"
            for materials in range(3)
            for rooms in range(3)
            for style in range(3)
        )
        return (*blueprint_files(), *generated)

    def usual_levels(self) -> tuple[str, ...]:
        """Return the names of the blueprints that are played by default. They are all blueprints from
        files, and the generated ones whose windows and carpets have style 1."""
        return tuple(name for name in self.levels() if "_variant_" not in name or "_window_1_" in name)

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return the numbers of materials and rooms in the name of a generated blueprint; empty for files."""
        found = re.match(r"materials_(\d+)_rooms_(\d+)_", level)
        return {"materials": int(found[1]), "rooms": int(found[2])} if found else {}


class GatherBenchmark(BlocksBenchmark):
    """A benchmark of the seven gather tasks. It compares the steps used: the time to completion (TC) in
    seconds."""

    steps: ClassVar[int] = 2400
    agents: ClassVar[tuple[int, ...]] = (1, 2, 4)
    setting: ClassVar[str] = "task"
    figure: ClassVar[str] = "steps_used"
    family: ClassVar[str] = "gather"
    source: ClassVar[str] = published()["gather"]

    def levels(self) -> tuple[str, ...]:
        """Return the names of all gather tasks."""
        return tuple(gather_file().tasks)

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return the task, by which the paper's times are grouped."""
        return {"task": level}


class KitchenBenchmark(BlocksBenchmark):
    """A benchmark of the kitchen. Each level is a number of steps between two orders: five standard
    intervals, and the interval that the published code uses."""

    steps: ClassVar[int] = 60
    figure: ClassVar[str] = "success_rate"
    family: ClassVar[str] = "kitchen"
    source: ClassVar[str] = published()["kitchen"]

    def levels(self) -> tuple[str, ...]:
        """Return one level per order interval, such as `interval_3`."""
        return tuple(f"{INTERVAL_PREFIX}{interval}" for interval in (*STANDARD_INTERVALS, 10))

    def usual_levels(self) -> tuple[str, ...]:
        """Return the levels that are played by default: the five standard intervals between orders. The
        mean over them is the collaboration score (CoS)."""
        return self.levels()[: len(STANDARD_INTERVALS)]

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings: the order interval of `level`, and the number of steps."""
        return {"interval": _interval(level), "steps": steps}

    def level_facts(self, level: str) -> Mapping[str, Json]:
        """Return two facts about the level. `interval` is the number of steps between orders.
        `counts_for_cos` says whether this interval is one of those in the collaboration score (CoS)."""
        interval = _interval(level)
        return {"interval": interval, "counts_for_cos": interval in STANDARD_INTERVALS}


def _interval(level: str) -> int:
    return int(level.removeprefix(INTERVAL_PREFIX))


BENCHMARKS: Mapping[str, ComparisonBenchmark] = {
    "blocks_construction": ConstructionBenchmark(),
    "blocks_cooking": CookingBenchmark(),
    "blocks_crafting": CraftingBenchmark(),
    "blocks_gather": GatherBenchmark(),
    "blocks_kitchen": KitchenBenchmark(),
}
