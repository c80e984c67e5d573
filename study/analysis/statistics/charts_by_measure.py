"""List the charts of each measure: those of the report, with their file names, and those of the console."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kitchen.charts.chart_data import Chart
from study.analysis.statistics.figure_texts import NO_TEXTS, FigureTexts, texts_of, with_texts
from study.analysis.statistics.interaction_chart import has_interaction_chart, interaction_chart
from study.analysis.statistics.raincloud_chart import raincloud_chart, raincloud_name
from study.analysis.statistics.result_charts import (
    means_chart,
    participants_chart,
    position_chart,
    reliability_chart,
    replication_chart,
)
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.analysis.statistics.verdicts import leading_result

MEANS, RELIABILITY, INTERACTION, REPLICATION = "means", "reliability", "interaction", "replication"
RAINCLOUD, PARTICIPANTS = "raincloud", "participants"
OF_MEASURE: dict[str, Callable[[MeasureResult], Chart]] = {
    RAINCLOUD: raincloud_chart,
    MEANS: means_chart,
    PARTICIPANTS: participants_chart,
    "positions": position_chart,
    REPLICATION: replication_chart,
}
"""Figure name → function that makes this chart of a measure."""


def report_charts(results: Sequence[MeasureResult], texts: FigureTexts = NO_TEXTS) -> dict[str, Chart]:
    """Return the charts of these measures that the report shows, by file name. `texts` has the titles and
    notes that the researchers wrote."""
    return {
        file: with_texts(make(result), texts_of(texts, result.measure.key, name))
        for result in results
        for file, name, make in _report_figures(result)
    }


def _report_figures(result: MeasureResult) -> Iterator[tuple[str, str, Callable[[MeasureResult], Chart]]]:
    """Yield (file name, chart name, function that makes the chart) of a measure's charts in the report."""
    yield result.figure_name, MEANS, means_chart
    if result.measure.exploratory:
        return
    if has_interaction_chart(result):
        yield f"figure_{result.measure.key}_interaction.svg", INTERACTION, interaction_chart
    yield raincloud_name(result), RAINCLOUD, raincloud_chart
    yield result.threads_name, PARTICIPANTS, participants_chart
    yield result.replication_name, REPLICATION, replication_chart


def charts_of(analysis: Analysis, of: str, texts: FigureTexts = NO_TEXTS) -> dict[str, Chart]:
    """Return all charts of one measure or scale, by chart name: the main figure first, the replication last.
    `of` is the key of the measure or scale. `texts` has the titles and notes that the researchers wrote.
    Return an empty mapping if the key is unknown."""
    results = [one for one in analysis.measures if one.measure.key == of]
    found = dict[str, Chart]()
    for one in filter(has_interaction_chart, results):
        found[INTERACTION] = interaction_chart(one)
    found |= {name: make(one) for one in results for name, make in OF_MEASURE.items()}
    scales = [one for one in analysis.scales if one.scale == of]
    if scales:
        found[RELIABILITY] = reliability_chart(scales, synthetic=analysis.synthetic)
    return {name: with_texts(chart, texts_of(texts, of, name)) for name, chart in found.items()}


class LeadingFigure(NamedTuple):
    """The figure that page and report show first. `figure` is the name of its chart among `charts_of`."""

    result: MeasureResult
    figure: str
    chart: Chart


def leading_figure(analysis: Analysis, texts: FigureTexts = NO_TEXTS) -> LeadingFigure | None:
    """Return the main figure of the leading measure. Return None without measures. `texts` has the titles
    and notes that the researchers wrote."""
    result = leading_result(analysis)
    if result is None:
        return None
    name = main_figure(result)
    chart = with_texts(main_chart(result), texts_of(texts, result.measure.key, name))
    return LeadingFigure(result, name, chart)


def main_figure(result: MeasureResult) -> str:
    """Return the name of a measure's main figure: its means by factors in a study with several factors, else
    the raincloud chart."""
    return INTERACTION if has_interaction_chart(result) else RAINCLOUD


def main_chart(result: MeasureResult) -> Chart:
    """Return the chart of a measure's main figure."""
    return interaction_chart(result) if main_figure(result) == INTERACTION else raincloud_chart(result)
