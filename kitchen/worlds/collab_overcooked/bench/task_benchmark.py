"""Define the benchmark that compares pairs of agents in the 30 tasks of Collab-Overcooked."""

from __future__ import annotations

from typing import ClassVar

from kitchen.contract.benchmark import ComparisonBenchmark
from kitchen.contract.organisation_settings import PAIR
from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked.order_tasks import tasks

USUAL_GAMMA, LONG_GAMMA = 1.5, 2.0
LONG_ENDING = "_gamma_2"
"""Ending of the levels that are played up to twice the optimum, for the success rate by time limit."""


class TaskBenchmark(ComparisonBenchmark):
    """A benchmark whose levels are the 30 tasks. It compares the success rate."""

    steps: ClassVar[int] = 97
    agents: ClassVar[tuple[int, ...]] = (2,)
    coplayer: ClassVar[str] = "recipe_partner"
    figure: ClassVar[str] = "success"
    more_figures: ClassVar[tuple[str, ...]] = (
        "progress_completeness",
        "initiating_capability",
        "responding_capability",
    )
    source: ClassVar[str] = (
        "Tasks and metrics of Collab-Overcooked (Sun et al., ACL 2025; "
        "github.com/YusaeMeow/Collab-Overcooked). The paper prints results by level, not by task: "
        "docs/collab-overcooked.md says how to set them beside ours."
    )
    organisation: ClassVar[str] = PAIR

    def levels(self) -> tuple[str, ...]:
        """Return the level names: each task, then each task with the longer time limit (ending
        `_gamma_2`)."""
        return (*tasks(), *(f"{name}{LONG_ENDING}" for name in tasks()))

    def usual_levels(self) -> tuple[str, ...]:
        """Return the names of the 30 tasks, which are played with the usual time limit (1.5 times the
        optimum) by default."""
        return tuple(tasks())

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings for a level: the task, and the time limit `gamma` as a multiple of
        the optimum."""
        gamma = LONG_GAMMA if level.endswith(LONG_ENDING) else USUAL_GAMMA
        return {"task": level.removesuffix(LONG_ENDING), "gamma": gamma}

    def line_ups(self, seats: int) -> tuple[str, ...]:
        """Return the default line-up: `recipe_partner`, the agent with fixed rules, in both seats."""
        return ("recipe_partner+recipe_partner",)


TASK_BENCHMARK = TaskBenchmark()
