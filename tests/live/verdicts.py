"""Decide whether a measured value grows with time, and whether the growth is explained. Plain Python.

The slope is that of Theil and Sen: the median of the slopes between all pairs of samples, with a 95 %
interval. Memory grows in jumps, which would distort a least-squares line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from scipy.stats import theilslopes

FEWEST = 5
"""The minimum number of samples for a judgement."""
EVEN = 0.15
"""The largest relative difference of the growth per cause between the halves, up to which growth counts as
explained."""


BAD = {"grows", "restarted", "stalled"}
"""Verdicts that report a fault in any case: growth, a process that came or went, and a period without any
cause of growth."""


@dataclass(frozen=True, slots=True)
class Slope:
    """The growth of a value per hour, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement about one measured value."""

    what: str
    unit: str
    first: float
    last: float
    slope: Slope | None
    """The growth; None if there are too few samples."""
    bound: float
    """The maximum growth per hour."""
    word: str
    """The verdict: flat, explained, falls, unclear, or one of `BAD`."""
    why: str = ""

    @property
    def good(self) -> bool:
        """Return whether nothing needs attention."""
        return self.word in {"flat", "explained", "falls"}

    @property
    def as_json(self) -> dict[str, object]:
        """Return the verdict as JSON."""
        return asdict(self)


def slope_of(minutes: Sequence[float], values: Sequence[float]) -> Slope | None:
    """Return the growth per hour of the values at these minutes."""
    if len(values) < FEWEST:
        return None
    value, _, low, high = theilslopes(values, [minute / 60 for minute in minutes], 0.95)
    return Slope(float(value), float(low), float(high))


def restarted(what: str, there: Sequence[bool]) -> Verdict:
    """Return the verdict for a process that some samples lack."""
    first, last = float(there[0]), float(there[-1])
    why = "it came" if last > first else "it went" if first > last else "it came and went"
    return Verdict(what, "", first, last, None, 0.0, "restarted", why)


def judged(what: str, unit: str, minutes: Sequence[float], values: Sequence[float], bound: float) -> Verdict:
    """Judge the growth: flat if the whole interval is below the bound, growing if the whole interval is above
    it."""
    slope = slope_of(minutes, values)
    first, last = (values[0], values[-1]) if values else (0.0, 0.0)
    return Verdict(what, unit, first, last, slope, bound, _word(slope, bound))


def _word(slope: Slope | None, bound: float) -> str:
    if slope is None:
        return "unclear"
    if slope.high < -bound:
        return "falls"
    if slope.high <= bound:
        return "flat"
    return "grows" if slope.low > bound else "unclear"


def explained(
    what: str,
    unit: str,
    minutes: Sequence[float],
    values: Sequence[float],
    causes: Sequence[float],
    *,
    cause: str,
    most: float,
) -> Verdict:
    """Judge the growth with a cause, which was counted in the same samples.

    Explained: the value grows by the same amount with each cause in both halves, and by `most` at the most.
    Stalled: no cause occurred for a time.
    """
    slope = slope_of(minutes, values)
    first, last = (values[0], values[-1]) if values else (0.0, 0.0)
    if any(later <= earlier for earlier, later in pairwise(causes)):
        return Verdict(what, unit, first, last, slope, 0.0, "stalled", f"there is a time without a {cause}")
    halves = halves_of(values, causes)
    if halves is None:
        return Verdict(what, unit, first, last, slope, 0.0, "unclear", "too few samples")
    whole = (last - first) / (causes[-1] - causes[0])
    even = max(halves) <= (1 + EVEN) * max(min(halves), 0.0)
    early, late = (f"{half:.3g}" for half in halves)
    why = f"{whole:.3g} {unit} for each {cause}; {early} in the first half, {late} in the second"
    return Verdict(
        what, unit, first, last, slope, 0.0, "explained" if even and whole <= most else "grows", why
    )


def halves_of(values: Sequence[float], causes: Sequence[float]) -> tuple[float, float] | None:
    """Return the growth per cause in the first half and in the second; None if there are too few samples. The
    number of causes always grows."""
    middle = len(values) // 2
    if len(values) < FEWEST:
        return None
    return (
        (values[middle] - values[0]) / (causes[middle] - causes[0]),
        (values[-1] - values[middle]) / (causes[-1] - causes[middle]),
    )
