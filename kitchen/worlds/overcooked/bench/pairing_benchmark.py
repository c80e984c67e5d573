"""Compare every pair of Overcooked agents, in both seats, with Table 1 of ProAgent's paper as printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from kitchen.contract.benchmark import PairingBenchmark, PublishedValue
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import CLASSIC_LAYOUTS, Layout, shipped_layouts
from kitchen.worlds.overcooked.settings import COOKING_INTERACT

DATA = Path(__file__).with_name("data") / "proagent.json"


class PublishedMean(NamedTuple):
    """Mean points, and the number after ± in the paper, which describes it in two different ways."""

    points: float
    spread: float


@cache
def published_data() -> Json:
    """Return the content of the data file."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def published_means(layout: str, seat: int) -> dict[str, PublishedMean]:
    """Return the mean of every algorithm in this seat over its partners; empty if the paper has none."""
    cells = published_data()["points"].get(layout, {}).get(str(seat), ())
    names = published_data()["algorithms"]
    return {name: PublishedMean(*cell) for name, cell in zip(names, cells, strict=False)}


class PartnerBenchmark(PairingBenchmark):
    """A benchmark with layouts as levels and points as the metric."""

    steps: ClassVar[int] = 400
    coplayer: ClassVar[str] = "grid_planner"
    figure: ClassVar[str] = "points"
    source: ClassVar[str] = (
        "As printed: Table 1 of ProAgent (Zhang et al., AAAI 2024, arXiv 2308.11339; "
        "github.com/PKU-Alignment/ProAgent), played in the grids of Carroll et al. (2019; "
        "github.com/HumanCompatibleAI/overcooked_ai), each algorithm beside all the others, five "
        "episodes of 400 ticks. The paper calls the ± a standard deviation in one place and a "
        "standard error in another. Those partners (SP to COLE) were learned, ProAgent asked "
        "gpt-3.5-turbo-0301; neither can be had any more, and no row of ours stands for one of "
        "theirs."
    )

    def levels(self) -> tuple[str, ...]:
        """Return every shipped layout."""
        return tuple(shipped_layouts())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the five layouts of the papers."""
        return CLASSIC_LAYOUTS

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return layout, length, and the cooking setting that the layout needs."""
        layout: Layout = shipped_layouts()[level]
        cooking: dict[str, Json] = {"cooking": COOKING_INTERACT} if layout.has_tomatoes else {}
        return {"layout": level, "ticks": steps, **cooking}

    def kinds(self) -> tuple[str, ...]:
        """Return the platform's agents; a script is left out because its behaviour is given."""
        return ("stay", "random", "greedy", "grid_planner", "proagent", "skill_dispatcher")

    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """Return the values of Table 1."""
        return {name: PublishedValue(*mean) for name, mean in published_means(level, seat).items()}


PAIRING_BENCHMARK = PartnerBenchmark()
