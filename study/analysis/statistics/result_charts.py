"""Define the charts of an analysis as data that `kitchen.charts` can draw.

The charts of a measure show the conditions' means, single participants, and means by position in the order of
play. Each questionnaire scale has a chart of its reliability. The chart of means corresponds to Figure 5 of
the MindAgent paper (arXiv 2309.09971).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kitchen.charts.chart_data import Axis, Bracket, Cell, Chart, Panel, Point, Series
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
from study.analysis.statistics.run_analysis import PAIR_NAMES, DecidedPair, MeasureResult
from study.analysis.statistics.verdicts import carried_pairs, carries_pairs, short_verdict
from study.analysis.statistics.within.result_types import Effect, MixedModel, Reliability, ScaleResult, Term

DESCRIPTIVE_COLUMNS = ("n", "mean", "sd", "ci_low", "ci_high")


def labels(result: MeasureResult) -> tuple[str, ...]:
    """Return the labels of the conditions of this measure."""
    return tuple(condition.label for condition in result.table.conditions)


def value_axis(result: MeasureResult) -> Axis:
    """Return the axis of the measure's values."""
    low, high = axis_bounds(result)
    return Axis(value_axis_title(result.measure), low, high, whole=result.measure.kind in {"count", "likert"})


ROOM = 0.04
"""The least space between the drawn values and an end without a bound, as a share of the values' range. So no
point is drawn on the edge."""


def axis_bounds(result: MeasureResult) -> tuple[float, float]:
    """Return the lower and upper end of the value axis. They are the bounds of the scale. If the scale has
    no bound on one side, that end is a round number beyond all drawn values."""
    low, high = result.measure.low, result.measure.high
    if low is not None and high is not None:
        return low, high
    drawn = [end for d in result.descriptions for end in _reach(d) if end is not None]
    bottom = low if low is not None else min([*drawn, 0.0 if high is None else high - 1])
    top = high if high is not None else max([*drawn, bottom + 1])
    room = ROOM * (top - bottom)
    floor, ceiling = round_axis_ends(bottom - room, top + room)
    return low if low is not None else floor, high if high is not None else ceiling


def _reach(description: Description) -> tuple[float | None, ...]:
    """Return the minimum, the lower end of the interval, the maximum, and its upper end, for a condition. The
    chart must show all four."""
    return description.minimum, description.ci_low, description.maximum, description.ci_high


def descriptive_cells(d: Description) -> tuple[Cell, ...]:
    """Return the values for the columns DESCRIPTIVE_COLUMNS of a table."""
    return d.n, d.mean, d.sd, d.ci_low, d.ci_high


def mean_words(d: Description) -> str:
    """Return a mean as text: "mean 3.50 [2.47, 4.53], n = 12"."""
    return f"mean {format_number(d.mean)} {format_interval(d.ci_low, d.ci_high)}, n = {d.n}"


def position_chart(result: MeasureResult) -> Chart:
    """Return a chart of the means by position in the order of play, over all conditions and for each one.

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
    """Return a copy of the table with positions (in the order of play) instead of conditions."""
    there = sorted({row.order_position for row in table.observations})
    rows = tuple(replace(row, condition=str(row.order_position)) for row in table.observations)
    return MeasureTable(table.measure, tuple(AnalysisCondition(str(n), f"{n}.", n) for n in there), rows)


def _over_positions(name: str, place: int | None, found: Sequence[Description]) -> Series:
    points = []
    for d in found:
        if d.mean is not None:
            ends = (d.ci_low, d.ci_high) if place is None else (None, None)
            words = f"{name}, position {d.condition.key}: {mean_words(d)}"
            points.append(Point(int(d.condition.key), d.mean, *ends, words))
    return Series(name, "lines" if place is None else "dashed", tuple(points), place)


def _order_effects(result: MeasureResult) -> str:
    """Return the mixed model's tests of position and carry-over effects. Effects that could not be
    estimated are left out."""
    mixed = result.within.mixed if result.within else None
    if not isinstance(mixed, MixedModel):
        return ""
    said = [
        f"{TERMS[e.term]}: F({e.df}, {format_number(e.df_error, 1)}) = {format_number(e.f)}, {format_p(e.p)}."
        for e in mixed.effects
        if isinstance(e, Effect) and e.term in TERMS
    ]
    return " ".join(["Mixed model:", *said]) if said else ""


TERMS: dict[Term, str] = {"position": "Position", "carry_over": "Carry-over"}


def _positions_words(result: MeasureResult, over_all: Sequence[Description]) -> str:
    said = "; ".join(f"position {d.condition.key} {mean_words(d)}" for d in over_all if d.mean is not None)
    what = f"{result.measure.label} over the order of play: {said or 'no values'}."
    return f"{what} {_order_effects(result)}".strip()


ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


def reliability_chart(scales: Sequence[ScaleResult], *, synthetic: bool = False) -> Chart:
    """Return a chart of one scale: Cronbach's alpha with its interval, and McDonald's omega.

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
    """Return the bar chart of means by condition, in the style of the paper's Figure 5. It has 95 %
    intervals, a dot for each participant, and brackets over pairs that differ by the test that decides."""
    return replace(
        _means_chart(result, carried_pairs(result), result.decided_by),
        words=means_words(result, carried_pairs(result)),
    )


