"""What the figures of measures have in common: axes, cells of the table behind them, words."""

from __future__ import annotations

from kitchen.charts.chart import Axis, Cell
from kitchen.charts.layout import round_ends
from study.analysis.statistics.analyse import MeasureResult
from study.analysis.statistics.describe import Description
from study.analysis.statistics.format import interval, number
from study.analysis.statistics.words import y_title

DESCRIBED = ("n", "mean", "sd", "ci_low", "ci_high")


def labels(result: MeasureResult) -> tuple[str, ...]:
    """The conditions as people call them."""
    return tuple(condition.label for condition in result.table.conditions)


def value_axis(result: MeasureResult) -> Axis:
    """The axis of the measure's values."""
    low, high = bounds(result)
    return Axis(y_title(result.measure), low, high, whole=result.measure.kind in {"count", "likert"})


def bounds(result: MeasureResult) -> tuple[float, float]:
    """The ends of the value axis: the scale's own, or, where that is open, room for all that is drawn."""
    low, high = result.measure.low, result.measure.high
    if low is not None and high is not None:
        return low, high
    drawn = [end for d in result.descriptions for end in _reach(d) if end is not None]
    bottom = low if low is not None else min([*drawn, 0.0 if high is None else high - 1])
    top = high if high is not None else max([*drawn, bottom + 1])
    floor, ceiling = round_ends(bottom, top)
    return low if low is not None else floor, high if high is not None else ceiling


def _reach(description: Description) -> tuple[float | None, ...]:
    """All ends of what is drawn of a condition."""
    return description.minimum, description.ci_low, description.maximum, description.ci_high


def described(d: Description) -> tuple[Cell, ...]:
    """The cells of DESCRIBED."""
    return d.n, d.mean, d.sd, d.ci_low, d.ci_high


def mean_words(d: Description) -> str:
    """As in "mean 3.50 [2.47, 4.53], n = 12"."""
    return f"mean {number(d.mean)} {interval(d.ci_low, d.ci_high)}, n = {d.n}"
