"""The sub-scales of a design: which items make one, and by what formula they become one number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.world import Json
from study.design.questions.fields import ItemPlan
from study.design.questions.instruments import instruments
from study.design.questions.kinds import SCALED
from study.design.questions.scoring import SCORES, ScoringError, scale_problem, scale_score


class SubScale(NamedTuple):
    """One sub-scale of a design, ready to be scored."""

    name: str
    items: tuple[ItemPlan, ...]
    formula: str
    """One of `scoring.SCORES`."""

    @property
    def label(self) -> str:
        """The formula in words."""
        return SCORES[self.formula].label

    @property
    def problem(self) -> str:
        """Why its items make no score; empty if they make one."""
        return scale_problem(self.items, self.formula)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score; ScoringError if its items make none."""
        return SCORES[self.formula].ends(self.items)

    def score(self, values: Mapping[str, Json]) -> float | None:
        """Of answers by item key; None if one is missing, or if such items or answers make no score."""
        try:
            return scale_score(self.items, values, self.formula).value
        except ScoringError:
            return None


def subscales(items: Sequence[ItemPlan]) -> Iterator[SubScale]:
    """Every sub-scale that the items name, in the order of first items."""
    by_name: dict[str, list[ItemPlan]] = defaultdict(list)
    for item in items:
        if item.scale and item.kind in SCALED and item.correct is None:
            by_name[item.scale].append(item)
    for name, members in by_name.items():
        yield SubScale(name, tuple(members), _formula(members))


def _formula(items: Sequence[ItemPlan]) -> str:
    """As the instrument says that these items come from, else their mean."""
    keys = {item.key for item in items}
    known = (one.score for one in instruments() if keys <= {item.key for item in one.items})
    return next(known, "mean")
