"""Partners side by side: who sits beside whom, and what each comes to over all others, in each seat.

A ± is the standard error of the mean over episodes (n - 1 below the line): 0 where nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from kitchen.contract.together import kinds_of
from kitchen.experiments.results import CellResult


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a figure over some episodes, and its standard error; None where there is none."""

    number: int
    mean: float | None
    error: float | None

    @classmethod
    def of(cls, figures: Sequence[float]) -> Mean:
        """Of these."""
        mean = fmean(figures) if figures else None
        error = stdev(figures) / sqrt(len(figures)) if len(figures) > 1 else None
        return cls(len(figures), mean, error)

    def __str__(self) -> str:
        if self.mean is None:
            return "n/a"
        return f"{self.mean:.1f}" + ("" if self.error is None else f" \N{PLUS-MINUS SIGN} {self.error:.1f}")


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two co-players in one level."""

    level: str
    kinds: tuple[str, ...]
    """By seat."""
    figures: tuple[float, ...]
    """By episode."""

    @property
    def mean(self) -> Mean:
        """Over its episodes."""
        return Mean.of(self.figures)


def pairings_of(results: Sequence[CellResult]) -> list[Pairing]:
    """What an experiment of partners came to, in its order."""
    return [
        Pairing(cell.column.level, kinds_of(cell.column.variant.coplayer), cell.intervals[0].figures)
        for cell in results
    ]


def levels_of(pairings: Sequence[Pairing]) -> list[str]:
    """Their levels, in their order."""
    return list(dict.fromkeys(each.level for each in pairings))


def seated(pairings: Sequence[Pairing], seat: int) -> list[str]:
    """Who sits in this seat somewhere, in their order."""
    return list(dict.fromkeys(each.kinds[seat] for each in pairings))


def over_others(pairings: Sequence[Pairing], level: str, seat: int) -> Iterator[tuple[str, Mean]]:
    """Everybody who sat in this seat of the level beside somebody of another kind, as the paper counts it."""
    for kind in seated(pairings, seat):
        mine = [each for each in pairings if each.level == level and each.kinds[seat] == kind]
        others = [each for each in mine if len(set(each.kinds)) > 1]
        if others:
            yield kind, Mean.of([figure for each in others for figure in each.figures])
