"""Define benchmarks of the five worlds of blocks, which compare agents that play without people.

The source papers print one result for all tasks of a kind, not one per task. `data/published_figures.toml`
holds these results, and explains how far they can be compared with ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import ClassVar

from pydantic import TypeAdapter

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.data_files import Text, read_toml
from kitchen.contract.line_up import SEAT_SEPARATOR
from kitchen.contract.world import Json
from kitchen.worlds.blocks.blueprints import blueprint_files
from kitchen.worlds.blocks.cooking_tasks import JOIN, cooking_file
from kitchen.worlds.blocks.crafting_tasks import crafting_tasks
from kitchen.worlds.blocks.gather_world import gather_file
from kitchen.worlds.blocks.item_recipes import DATA

STANDARD_INTERVALS = (3, 4, 5, 6, 8)
INTERVAL_PREFIX = "interval_"


@cache
def published() -> Mapping[str, str]:
    """Return a text about the published results of each family of worlds, by family. It also explains why
    they are not comparable with ours."""
    source, values = read_toml(DATA / "published_figures.toml")
    return source.read(TypeAdapter(dict[str, Text]), values)


class BlocksBenchmark(ComparisonBenchmark):
    """A benchmark of one family of worlds. Each of its levels is a task of the family."""

    agents: ClassVar[tuple[int, ...]] = (2,)
    coplayer: ClassVar[str] = "blocks_planner"
    setting: ClassVar[str]
    """The setting that names the task."""

    def usual_levels(self) -> tuple[str, ...]:
        """Return all levels, so that all tasks are played by default."""
        return self.levels()

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
    source: ClassVar[str] = published()["crafting"]

    def levels(self) -> tuple[str, ...]:
        """Return the ids of all crafting tasks."""
        return tuple(crafting_tasks())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the ids of the tasks that are played by default: those for two seats that can be made."""
        tasks = crafting_tasks().items()
        return tuple(name for name, task in tasks if task.seats == self.agents[0] and task.crafts)


class CookingBenchmark(BlocksBenchmark):
    """A benchmark of pairs of dishes. By default, only the six pairs of the test set are played."""

    steps: ClassVar[int] = 500
    setting: ClassVar[str] = "targets"
    figure: ClassVar[str] = "success"
    source: ClassVar[str] = published()["cooking"]

    def levels(self) -> tuple[str, ...]:
        """Return the six pairs of the test set, then all other pairs of test dishes, then all pairs of
        other dishes."""
        given = cooking_file()
        others = tuple(item for item in given.items if item not in given.tests)
        used = [set(pair.split(JOIN)) for pair in given.pairs]
        rest = [*combinations(given.tests, 2), *combinations(others, 2)]
        return (*given.pairs, *(JOIN.join(pair) for pair in rest if set(pair) not in used))

    def usual_levels(self) -> tuple[str, ...]:
        """Return the six pairs of the test set, which are played by default."""
        return cooking_file().pairs


class ConstructionBenchmark(BlocksBenchmark):
    """A benchmark of blueprints. Some blueprints are read from files; 27 are generated."""

    steps: ClassVar[int] = 1200
    setting: ClassVar[str] = "blueprint"
    figure: ClassVar[str] = "score"
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


class GatherBenchmark(BlocksBenchmark):
    """A benchmark of the seven gather tasks. It compares the steps used: the time to completion (TC) in
    seconds."""

    steps: ClassVar[int] = 2400
    agents: ClassVar[tuple[int, ...]] = (1, 2, 4)
    setting: ClassVar[str] = "task"
    figure: ClassVar[str] = "steps_used"
    source: ClassVar[str] = published()["gather"]

    def levels(self) -> tuple[str, ...]:
        """Return the names of all gather tasks."""
        return tuple(gather_file().tasks)


class KitchenBenchmark(BlocksBenchmark):
    """A benchmark of the kitchen. Each level is a number of steps between two orders: five standard
    intervals, and the interval that the published code uses."""

    steps: ClassVar[int] = 60
    figure: ClassVar[str] = "success_rate"
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
        return {"interval": int(level.removeprefix(INTERVAL_PREFIX)), "steps": steps}


BENCHMARKS: Mapping[str, ComparisonBenchmark] = {
    "blocks_construction": ConstructionBenchmark(),
    "blocks_cooking": CookingBenchmark(),
    "blocks_crafting": CraftingBenchmark(),
    "blocks_gather": GatherBenchmark(),
    "blocks_kitchen": KitchenBenchmark(),
}