def means_words(result: MeasureResult, pairs: Sequence[DecidedPair]) -> str:
    """Return the description of a chart of means, with the pairs that differ. If the deciding test compares
    no pairs, its verdict is there instead."""
    verdict = "" if carries_pairs(result) else short_verdict(result)
    return describe_figure(result, pairs, verdict).removeprefix("Synthetic data. ")


def replication_chart(result: MeasureResult) -> Chart:
    """Return the bar chart of means with brackets over the pairs of the replication (Tukey's HSD)."""
    pairs = [DecidedPair(one.first, one.second, one.p) for one in result.tukey_pairs]
    chart = _means_chart(result, pairs, PAIR_NAMES["one_way"])
    return replace(
        chart, key=f"{chart.key}_replication", title=f"{chart.title}, the replication of the paper's analysis"
    )


def _means_chart(result: MeasureResult, pairs: Sequence[DecidedPair], test: str) -> Chart:
    result = result.where_measured()
    places = {condition: place for place, condition in enumerate(result.table.conditions)}
    series = [one for place, d in enumerate(result.descriptions) for one in _bar(result, place, d)]
    brackets = (Bracket(places[p.first], places[p.second], format_p(p.p)) for p in bracketed_pairs(pairs))
    note = "Bars: means. Lines: 95% CI of the mean. Dots: participants."
    return Chart(
        key=f"{result.measure.key}",
        title=result.measure.label,
        x=condition_axis(result),
        y=value_axis(result),
        panels=(Panel(tuple(series), brackets=tuple(brackets)),),
        under=describe_participants(result),
        note=f"{note} {bracket_note(pairs, f'{test}, p < .05')}".strip(),
        words=describe_figure(result, pairs).removeprefix("Synthetic data. "),
        head=("condition", *DESCRIPTIVE_COLUMNS),
        rows=tuple((d.condition.label, *descriptive_cells(d)) for d in result.descriptions),
        synthetic=result.synthetic,
    )


def condition_axis(result: MeasureResult) -> Axis:
    """Return the axis of the conditions, with the number of values and the co-players below each name."""
    across = "Condition, and who played beside the participants" if result.players else "Condition"
    return Axis.of_names(across, labels(result), below=_texts_below(result))


def _texts_below(result: MeasureResult) -> tuple[str, ...]:
    """Return the texts below the bars of the chart, one for each condition: the number of values, and the
    names of the co-players."""
    players = [wrap_text(one.short, 17) for one in result.players] or [""] * len(result.descriptions)
    return tuple(f"n = {d.n}\n{who}".strip() for d, who in zip(result.descriptions, players, strict=True))


def _bar(result: MeasureResult, place: int, d: Description) -> list[Series]:
    if d.mean is None:
        return []
    rows = [r for r in result.table.observations if r.condition == d.condition.key]
    values = [(row.participant, row.value) for row in rows if row.value is not None]
    shifts = spread_points([value for _, value in values], *axis_bounds(result))
    dots = tuple(
        Point(place + shift, value, words=f"{who}: {format_number(value)}")
        for (who, value), shift in zip(values, shifts, strict=True)
    )
    name = d.condition.label
    bar = Point(place, d.mean, d.ci_low, d.ci_high, f"{name}: {mean_words(d)}")
    return [
        Series(name, "bars", (bar,), place, listed=False),
        Series(name, "dots", dots, place, listed=False),
    ]


def participants_chart(result: MeasureResult) -> Chart:
    """Return a chart with each participant as a thin line over the conditions.

    The means have within-participant intervals. Brackets mark pairs that differ by the test that decides.
    """
    result = result.where_measured()
    people, pairs = _people(result), _differing(result)
    lines = [_thread(result, who, values) for who, values in people.items()]
    thick = "Thick lines" if result.table.between else "Thick line"
    note = f"Thin lines: participants. {thick}: {_thick(result)}."
    return Chart(
        key=f"{result.measure.key}_participants",
        title=f"{result.measure.label}, each participant",
        x=Axis.of_names("Condition", labels(result)),
        y=value_axis(result),
        panels=(Panel((*lines, *_mean_lines(result)), brackets=bracketed_pairs(pairs)),),
        under=describe_participants(result),
        note=f"{note} {bracket_note(pairs, f'{result.decided_by}, p < .05')}".strip(),
        words=_participants_words(result, pairs),
        head=("participant", *labels(result)),
        rows=tuple(
            (who, *(values.get(condition.key) for condition in result.table.conditions))
            for who, values in people.items()
        ),
        synthetic=result.synthetic,
    )


