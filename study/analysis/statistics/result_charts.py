"""Build the figures of an analysis as data.

Each measure has charts of its means, participants and order of play; each scale has one of its reliability.
`means` is Figure 5 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kitchen.charts.chart_data import Axis, Bracket, Cell, Chart, MarkKind, Panel, Point, Series
from kitchen.charts.chart_style import round_axis_ends, spread_points, wrap_text
from kitchen.words.english_text import counted_noun
from study.analysis.statistics.anova_and_tukey import Description, describe
from study.analysis.statistics.apa_format import format_interval, format_number, format_p, format_share
from study.analysis.statistics.observations import AnalysisCondition, MeasureTable
from study.analysis.statistics.result_sentences import (
    bracket_note,
    bracketed_pairs,
    describe_figure,
    describe_participants,
    unbracketed_note,
    value_axis_title,
)
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.within.result_types import Contrast, MixedModel, Reliability, ScaleResult, Term

DESCRIPTIVE_COLUMNS = ("n", "mean", "sd", "ci_low", "ci_high")


def labels(result: MeasureResult) -> tuple[str, ...]:
    """Return the labels of the conditions."""
    return tuple(condition.label for condition in result.table.conditions)


def value_axis(result: MeasureResult) -> Axis:
    """Return the axis of the measure's values."""
    low, high = axis_bounds(result)
    return Axis(value_axis_title(result.measure), low, high, whole=result.measure.kind in {"count", "likert"})


def axis_bounds(result: MeasureResult) -> tuple[float, float]:
    """Return the ends of the value axis: the scale's bounds, or where open, enough for all that is drawn."""
    low, high = result.measure.low, result.measure.high
    if low is not None and high is not None:
        return low, high
    drawn = [end for d in result.descriptions for end in _reach(d) if end is not None]
    bottom = low if low is not None else min([*drawn, 0.0 if high is None else high - 1])
    top = high if high is not None else max([*drawn, bottom + 1])
    floor, ceiling = round_axis_ends(bottom, top)
    return low if low is not None else floor, high if high is not None else ceiling


def _reach(description: Description) -> tuple[float | None, ...]:
    """Return all values drawn for a condition."""
    return description.minimum, description.ci_low, description.maximum, description.ci_high


def descriptive_cells(d: Description) -> tuple[Cell, ...]:
    """Return the values of DESCRIPTIVE_COLUMNS."""
    return d.n, d.mean, d.sd, d.ci_low, d.ci_high


def mean_words(d: Description) -> str:
    """Format a mean: "mean 3.50 [2.47, 4.53], n = 12"."""
    return f"mean {format_number(d.mean)} {format_interval(d.ci_low, d.ci_high)}, n = {d.n}"


def position_chart(result: MeasureResult) -> Chart:
    """Chart the means by position in the order of play, over all conditions and for each one.

    It shows effects of learning and fatigue.
    """
    result = result.where_measured()
    tables: list[tuple[str, int | None, MeasureTable]] = [
        ("All conditions", None, _by_position(result.table))
    ]
    for place, condition in enumerate(result.table.conditions):
        rows = tuple(row for row in result.table.observations if row.condition == condition.key)
        tables.append((condition.label, place, _by_position(replace(result.table, observations=rows))))
    found = [(name, place, describe(table)) for name, place, table in tables]
    last = max((row.order_position for row in result.table.observations), default=1)
    return Chart(
        key=f"{result.measure.key}_positions",
        title=f"{result.measure.label} over the order of play",
        x=Axis("Position in the order", 0.6, last + 0.4, ticks=tuple(float(n) for n in range(1, last + 1))),
        y=value_axis(result),
        panels=(Panel(tuple(_over_positions(*one) for one in found if one[2])),),
        under=describe_participants(result),
        note=f"Thick line: all conditions, with 95% CI of the mean. {_order_effects(result)}".strip(),
        words=_positions_words(result, found[0][2]),
        head=("condition", "position", *DESCRIPTIVE_COLUMNS),
        rows=tuple((name, int(d.condition.key), *descriptive_cells(d)) for name, _, ds in found for d in ds),
        synthetic=result.synthetic,
    )


def _by_position(table: MeasureTable) -> MeasureTable:
    """Return the same values with positions in place of conditions."""
    there = sorted({row.order_position for row in table.observations})
    rows = tuple(replace(row, condition=str(row.order_position)) for row in table.observations)
    return MeasureTable(table.measure, tuple(AnalysisCondition(str(n), f"{n}.", n) for n in there), rows)


def _over_positions(name: str, place: int | None, found: Sequence[Description]) -> Series:
    points = tuple(
        Point(
            int(d.condition.key),
            d.mean,
            d.ci_low if place is None else None,
            d.ci_high if place is None else None,
            f"{name}, position {d.condition.key}: {mean_words(d)}",
        )
        for d in found
        if d.mean is not None
    )
    return Series(name, "lines" if place is None else "dashed", points, None if place is None else place)


