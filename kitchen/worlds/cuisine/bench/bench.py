"""The bench that experiments ask: levels, paces and tables of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from kitchen.contract.bench import Bench, Bound, Case, Counts, Optimum, Turn, Variant
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.bench import optimum, paper
from kitchen.worlds.cuisine.bench.bounds import STEPS, cell_bound
from kitchen.worlds.cuisine.options import PROCEDURAL
from kitchen.worlds.cuisine.world import CuisineWorld

ABLATION: tuple[tuple[str, str, Mapping[str, Json]], ...] = (
    ("full", "full", {}),
    ("few_step_demo", "few-step demonstration", {"demonstration": "few"}),
    ("no_inference_knowledge", "no inference knowledge", {"hints": False}),
    ("no_feedback", "no feedback", {"feedback": False}),
)
"""Table 7: rows, their words, the dispatcher's settings."""
DEMONSTRATIONS = ((4, 4), (4, 2), (3, 3), (3, 2))
"""Table 8: agents, and agents of the demonstration."""


class CuisineBench(Bench):
    """Levels, paces and tables of the paper."""

    steps: ClassVar[int] = STEPS
    agents: ClassVar[tuple[int, ...]] = (2, 3, 4)
    alphas: ClassVar[tuple[float, ...]] = (1.0, 1.5, 2.0, 2.5, 3.0)
    coplayer: ClassVar[str] = "planner"
    preset_coplayer: ClassVar[str] = "dispatcher"
    preset_level: ClassVar[str] = "level_3"
    presets: ClassVar[Mapping[str, tuple[int, ...]]] = {"table6": (), "table7": (2,), "table8": (3, 4)}
    counted: ClassVar[str] = "orders"
    bound_told: ClassVar[str] = "kitchen/worlds/cuisine/bench/bounds.py"

    def levels(self) -> tuple[str, ...]:
        """All but those that are made from a seed."""
        setting = next(each for each in CuisineWorld.settings if each.name == "level")
        return tuple(code for code, _ in setting.choices if code != PROCEDURAL)

    def usual_levels(self) -> tuple[str, ...]:
        """The paper's 12."""
        return paper.levels()

    def class_of(self, level: str) -> str:
        """The paper's."""
        return paper.class_of(level)

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Level, pace and length."""
        return {"level": level, "alpha": alpha, "max_steps": steps}

    def preset(
        self, name: str, agents: Sequence[int], models: Sequence[str]
    ) -> Iterator[tuple[Variant, int]]:
        """Tables 6 to 8."""
        if name == "table6":
            yield from ((Variant(model, model, {"model": model}), n) for n in agents for model in models)
        elif name == "table7":
            for row, label, settings in ABLATION:
                yield Variant(row, label, settings, (paper.ABLATION, row)), 2
        else:
            for number, shown in DEMONSTRATIONS:
                row, label = f"{number}_with_{shown}", f"{number} agents, demonstration of {shown}"
                settings = {"demonstration_agents": shown}
                yield Variant(row, label, settings, (paper.DEMONSTRATION, row)), number

    def published(self, level: str, agents: int, row: tuple[str, str] | None) -> Mapping[float, Counts]:
        """A row of Table 7 or 8, else GPT-4 of Tables 3 to 5."""
        return paper.row_of(*row) if row else paper.gpt4(level, agents)

    def other_models(self, agents: int) -> Mapping[str, Mapping[float, Counts]]:
        """Table 6."""
        return paper.other_models(agents)

    def bound(self, level: str, alpha: float, agents: int, seeds: Iterable[int]) -> Bound:
        """By agent-steps, tools and latency."""
        return cell_bound(level, alpha, agents, seeds)

    def check_solver(self) -> None:
        """OR-tools is an extra."""
        optimum.solver()

    def optimum(self, case: Case, seconds: float) -> Optimum:
        """By CP-SAT."""
        return optimum.solve(case, seconds)

    def replay(self, case: Case, turns: Sequence[Turn]) -> int:
        """Orders completed."""
        return optimum.replay(case, turns)


BENCH = CuisineBench()
