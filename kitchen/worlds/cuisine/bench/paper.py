"""What the paper measured: completed and total orders per interval (Tables 3 to 8)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from kitchen.contract.bench import Counts
from kitchen.contract.world import Json

DATA = Path(__file__).with_name("data") / "mindagent.json"

ABLATION, DEMONSTRATION = "ablation_2_agents_level_3", "demo_agents_level_3"


@cache
def paper() -> Json:
    """The data file."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def levels() -> tuple[str, ...]:
    """The 12 levels of Tables 3 to 5 in the paper's order, easiest class first."""
    return tuple(f"level_{number}" for numbers in paper()["classes"].values() for number in numbers)


def class_of(level: str) -> str:
    """The paper's class of a level, empty for one that it does not have."""
    names = (name for name, numbers in paper()["classes"].items() if level in _codes(numbers))
    return next(names, "")


def gpt4(level: str, agents: int) -> Mapping[float, Counts]:
    """GPT-4 in Tables 3 to 5, by interval; empty where the paper has no such cell."""
    return _by_alpha(paper()["gpt4"].get(str(agents), {"cells": {}})["cells"].get(level, ()))


def row_of(table: str, name: str) -> Mapping[float, Counts]:
    """One row of Table 7 (`ABLATION`) or 8 (`DEMONSTRATION`), by interval."""
    return _by_alpha(paper()[table][name])


def other_models(agents: int) -> dict[str, Mapping[float, Counts]]:
    """Table 6: every model on level_3 with so many agents; empty counts where the paper prints none."""
    models = paper()["other_models_level_3"].items()
    return {model: _by_alpha(counts.get(str(agents), ())) for model, counts in models}


def _codes(numbers: Sequence[int]) -> list[str]:
    return [f"level_{number}" for number in numbers]


def _by_alpha(counts: Sequence[Sequence[int]]) -> dict[float, Counts]:
    pairs = zip(paper()["alphas"], counts, strict=False)
    return {alpha: (completed, total) for alpha, (completed, total) in pairs}