def _thick(result: MeasureResult) -> str:
    """Return the part of the subtitle about the thick line of means. It says whose means are shown, and with
    which intervals."""
    found = [one for c in result.table.conditions if (one := result.interval(c))]
    if not found:
        return "means with 95% CI of the mean"
    if result.table.between:
        return "means by group with 95% CI within participants (Cousineau and Morey)"
    gaps = len(_people(result)) > found[0].n
    whose = f" of the {found[0].n} who have a value in every condition," if gaps else ""
    return f"means{whose} with 95% CI within participants (Cousineau and Morey)"


def _people(result: MeasureResult) -> dict[str, dict[str, float]]:
    """Return each participant's values, as a mapping from participant to condition to value."""
    found: dict[str, dict[str, float]] = {}
    for row in sorted(result.table.observations, key=lambda row: row.participant):
        if row.value is not None:
            found.setdefault(row.participant, {})[row.condition] = row.value
    return found


def _thread(result: MeasureResult, who: str, values: Mapping[str, float]) -> Series:
    """Return the thin chart line of one participant. `values` are the participant's values by condition. The
    line is not in the legend."""
    points = tuple(
        Point(place, values[c.key], words=f"{who}, {c.label}: {format_number(values[c.key])}")
        for place, c in enumerate(result.table.conditions)
        if c.key in values
    )
    return Series(who, "threads", points, colour=None, listed=False)


def _mean_lines(result: MeasureResult) -> list[Series]:
    """Return the chart's lines of means. There is one line, or one for each group in a design with
    between-subjects groups."""
    between = result.table.between
    if between is None:
        return [_mean_line(result, {c.key for c in result.table.conditions})]
    return [
        replace(_mean_line(result, between.conditions_of(group)), name=group, colour=number, listed=True)
        for number, group in enumerate(between.groups)
    ]


def _mean_line(result: MeasureResult, keys: Collection[str]) -> Series:
    """Return the chart line that connects the means of the conditions `keys`."""
    points = []
    for place, d in enumerate(result.descriptions):
        if d.mean is not None and d.condition.key in keys:
            within = result.interval(d.condition)
            mean, low, high = (
                (within.mean, within.low, within.high) if within else (d.mean, d.ci_low, d.ci_high)
            )
            words = f"{d.condition.label}: mean {format_number(mean)} {format_interval(low, high)}"
            points.append(Point(place, mean, low, high, words))
    return Series("Mean", "lines", tuple(points), 4, listed=False)


def _differing(result: MeasureResult) -> tuple[Bracket, ...]:
    """Return the brackets for pairs of conditions that differ by the test that decides."""
    places = {condition: place for place, condition in enumerate(result.table.conditions)}
    ends = ((one, sorted((places[one.first], places[one.second]))) for one in carried_pairs(result))
    return tuple(Bracket(left, right, format_p(one.p)) for one, (left, right) in ends)


def _participants_words(result: MeasureResult, brackets: Sequence[Bracket]) -> str:
    names = labels(result)
    listed = "; ".join(f"{names[one.left]} and {names[one.right]}, {one.words}" for one in brackets)
    said = unbracketed_note(brackets, "the table of all pairs and in tests.csv") or listed
    points = dict.fromkeys(point.words for line in _mean_lines(result) for point in line.points)
    means = "; ".join(points) or "no values"
    people = counted_noun(len(_people(result)), "participant")
    found = f"Pairs that differ ({result.decided_by}), p < .05: {said or 'none'}"
    verdict = found if carries_pairs(result) else f"The deciding test: {short_verdict(result)}"
    return f"{result.measure.label} of {people} over the conditions. {means}. {_rises(result)}{verdict}."


def _rises(result: MeasureResult) -> str:
    """Return a sentence that says for how many participants the value rises from the first condition to the
    last. Only conditions with values count. The sentence may be empty."""
    with_values = [c for c in result.table.conditions if result.table.values(c.key)]
    if len(with_values) < 2:
        return ""
    first, last = with_values[0], with_values[-1]
    both = [values for values in _people(result).values() if {first.key, last.key} <= values.keys()]
    higher = sum(values[last.key] > values[first.key] for values in both)
    lower = sum(values[last.key] < values[first.key] for values in both)
    if not both:
        return ""
    return f"From {first.label} to {last.label} {higher} of {len(both)} rise and {lower} fall. "