def _order_effects(result: MeasureResult) -> str:
    """Return the mixed model's tests of position and carry-over, if identified."""
    mixed = result.within.mixed if result.within else None
    if not isinstance(mixed, MixedModel):
        return ""
    terms: tuple[tuple[str, Term], ...] = (("Position", "position"), ("Carry-over", "carry_over"))
    effects = [(name, mixed.effect(term)) for name, term in terms]
    said = [
        f"{name}: F({e.df}, {format_number(e.df_error, 1)}) = {format_number(e.f)}, {format_p(e.p)}."
        for name, e in effects
        if e is not None
    ]
    return " ".join(["Mixed model:", *said]) if said else ""


def _positions_words(result: MeasureResult, over_all: Sequence[Description]) -> str:
    said = "; ".join(f"position {d.condition.key} {mean_words(d)}" for d in over_all if d.mean is not None)
    what = f"{result.measure.label} over the order of play: {said or 'no values'}."
    return f"{what} {_order_effects(result)}".strip()


ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


def reliability_chart(scales: Sequence[ScaleResult], *, synthetic: bool = False) -> Chart:
    """Chart Cronbach's alpha with its interval and McDonald's omega of one scale.

    There is one entry for each condition, and one for participants' means over all conditions.
    """
    computed = [(place, one.found) for place, one in enumerate(scales) if isinstance(one.found, Reliability)]
    names = tuple(one.place for one in scales)
    lowest = min([0.0, *(found.alpha_low for _, found in computed)])
    alpha = tuple(
        Point(place, one.alpha, one.alpha_low, one.alpha_high, f"{names[place]}: {_alpha_words(one)}")
        for place, one in computed
    )
    omega = tuple(
        Point(place + 0.16, one.omega, words=f"{names[place]}: ω = {format_share(one.omega)}")
        for place, one in computed
        if one.omega is not None
    )
    return Chart(
        key=f"{scales[0].scale}_reliability",
        title=f"Reliability of {scales[0].label}",
        x=Axis.of_names("Condition", names),
        y=Axis("Reliability", max(lowest, -1.0), 1.0),
        panels=(
            Panel(
                (Series(f"Cronbach's {ALPHA}", "dots", alpha, 4), Series("McDonald's ω", "dots", omega, 5))
            ),
        ),
        note=f"Lines: 95% CI of {ALPHA}.",
        words=_reliability_words(scales, names),
        head=("condition", "n", "items", "alpha", "alpha_low", "alpha_high", "omega", "not_computable"),
        rows=tuple((name, *_reliability_row(one)) for name, one in zip(names, scales, strict=True)),
        synthetic=synthetic,
    )


def _alpha_words(one: Reliability) -> str:
    return (
        f"{ALPHA} = {format_share(one.alpha)} [{format_share(one.alpha_low)}, {format_share(one.alpha_high)}]"
    )


def _reliability_words(scales: Sequence[ScaleResult], names: Sequence[str]) -> str:
    said = [
        f"{name} {_alpha_words(one.found)}" if isinstance(one.found, Reliability) else f"{name} {one.found}"
        for name, one in zip(names, scales, strict=True)
    ]
    return f"Reliability of {scales[0].label}: {'; '.join(said)}."


def _reliability_row(one: ScaleResult) -> tuple[Cell, ...]:
    found = one.found
    if not isinstance(found, Reliability):
        return (None,) * 6 + (found.because,)
    return found.n, found.items, found.alpha, found.alpha_low, found.alpha_high, found.omega, None


def means_chart(result: MeasureResult) -> Chart:
    """Chart Figure 5 of the paper: bars with 95 % intervals, dots for participants, brackets of Tukey's
    HSD."""
    result = result.where_measured()
    places = {condition: place for place, condition in enumerate(result.table.conditions)}
    series = [one for place, d in enumerate(result.descriptions) for one in _bar(result, place, d)]
    brackets = (
        Bracket(places[p.first], places[p.second], format_p(p.p)) for p in bracketed_pairs(result.brackets)
    )
    note = "Bars: means. Lines: 95% CI of the mean. Dots: participants."
    across = "Condition, and who played beside the participants" if result.players else "Condition"
    return Chart(
        key=f"{result.measure.key}",
        title=result.measure.label,
        x=Axis.of_names(across, labels(result), below=_below(result)),
        y=value_axis(result),
        panels=(Panel(tuple(series), brackets=tuple(brackets)),),
        under=describe_participants(result),
        note=f"{note} {bracket_note(result.brackets, 'Tukey HSD, p < .05')}".strip(),
        words=describe_figure(result).removeprefix("Synthetic data. "),
        head=("condition", *DESCRIPTIVE_COLUMNS),
        rows=tuple((d.condition.label, *descriptive_cells(d)) for d in result.descriptions),
        synthetic=result.synthetic,
    )


