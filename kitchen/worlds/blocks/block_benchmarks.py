"""Compare agents that play alone in the tasks of each family, with what the papers print beside them.

The papers print results over all tasks of a kind, not by task. `data/published_figures.toml` holds what they
print, and why it cannot be set beside ours cell by cell.
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
    """Return what the papers print about each family."""
    source, values = read_toml(DATA / "published_figures.toml")
    return source.read(TypeAdapter(dict[str, Text]), values)


class BlocksBenchmark(ComparisonBenchmark):
    """A benchmark of one family, whose levels are its tasks."""

    agents: ClassVar[tuple[int, ...]] = (2,)
    coplayer: ClassVar[str] = "blocks_planner"
    setting: ClassVar[str]
    """The setting that names the task."""

    def usual_levels(self) -> tuple[str, ...]:
        """Return all tasks."""
        return self.levels()

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the task and the limit."""
        return {self.setting: level, "limit": steps}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return one planner for all seats."""
        return (f"{self.coplayer}{SEAT_SEPARATOR}{seats}",)


class CraftingBenchmark(BlocksBenchmark):
    """The 100 crafting tasks; by default those for two seats."""

    steps: ClassVar[int] = 300
    setting: ClassVar[str] = "task"
    figure: ClassVar[str] = "success"
    source: ClassVar[str] = published()["crafting"]

    def levels(self) -> tuple[str, ...]:
        """Return the ids of the tasks."""
        return tuple(crafting_tasks())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the tasks for two seats."""
        return tuple(name for name, task in crafting_tasks().items() if task.seats == self.agents[0])


class CookingBenchmark(BlocksBenchmark):
    """Pairs of dishes; by default the six of the test set."""

    steps: ClassVar[int] = 500
    setting: ClassVar[str] = "targets"
    figure: ClassVar[str] = "success"
    source: ClassVar[str] = published()["cooking"]

    def levels(self) -> tuple[str, ...]:
        """Return the pairs of test dishes, and those of the others."""
        given = cooking_file()
        others = tuple(item for item in given.items if item not in given.tests)
        used = [set(pair.split(JOIN)) for pair in given.pairs]
        rest = [*combinations(given.tests, 2), *combinations(others, 2)]
        return (*given.pairs, *(JOIN.join(pair) for pair in rest if set(pair) not in used))

    def usual_levels(self) -> tuple[str, ...]:
        """Return the six pairs of the test set."""
        return cooking_file().pairs


class ConstructionBenchmark(BlocksBenchmark):
    """Blueprints: the files, and one of the generator for each set of parameters."""

    steps: ClassVar[int] = 1200
    setting: ClassVar[str] = "blueprint"
    figure: ClassVar[str] = "score"
    source: ClassVar[str] = published()["construction"]

    def levels(self) -> tuple[str, ...]:
        """Return the blueprints' names."""
        generated = (
            f"materials_{materials}_rooms_{rooms}_window_{style}_carpet_{style}_variant_0"
            for materials in range(3)
            for rooms in range(3)
            for style in range(3)
        )
        return (*blueprint_files(), *generated)

    def usual_levels(self) -> tuple[str, ...]:
        """Return the files, and the generated ones with windows and carpets of the first style."""
        return tuple(name for name in self.levels() if "_variant_" not in name or "_window_1_" in name)


class GatherBenchmark(BlocksBenchmark):
    """The seven tasks; the steps used are TC in seconds."""

    steps: ClassVar[int] = 2400
    agents: ClassVar[tuple[int, ...]] = (1, 2, 4)
    setting: ClassVar[str] = "task"
    figure: ClassVar[str] = "steps_used"
    source: ClassVar[str] = published()["gather"]

    def levels(self) -> tuple[str, ...]:
        """Return the names of the tasks."""
        return tuple(gather_file().tasks)


class KitchenBenchmark(BlocksBenchmark):
    """Orders at five intervals, and at the interval of the released program."""

    steps: ClassVar[int] = 60
    figure: ClassVar[str] = "success_rate"
    source: ClassVar[str] = published()["kitchen"]

    def levels(self) -> tuple[str, ...]:
        """Return the intervals."""
        return tuple(f"{INTERVAL_PREFIX}{interval}" for interval in (*STANDARD_INTERVALS, 10))

    def usual_levels(self) -> tuple[str, ...]:
        """Return the five intervals whose mean is CoS."""
        return self.levels()[: len(STANDARD_INTERVALS)]

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return interval and steps."""
        return {"interval": int(level.removeprefix(INTERVAL_PREFIX)), "steps": steps}


BENCHMARKS: Mapping[str, ComparisonBenchmark] = {
    "blocks_construction": ConstructionBenchmark(),
    "blocks_cooking": CookingBenchmark(),
    "blocks_crafting": CraftingBenchmark(),
    "blocks_gather": GatherBenchmark(),
    "blocks_kitchen": KitchenBenchmark(),
}
