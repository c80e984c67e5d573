"""The items of a scale as they were answered, and how well they go together. Light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from study.analysis.statistics.table import NotComputable

OVER_ALL = "means over conditions"
"""How that place is called of which `where` is empty: what a row has is a person's mean."""


@dataclass(frozen=True, slots=True)
class ScaleAnswers:
    """A scale's items, turned so that more means more; a row for each person who met it there. `where` is the
    label of a condition, or empty for each person's means over all of them."""

    scale: str
    label: str
    where: str
    items: tuple[str, ...]
    rows: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Alpha with its 95 % interval, omega (None for two items, or where no factor can be fitted), and each
    item's correlation with the sum of the others; `incomplete` rows lack an answer and are left out."""

    scale: str
    label: str
    where: str
    n: int
    items: int
    alpha: float
    alpha_low: float
    alpha_high: float
    omega: float | None
    item_rest: tuple[tuple[str, float], ...]
    incomplete: int = 0
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """A scale in one place, and what came out."""

    scale: str
    label: str
    where: str
    found: Reliability | NotComputable

    @property
    def place(self) -> str:
        """Where, in words."""
        return self.where or OVER_ALL
