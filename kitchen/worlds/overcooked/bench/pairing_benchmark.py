"""Define the Overcooked benchmark, which lets every pair of agents play and compares their scores.

Each pair plays twice, with exchanged places. Published values come from Table 1 of ProAgent's paper.
"""

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
    """A published mean of points (`points`), and the number after ± in the paper (`spread`). The paper
    describes this number in two different ways."""

    points: float
    spread: float


@cache
def published_data() -> Json:
    """Return the paper's numbers from `proagent.json`."""
    return json.loads(DATA.read_text(encoding="utf-8"))


def published_means(layout: str, seat: int) -> dict[str, PublishedMean]:
    """Return the published mean points of each algorithm that plays in this seat, averaged over its partners.

    Return an empty dict if the paper does not have the layout.
    """
    cells = published_data()["points"].get(layout, {}).get(str(seat), ())
    names = published_data()["algorithms"]
    return {name: PublishedMean(*cell) for name, cell in zip(names, cells, strict=False)}


class PartnerBenchmark(PairingBenchmark):
    """The benchmark of Overcooked. Levels are layouts, and the metric is points."""

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
        """Return the codes of all layouts that come with the project."""
        return tuple(shipped_layouts())

    def usual_levels(self) -> tuple[str, ...]:
        """Return the codes of the five layouts of the papers."""
        return CLASSIC_LAYOUTS

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Return the world's settings for this layout and number of ticks. `alpha` is not used.

        If the layout has tomatoes, the setting `cooking` is `interact`, which such a layout requires.
        """
        layout: Layout = shipped_layouts()[level]
        cooking: dict[str, Json] = {"cooking": COOKING_INTERACT} if layout.has_tomatoes else {}
        return {"layout": level, "ticks": steps, **cooking}

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of agents to compare. `script` is left out, because it plays given commands."""
        return ("stay", "random", "greedy", "grid_planner", "proagent", "skill_dispatcher")

    def printed(self, level: str, seat: int) -> Mapping[str, PublishedValue]:
        """Return the published points of each algorithm for this layout and seat (Table 1); empty if there
        are none."""
        return {name: PublishedValue(*mean) for name, mean in published_means(level, seat).items()}


PAIRING_BENCHMARK = PartnerBenchmark()
