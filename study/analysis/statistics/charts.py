"""The figures of an analysis as data: of each measure its means, its participants and its positions, of each
scale its reliability.

`means` is Figure 5 of the paper (its file is drawn by figures.py); the others are drawn as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kitchen.charts.chart import Axis, Bracket, Cell, Chart, Look, Panel, Point, Series
from kitchen.charts.layout import side_by_side
from kitchen.words.counting import counted
from study.analysis.statistics.analyse import Analysis, MeasureResult
from study.analysis.statistics.bracketing import bracket_note, few, many_words
from study.analysis.statistics.chart_parts import DESCRIBED, bounds, described, labels, mean_words, value_axis
from study.analysis.statistics.chart_positions import positions
from study.analysis.statistics.chart_reliability import reliability
from study.analysis.statistics.describe import Description
from study.analysis.statistics.format import interval, number, p_value
from study.analysis.statistics.within.results import Contrast
from study.analysis.statistics.words import in_words, participants_in


def means(result: MeasureResult) -> Chart:
    """Figure 5 of the paper: bars with 95 % intervals, dots for participants, brackets of Tukey's HSD."""
    result = result.where_measured()
    places = {condition: place for place, condition in enumerate(result.table.conditions)}
    series = [one for place, d in enumerate(result.descriptions) for one in _bar(result, place, d)]
    brackets = (Bracket(places[p.first], places[p.second], p_value(p.p)) for p in few(result.brackets))
    note = "Bars: means. Lines: 95% CI of the mean. Dots: participants."
    return Chart(
        key=f"{result.measure.key}",
        title=result.measure.label,
        x=Axis.of_names("Condition", labels(result)),
        y=value_axis(result),
        panels=(Panel(tuple(series), brackets=tuple(brackets)),),
        under=participants_in(result),
        note=f"{note} {bracket_note(result.brackets, 'Tukey HSD, p < .05')}".strip(),
        words=in_words(result).removeprefix("Synthetic data. "),
        head=("condition", *DESCRIBED),
        rows=tuple((d.condition.label, *described(d)) for d in result.descriptions),
        synthetic=result.synthetic,
    )


def _bar(result: MeasureResult, place: int, d: Description) -> list[Series]:
    if d.mean is None:
        return []
    rows = [r for r in result.table.observations if r.condition == d.condition.key and r.value is not None]
    values = [row.value for row in rows if row.value is not None]
    shifts = side_by_side(values, *bounds(result))
    dots = tuple(
        Point(place + shift, value, words=f"{row.participant}: {number(value)}")
        for row, value, shift in zip(rows, values, shifts, strict=True)
    )
    bar = Point(place, d.mean, d.ci_low, d.ci_high, f"{d.condition.label}: {mean_words(d)}")
    name = d.condition.label
    looks: tuple[tuple[Look, tuple[Point, ...]], ...] = (("bars", (bar,)), ("dots", dots))
    return [Series(name, look, points, place, listed=False) for look, points in looks]


def participants(result: MeasureResult) -> Chart:
    """A thread for each participant over the conditions, the means with the intervals within participants,
    and brackets of the paired contrasts after Holm."""
    result = result.where_measured()
    lines, pairs = _threads(result), _differing(result)
    note = f"Thin lines: participants. Thick line: {_thick(result)}."
    return Chart(
        key=f"{result.measure.key}_participants",
        title=f"{result.measure.label}, each participant",
        x=Axis.of_names("Condition", labels(result)),
        y=value_axis(result),
        panels=(Panel((*lines, _mean_line(result)), brackets=few(pairs)),),
        under=participants_in(result),
        note=f"{note} {bracket_note(pairs, 'paired contrasts after Holm, p < .05')}".strip(),
        words=_participants_words(result, pairs),
        head=("participant", *labels(result)),
        rows=tuple(_participant_row(result, who) for who in _people(result)),
        synthetic=result.synthetic,
    )


def _thick(result: MeasureResult) -> str:
    """Whose means are drawn, and with which intervals."""
    found = [one for c in result.table.conditions if (one := result.interval(c))]
    if not found:
        return "means with 95% CI of the mean"
    gaps = len(_people(result)) > found[0].n
    whose = f" of the {found[0].n} who have a value in every condition," if gaps else ""
    return f"means{whose} with 95% CI within participants (Cousineau and Morey)"