def _below(result: MeasureResult) -> tuple[str, ...]:
    """Return for each bar the number of its values, and who the co-players were."""
    players = [wrap_text(one.short, 17) for one in result.players] or [""] * len(result.descriptions)
    return tuple(f"n = {d.n}\n{who}".strip() for d, who in zip(result.descriptions, players, strict=True))


def _bar(result: MeasureResult, place: int, d: Description) -> list[Series]:
    if d.mean is None:
        return []
    rows = [r for r in result.table.observations if r.condition == d.condition.key and r.value is not None]
    values = [row.value for row in rows if row.value is not None]
    shifts = spread_points(values, *axis_bounds(result))
    dots = tuple(
        Point(place + shift, value, words=f"{row.participant}: {format_number(value)}")
        for row, value, shift in zip(rows, values, shifts, strict=True)
    )
    bar = Point(place, d.mean, d.ci_low, d.ci_high, f"{d.condition.label}: {mean_words(d)}")
    name = d.condition.label
    looks: tuple[tuple[MarkKind, tuple[Point, ...]], ...] = (("bars", (bar,)), ("dots", dots))
    return [Series(name, look, points, place, listed=False) for look, points in looks]


def participants_chart(result: MeasureResult) -> Chart:
    """Chart each participant over the conditions as a thin line.

    The means have within-participant intervals, and brackets mark significant paired contrasts (Holm).
    """
    result = result.where_measured()
    lines, pairs = _threads(result), _differing(result)
    note = f"Thin lines: participants. Thick line: {_thick(result)}."
    return Chart(
        key=f"{result.measure.key}_participants",
        title=f"{result.measure.label}, each participant",
        x=Axis.of_names("Condition", labels(result)),
        y=value_axis(result),
        panels=(Panel((*lines, _mean_line(result)), brackets=bracketed_pairs(pairs)),),
        under=describe_participants(result),
        note=f"{note} {bracket_note(pairs, 'paired contrasts after Holm, p < .05')}".strip(),
        words=_participants_words(result, pairs),
        head=("participant", *labels(result)),
        rows=tuple(_participant_row(result, who) for who in _people(result)),
        synthetic=result.synthetic,
    )


def _thick(result: MeasureResult) -> str:
    """Describe whose means are drawn, and with which intervals."""
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
    """Return one line for each participant, not listed in the legend."""
    return [
        Series(
            who,
            "threads",
            tuple(
                Point(place, values[c.key], words=f"{who}, {c.label}: {format_number(values[c.key])}")
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
            words = f"{d.condition.label}: mean {format_number(mean)} {format_interval(low, high)}"
            points.append(Point(place, mean, low, high, words))
    return Series("Mean", "lines", tuple(points), 4, listed=False)


def _differing(result: MeasureResult) -> tuple[Bracket, ...]:
    """Return brackets for the pairs that differ within participants."""
    places = {condition.key: place for place, condition in enumerate(result.table.conditions)}
    found = [one for one in result.within.pairs.computed if one.significant] if result.within else []
    return tuple(_paired_bracket(one, places) for one in found)


def _paired_bracket(one: Contrast, places: dict[str, int]) -> Bracket:
    left, right = sorted(places[key] for key, _ in one.weights)
    return Bracket(left, right, format_p(one.p_adjusted))


def _participants_words(result: MeasureResult, brackets: Sequence[Bracket]) -> str:
    names = labels(result)
    listed = "; ".join(f"{names[one.left]} and {names[one.right]}, {one.words}" for one in brackets)
    said = unbracketed_note(brackets, "the table of all pairs and in tests.csv") or listed
    means = "; ".join(point.words for point in _mean_line(result).points) or "no values"
    people = counted_noun(len(_people(result)), "participant")
    return (
        f"{result.measure.label} of {people} over the conditions. {means}. "
        f"{_rises(result)}Pairs that differ within participants after Holm, p < .05: {said or 'none'}."
    )


def _rises(result: MeasureResult) -> str:
    """Describe how many participants rise from the first condition with values to the last; may be empty."""
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
    MEANS: means_chart,
    "participants": participants_chart,
    "positions": position_chart,
}
"""Figure name → function that makes this chart of a measure."""


def report_charts(results: Sequence[MeasureResult]) -> dict[str, Chart]:
    """Return the charts of these measures that are written as files, by file name."""
    found = {}
    for result in results:
        found[result.figure_name] = means_chart(result)
        if result.threads_name:
            found[result.threads_name] = participants_chart(result)
    return found


def charts_of(analysis: Analysis, of: str) -> dict[str, Chart]:
    """Return all charts of a measure or scale by name; empty if the key is unknown."""
    results = [one for one in analysis.measures if one.measure.key == of]
    found = {name: make(one) for one in results for name, make in OF_MEASURE.items()}
    scales = [one for one in analysis.scales if one.scale == of]
    if scales:
        found[RELIABILITY] = reliability_chart(scales, synthetic=analysis.synthetic)
    return found
