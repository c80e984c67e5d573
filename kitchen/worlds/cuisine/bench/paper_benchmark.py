"""Define the benchmark of MindAgent's paper in CuisineWorld: levels, order intervals, agent variants.

Results are compared with the numbers of orders that the paper published (Tables 3 to 8).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar

from kitchen.contract.benchmark import (
    BenchmarkVariant,
    CompletionBenchmark,
    Optimum,
    OptimumCase,
    OrderCounts,
    ScoreBound,
    TurnCommands,
)
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.bench import exact_optimum
from kitchen.worlds.cuisine.bench.upper_bounds import EPISODE_STEPS, cell_bound
from kitchen.worlds.cuisine.settings import PROCEDURAL
from kitchen.worlds.cuisine.world import CuisineWorld

DATA = Path(__file__).with_name("data") / "mindagent.json"

ABLATION_TABLE, DEMONSTRATION_TABLE = "ablation_2_agents_level_3", "demo_agents_level_3"


@cache
def published_data() -> Json:
    """Return the paper's numbers from `mindagent.json`."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def published_levels() -> tuple[str, ...]:
    """Return the codes of the 12 levels of Tables 3 to 5 in the paper's order, easiest class first."""
    return tuple(f"level_{number}" for numbers in published_data()["classes"].values() for number in numbers)


def _by_alpha(counts: Sequence[Sequence[int]]) -> dict[float, OrderCounts]:
    pairs = zip(published_data()["alphas"], counts, strict=False)
    return {alpha: (completed, total) for alpha, (completed, total) in pairs}


ABLATION_VARIANTS: tuple[tuple[str, str, Mapping[str, Json]], ...] = (
    ("full", "full", {}),
    ("few_step_demo", "few-step demonstration", {"demonstration": "few"}),
    ("no_inference_knowledge", "no inference knowledge", {"hints": False}),
    ("no_feedback", "no feedback", {"feedback": False}),
)
"""The rows of Table 7: code, label, and the dispatcher's settings."""
DEMONSTRATION_TEAMS = ((4, 4), (4, 2), (3, 3), (3, 2))
"""The rows of Table 8: number of agents, and number of agents in the demonstration."""


class CuisineBenchmark(CompletionBenchmark):
    """The levels, order intervals and tables of the paper."""

    steps: ClassVar[int] = EPISODE_STEPS
    agents: ClassVar[tuple[int, ...]] = (2, 3, 4)
    alphas: ClassVar[tuple[float, ...]] = (1.0, 1.5, 2.0, 2.5, 3.0)
    coplayer: ClassVar[str] = "planner"
    preset_coplayer: ClassVar[str] = "dispatcher"
    preset_level: ClassVar[str] = "level_3"
    presets: ClassVar[Mapping[str, tuple[int, ...]]] = {"table6": (), "table7": (2,), "table8": (3, 4)}
    counted: ClassVar[str] = "orders"
    bound_told: ClassVar[str] = "kitchen/worlds/cuisine/bench/upper_bounds.py"

    def levels(self) -> tuple[str, ...]:
        """Return the codes of all levels that have a file. Levels generated from a seed are not included."""
        setting = next(each for each in CuisineWorld.settings if each.name == "level")
        return tuple(code for code, _ in setting.choices if code != PROCEDURAL)

    def usual_levels(self) -> tuple[str, ...]:
        """Return the codes of the paper's 12 levels."""
        return published_levels()

    def class_of(self, level: str) -> str:
        """Return the paper's difficulty class of a level; empty if the paper does not use the level."""
        classes = published_data()["classes"].items()
        return next((name for name, numbers in classes if level in [f"level_{n}" for n in numbers]), "")

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings for this level, order interval factor (alpha) and number of steps."""
        return {"level": level, "alpha": alpha, "max_steps": steps}

    def preset(
        self, name: str, agents: Sequence[int], models: Sequence[str]
    ) -> Iterator[tuple[BenchmarkVariant, int]]:
        """Yield (variant, number of agents) for each row of `table6`, `table7` or `table8`.

        `agents` and `models` are the numbers and names to compare in `table6`. The other tables ignore them.
        """
        if name == "table6":
            for number, model in product(agents, models):
                yield BenchmarkVariant(model, model, {"model": model}), number
        elif name == "table7":
            for row, label, settings in ABLATION_VARIANTS:
                yield BenchmarkVariant(row, label, settings, (ABLATION_TABLE, row)), 2
        else:
            for number, shown in DEMONSTRATION_TEAMS:
                row, label = f"{number}_with_{shown}", f"{number} agents, demonstration of {shown}"
                settings = {"demonstration_agents": shown}
                yield BenchmarkVariant(row, label, settings, (DEMONSTRATION_TABLE, row)), number

    def published(self, level: str, agents: int, row: tuple[str, str] | None) -> Mapping[float, OrderCounts]:
        """Return the published order counts by interval factor (alpha); empty if there are none.

        `row` names a table and one of its rows (Table 7 or 8). If `row` is None, return GPT-4's counts for
        the level (Tables 3 to 5).
        """
        if row:
            table, name = row
            return _by_alpha(published_data()[table][name])
        return _by_alpha(published_data()["gpt4"].get(str(agents), {"cells": {}})["cells"].get(level, ()))

    def other_models(self, agents: int) -> Mapping[str, Mapping[float, OrderCounts]]:
        """Return the order counts of each model in Table 6, by interval factor (alpha)."""
        models = published_data()["other_models_level_3"].items()
        return {model: _by_alpha(counts.get(str(agents), ())) for model, counts in models}

    def bound(self, level: str, alpha: float, agents: int, seeds: Iterable[int]) -> ScoreBound:
        """Return the upper bound on completed orders over these seeds (see `upper_bounds`)."""
        return cell_bound(level, alpha, agents, seeds)

    def check_solver(self) -> None:
        """Raise NoSolverError if OR-tools, an optional package, is not installed."""
        exact_optimum.load_solver()

    def optimum(self, case: OptimumCase, seconds: float) -> Optimum:
        """Return the best plan that the solver finds for the case within `seconds`."""
        return exact_optimum.solve_case(case, seconds)

    def replay(self, case: OptimumCase, turns: Sequence[TurnCommands]) -> int:
        """Play these commands in the game, and return the number of completed orders."""
        return exact_optimum.replay_plan(case, turns)


CUISINE_BENCHMARK = CuisineBenchmark()