def _people(result: MeasureResult) -> list[str]:
    return sorted({row.participant for row in result.table.observations if row.value is not None})


def _values_of(result: MeasureResult, who: str) -> dict[str, float]:
    rows = result.table.observations
    return {r.condition: r.value for r in rows if r.participant == who and r.value is not None}


def _participant_row(result: MeasureResult, who: str) -> tuple[Cell, ...]:
    values = _values_of(result, who)
    return who, *(values.get(condition.key) for condition in result.table.conditions)


def _threads(result: MeasureResult) -> list[Series]:
    """One for each participant; the legend does not name them."""
    return [
        Series(
            who,
            "threads",
            tuple(
                Point(place, values[c.key], words=f"{who}, {c.label}: {number(values[c.key])}")
                for place, c in enumerate(result.table.conditions)
                if c.key in values
            ),
            colour=None,
            listed=False,
        )
        for who in _people(result)
        for values in [_values_of(result, who)]
    ]


def _mean_line(result: MeasureResult) -> Series:
    points = []
    for place, d in enumerate(result.descriptions):
        if d.mean is not None:
            within = result.interval(d.condition)
            mean, low, high = (
                (within.mean, within.low, within.high) if within else (d.mean, d.ci_low, d.ci_high)
            )
            words = f"{d.condition.label}: mean {number(mean)} {interval(low, high)}"
            points.append(Point(place, mean, low, high, words))
    return Series("Mean", "lines", tuple(points), 4, listed=False)


def _differing(result: MeasureResult) -> tuple[Bracket, ...]:
    """The pairs that differ within participants."""
    places = {condition.key: place for place, condition in enumerate(result.table.conditions)}
    found = [one for one in result.within.pairs.computed if one.significant] if result.within else []
    return tuple(_paired_bracket(one, places) for one in found)


def _paired_bracket(one: Contrast, places: dict[str, int]) -> Bracket:
    left, right = sorted(places[key] for key, _ in one.weights)
    return Bracket(left, right, p_value(one.p_adjusted))


def _participants_words(result: MeasureResult, brackets: Sequence[Bracket]) -> str:
    names = labels(result)
    listed = "; ".join(f"{names[one.left]} and {names[one.right]}, {one.words}" for one in brackets)
    said = many_words(brackets, "the table of all pairs and in tests.csv") or listed
    means = "; ".join(point.words for point in _mean_line(result).points) or "no values"
    people = counted(len(_people(result)), "participant")
    return (
        f"{result.measure.label} of {people} over the conditions. {means}. "
        f"{_rises(result)}Pairs that differ within participants after Holm, p < .05: {said or 'none'}."
    )


def _rises(result: MeasureResult) -> str:
    """How many rise from the first condition with values to the last; empty where nobody has both."""
    with_values = [c for c in result.table.conditions if result.table.values(c.key)]
    if len(with_values) < 2:
        return ""
    first, last = with_values[0], with_values[-1]
    both = [v for v in (_values_of(result, who) for who in _people(result)) if {first.key, last.key} <= {*v}]
    higher = sum(values[last.key] > values[first.key] for values in both)
    lower = sum(values[last.key] < values[first.key] for values in both)
    if not both:
        return ""
    return f"From {first.label} to {last.label} {higher} of {len(both)} rise and {lower} fall. "


MEANS, RELIABILITY = "means", "reliability"
OF_MEASURE: dict[str, Callable[[MeasureResult], Chart]] = {
    MEANS: means,
    "participants": participants,
    "positions": positions,
}
"""The figures of a measure by name."""


def charts_of(analysis: Analysis, of: str) -> dict[str, Chart]:
    """All figures of a measure or of a scale by name; none where neither has this key."""
    results = [one for one in analysis.measures if one.measure.key == of]
    found = {name: make(one) for one in results for name, make in OF_MEASURE.items()}
    scales = [one for one in analysis.scales if one.scale == of]
    if scales:
        found[RELIABILITY] = reliability(scales, synthetic=analysis.synthetic)
    return found
