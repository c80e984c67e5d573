"""Define the raincloud chart of a measure: values, box plot, mean and half violin of each condition.

Source of the form: Allen et al. (2021), Raincloud plots, Wellcome Open Research 4:63.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, fsum
from statistics import quantiles, stdev
from typing import NamedTuple

from kitchen.charts.chart_data import Bracket, Chart, Panel, Point, Series
from kitchen.charts.chart_style import spread_points
from study.analysis.statistics.anova_and_tukey import Description
from study.analysis.statistics.apa_format import format_number, format_p
from study.analysis.statistics.result_charts import (
    DESCRIPTIVE_COLUMNS,
    axis_bounds,
    condition_axis,
    descriptive_cells,
    mean_words,
    means_words,
    value_axis,
)
from study.analysis.statistics.result_sentences import bracket_note, bracketed_pairs, describe_participants
from study.analysis.statistics.run_analysis import MeasureResult
from study.analysis.statistics.verdicts import carried_pairs

RAIN, JITTER, BOX, MEAN, CLOUD, HEIGHT = -0.27, 0.5, -0.03, 0.07, 0.14, 0.32
"""Places beside the middle of a condition: the dots with the share of their usual spread, the box, the mean,
and the half violin with its greatest width."""
BOX_WIDTH = 0.15
"""Width of a box as a share of a bar."""
FEWEST = 5
"""Fewest values for a half violin."""
STEPS = 48
"""Points on the outline of a half violin."""
MOST_PEOPLE, MOST_CONDITIONS = 40, 8
"""With more participants or conditions, lines of participants would not be readable."""


class FiveNumbers(NamedTuple):
    """The numbers of a box plot. Whiskers end at the last values within 1.5 interquartile ranges."""

    whisker_low: float
    first_quartile: float
    median: float
    third_quartile: float
    whisker_high: float


def five_numbers(values: Sequence[float]) -> FiveNumbers | None:
    """Return the numbers of the box plot of these values. Return None without values. Quartiles are those of
    R's default (type 7)."""
    if not values:
        return None
    low, median, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    reach = 1.5 * (high - low)
    inside = [one for one in values if low - reach <= one <= high + reach]
    return FiveNumbers(min(inside), low, median, high, max(inside))


