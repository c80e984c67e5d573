"""Define the chart of a design with several factors: marginal means as lines, and dots for participants.

The factor with the most levels is on the x axis. The levels of a second factor are lines. Combinations of
further factors have one panel each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from kitchen.charts.chart_style import series_dash, spread_points
from study.analysis.statistics.apa_format import format_interval, format_number
from study.analysis.statistics.factorial.factorial_results import MarginalMean
from study.analysis.statistics.factorial.factorial_rows import significant_terms
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.study_factors import AnalysisFactor, StudyFactors
from study.analysis.statistics.result_charts import value_axis
from study.analysis.statistics.result_sentences import describe_participants, main_test_sentence
from study.analysis.statistics.run_analysis import MeasureResult

WIDTH = 0.36
"""The distance on the x axis over which the lines of one position are spread."""
JITTER = 0.3
"""Spread of the dots of one line, as a share of the usual one."""


def has_interaction_chart(result: MeasureResult) -> bool:
    """Return whether a measure has this chart: it has several factors and estimated means."""
    tests = result.factorial
    return tests is not None and len(tests.factors.factors) > 1 and bool(tests.means)


def interaction_chart(result: MeasureResult) -> Chart:
    """Return the chart of the means of all cells, with 95 % intervals and a dot for each value."""
    tests = result.factorial
    assert tests is not None  # noqa: S101 - only measures with factors are asked
    across, lines, panels = _roles(tests.factors)
    means = {one.levels: one for one in _cell_means(tests)}
    values = _values(result, tests.factors)
    names = tests.factors.level_names
    drawn = [
        Panel(
            tuple(_panel_series(tests, across, lines, cell, panels, means, values, value_axis(result))),
            title=tests.factors.level_words(_pairs(panels, cell)),
        )
        for cell in product(*(one.levels for one in panels))
    ]
    return Chart(
        key=f"{result.measure.key}_interaction",
        title=f"{result.measure.label} by {tests.factors.term_words([across.key, lines.key])}",
        x=Axis.of_names(
            tests.factors.names[across.key], tuple(names[across.key][level] for level in across.levels)
        ),
        y=value_axis(result),
        panels=tuple(drawn),
        under=describe_participants(result),
        note=f"Lines: levels of {tests.factors.names[lines.key]}, with estimated marginal means and 95% CI. "
        "Pale dots: values of participants.",
        words=_words(result, tests),
        head=(*(one.key for one in tests.factors.factors), "mean", "se", "df", "ci_low", "ci_high"),
        rows=tuple(
            (*(level for _, level in one.levels), one.mean, one.se, one.df, one.ci_low, one.ci_high)
            for one in _cell_means(tests)
        ),
        synthetic=result.synthetic,
        legend=tests.factors.names[lines.key],
    )


def _roles(factors: StudyFactors) -> tuple[AnalysisFactor, AnalysisFactor, list[AnalysisFactor]]:
    """Return the factor on the x axis, the factor of the lines, and the factors of the panels."""
    ordered = sorted(factors.factors, key=lambda one: -len(one.levels))
    rest = [one for one in factors.factors if one not in ordered[:2]]
    return ordered[0], ordered[1], rest


def _pairs(factors: Sequence[AnalysisFactor], cell: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip((one.key for one in factors), cell, strict=True))


def _cell_means(tests: FactorialTests) -> list[MarginalMean]:
    return tests.means_of([one.key for one in tests.factors.factors])


def _values(
    result: MeasureResult, factors: StudyFactors
) -> Mapping[tuple[tuple[str, str], ...], list[tuple[str, float]]]:
    """Return the (participant, value) pairs of each cell."""
    found: dict[tuple[tuple[str, str], ...], list[tuple[str, float]]] = {}
    for row in result.table.observations:
        cell = factors.cells.get(row.condition)
        if cell is not None and row.value is not None:
            key = tuple((one.key, cell[one.key]) for one in factors.factors)
            found.setdefault(key, []).append((row.participant, row.value))
    return found


def _panel_series(
    tests: FactorialTests,
    across: AnalysisFactor,
    lines: AnalysisFactor,
    cell: Sequence[str],
    panels: Sequence[AnalysisFactor],
    means: Mapping[tuple[tuple[str, str], ...], MarginalMean],
    values: Mapping[tuple[tuple[str, str], ...], list[tuple[str, float]]],
    bounds: Axis,
) -> Iterator[Series]:
    """Yield the series of one panel: for each line, dots of participants and the line of means. `bounds` is
    the axis of the values."""
    names = tests.factors.level_names
    for number, own in enumerate(lines.levels):
        shift = (number - (len(lines.levels) - 1) / 2) * WIDTH / max(len(lines.levels) - 1, 1)
        points, dots = [], []
        for place, level in enumerate(across.levels):
            chosen = dict(_pairs(panels, cell)) | {across.key: level, lines.key: own}
            key = tuple((one.key, chosen[one.key]) for one in tests.factors.factors)
            where = tests.factors.level_words(key)
            own_values = values.get(key, [])
            spread = spread_points([value for _, value in own_values], bounds.low, bounds.high)
            dots += [
                Point(place + shift + JITTER * beside, value, words=f"{who}, {where}: {format_number(value)}")
                for (who, value), beside in zip(own_values, spread, strict=True)
            ]
            if key in means:
                one = means[key]
                told = f"{where}: {format_number(one.mean)} {format_interval(one.ci_low, one.ci_high)}"
                points.append(Point(place + shift, one.mean, one.ci_low, one.ci_high, told))
        yield Series(names[lines.key][own], "faint", tuple(dots), number, listed=False)
        yield Series(names[lines.key][own], "lines", tuple(points), number, dash=series_dash(number))


def _words(result: MeasureResult, tests: FactorialTests) -> str:
    """Return a description of the chart for people who cannot see it."""
    told = "; ".join(
        f"{tests.factors.level_words(one.levels)} {format_number(one.mean)} "
        f"{format_interval(one.ci_low, one.ci_high)}"
        for one in _cell_means(tests)
    )
    found = result.within
    terms = significant_terms(tests, found.main_test, found.over_measures) if found else []
    verdict = f"Effects found: {', '.join(terms)}." if terms else "No effect was found."
    return f"Estimated means of {result.measure.label}: {told}. {verdict} {main_test_sentence(result)}."
