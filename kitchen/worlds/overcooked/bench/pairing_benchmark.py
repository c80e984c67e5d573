"""Compare every pair of Overcooked partners, in both seats, beside ProAgent's Table 1 as printed."""

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
    """Mean points, and what stands behind the ± in the paper, which calls it two things."""

    points: float
    spread: float


@cache
def published_data() -> Json:
    """The data file."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def published_means(layout: str, seat: int) -> dict[str, PublishedMean]:
    """Every algorithm in this seat of a layout, beside all the others; nothing where the paper has none."""
    cells = published_data()["points"].get(layout, {}).get(str(seat), ())
    return {
        name: PublishedMean(*cell) for name, cell in zip(published_data()["algorithms"], cells, strict=False)
    }


class PartnerBenchmark(PairingBenchmark):
    """Layouts as levels, points as the figure."""

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
        """Every layout that ships."""
        return tuple(shipped_layouts())

    def usual_levels(self) -> tuple[str, ...]:
        """The papers' five."""
        return CLASSIC_LAYOUTS

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Layout and length, and the cooking that the layout needs."""
        layout: Layout = shipped_layouts()[level]
        cooking: dict[str, Json] = {"cooking": COOKING_INTERACT} if layout.has_tomatoes else {}
        return {"layout": level, "ticks": steps, **cooking}

    def kinds(self) -> tuple[str, ...]:
        """Those of the house; a script says nothing of itself."""
        return ("stay", "random", "greedy", "grid_planner", "proagent", "skill_dispatcher")

    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """Table 1."""
        return {
            name: PublishedValue(cell.points, cell.spread)
            for name, cell in published_means(level, seat).items()
        }


PAIRING_BENCHMARK = PartnerBenchmark()