def density_outline(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return (value, density) points from the lowest to the highest value. The greatest density is 1.

    The density is a Gaussian kernel estimate with Silverman's bandwidth. The result is empty for fewer than
    `FEWEST` values, or if all are the same.
    """
    found = five_numbers(values)
    if found is None or len(values) < FEWEST or min(values) == max(values):
        return []
    spread = stdev(values)
    quarter = (found.third_quartile - found.first_quartile) / 1.34
    width = 0.9 * (min(spread, quarter) if quarter else spread) * len(values) ** -0.2
    low, step = min(values), (max(values) - min(values)) / (STEPS - 1)
    places = [low + step * number for number in range(STEPS)]
    heights = [fsum(exp(-0.5 * ((at - one) / width) ** 2) for one in values) for at in places]
    return [(at, one / max(heights)) for at, one in zip(places, heights, strict=True)]


def raincloud_name(result: MeasureResult) -> str:
    """Return the file name of the raincloud figure. Return an empty string for an exploratory measure, whose
    figure is not written as a file."""
    return "" if result.measure.exploratory else f"figure_{result.measure.key}_raincloud.svg"


def raincloud_chart(result: MeasureResult) -> Chart:
    """Return the raincloud chart of a measure. Brackets join pairs that differ by the test that decides."""
    result = result.where_measured()
    pairs, dots = carried_pairs(result), _dots(result)
    places = {condition: place for place, condition in enumerate(result.table.conditions)}
    threads = _threads(result, dots)
    series = [
        one for place, d in enumerate(result.descriptions) for one in _condition(result, place, d, dots)
    ]
    note = (
        "Dots: participants. Boxes: quartiles. Black: mean with 95% CI. Half violins: density of the values."
    )
    lines = " Thin lines: the same participant." if threads else ""
    marked = bracket_note(pairs, f"{result.decided_by}, p < .05")
    return Chart(
        key=f"{result.measure.key}_raincloud",
        title=result.measure.label,
        x=condition_axis(result),
        y=value_axis(result),
        panels=(
            Panel(
                (*threads, *series),
                brackets=tuple(
                    Bracket(places[one.first], places[one.second], format_p(one.p))
                    for one in bracketed_pairs(pairs)
                ),
            ),
        ),
        under=describe_participants(result),
        note=f"{note}{lines} {marked}".strip(),
        words=f"{means_words(result, pairs)} {_quartile_words(result)}".strip(),
        head=("condition", *DESCRIPTIVE_COLUMNS, *FiveNumbers._fields),
        rows=tuple(
            (
                d.condition.label,
                *descriptive_cells(d),
                *(five_numbers(result.table.values(d.condition.key)) or (None,) * 5),
            )
            for d in result.descriptions
        ),
        synthetic=result.synthetic,
    )


Dots = Mapping[tuple[str, int], Point]
"""The dot of each value, by participant and place of the condition."""


def _dots(result: MeasureResult) -> Dots:
    found: dict[tuple[str, int], Point] = {}
    for place, condition in enumerate(result.table.conditions):
        rows = [row for row in result.table.observations if row.condition == condition.key]
        values = [(row.participant, row.value) for row in rows if row.value is not None]
        shifts = spread_points([value for _, value in values], *axis_bounds(result))
        for (who, value), shift in zip(values, shifts, strict=True):
            words = f"{who}, {condition.label}: {format_number(value)}"
            found[who, place] = Point(place + RAIN + JITTER * shift, value, words=words)
    return found


def _threads(result: MeasureResult, dots: Dots) -> list[Series]:
    """Return a thin line for each participant with several values, if there are few enough to read them."""
    people = sorted({who for who, _ in dots})
    conditions = len(result.table.conditions)
    if len(people) > MOST_PEOPLE or conditions > MOST_CONDITIONS:
        return []
    own = {who: tuple(dots[who, n] for n in range(conditions) if (who, n) in dots) for who in people}
    return [
        Series(who, "links", points, colour=None, listed=False)
        for who, points in own.items()
        if len(points) > 1
    ]


def _condition(result: MeasureResult, place: int, d: Description, dots: Dots) -> list[Series]:
    """Return the series of one condition: half violin, whiskers, box, dots and mean."""
    name, values = d.condition.label, result.table.values(d.condition.key)
    found = five_numbers(values)
    if found is None or d.mean is None:
        return []
    base = place + CLOUD
    cloud = tuple(
        Point(base + HEIGHT * density, at, low=base, words=name) for at, density in density_outline(values)
    )
    told = f"{name}: median {format_number(found.median)}, quartiles {_ends(found)}"
    box = Point(place + BOX, found.median, found.first_quartile, found.third_quartile, told)
    whisker = replace(box, low=found.whisker_low, high=found.whisker_high)
    mean = Point(place + MEAN, d.mean, d.ci_low, d.ci_high, f"{name}: {mean_words(d)}")
    rain = tuple(point for (_, at), point in dots.items() if at == place)
    return [
        Series(name, "clouds", cloud, place, listed=False),
        Series(name, "whiskers", (whisker,), None, listed=False),
        Series(name, "boxes", (box,), place, listed=False, thick=BOX_WIDTH),
        Series(name, "dots", rain, place, listed=False),
        Series(name, "dots", (mean,), None, listed=False),
    ]


def _ends(found: FiveNumbers) -> str:
    return f"{format_number(found.first_quartile)} and {format_number(found.third_quartile)}"


def _quartile_words(result: MeasureResult) -> str:
    """Return a sentence with the median and the quartiles of each condition."""
    told = [
        f"{one.label} {format_number(found.median)}, {_ends(found)}"
        for one in result.table.conditions
        if (found := five_numbers(result.table.values(one.key)))
    ]
    return f"Median and quartiles: {'; '.join(told)}." if told else ""
