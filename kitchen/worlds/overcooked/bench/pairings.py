"""Partners in the grids side by side: every pair, in both seats, beside ProAgent's Table 1. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kitchen.contract.bench import Pairings, Printed
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.bench import paper
from kitchen.worlds.overcooked.catalogue import CLASSIC, shipped
from kitchen.worlds.overcooked.layout import Layout
from kitchen.worlds.overcooked.options import INTERACT


class Partners(Pairings):
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
        return tuple(shipped())

    def usual_levels(self) -> tuple[str, ...]:
        """The papers' five."""
        return CLASSIC

    def settings(self, level: str, alpha: float, steps: int) -> dict[str, Json]:
        """Layout and length, and the cooking that the layout needs."""
        layout: Layout = shipped()[level]
        cooking: dict[str, Json] = {"cooking": INTERACT} if layout.has_tomatoes else {}
        return {"layout": level, "ticks": steps, **cooking}

    def kinds(self) -> tuple[str, ...]:
        """Those of the house; a script says nothing of itself."""
        return ("stay", "random", "greedy", "grid_planner", "proagent", "skill_dispatcher")

    def printed(self, level: str, seat: int) -> Mapping[str, Printed]:
        """Table 1."""
        return {name: Printed(cell.points, cell.spread) for name, cell in paper.table(level, seat).items()}


PAIRINGS = Partners()
