"""List the charts of each measure: those of the report, with their file names, and those of the console."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kitchen.charts.chart_data import Chart
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
RAINCLOUD = "raincloud"
OF_MEASURE: dict[str, Callable[[MeasureResult], Chart]] = {
    RAINCLOUD: raincloud_chart,
    MEANS: means_chart,
    "participants": participants_chart,
    "positions": position_chart,
    REPLICATION: replication_chart,
}
"""Figure name → function that makes this chart of a measure."""


def report_charts(results: Sequence[MeasureResult]) -> dict[str, Chart]:
    """Return the charts of these measures that the report shows, by file name."""
    found = {}
    for result in results:
        found[result.figure_name] = means_chart(result)
        if has_interaction_chart(result) and not result.measure.exploratory:
            found[f"figure_{result.measure.key}_interaction.svg"] = interaction_chart(result)
        if result.threads_name:
            found[raincloud_name(result)] = raincloud_chart(result)
            found[result.threads_name] = participants_chart(result)
            found[result.replication_name] = replication_chart(result)
    return found


def charts_of(analysis: Analysis, of: str) -> dict[str, Chart]:
    """Return all charts of one measure or scale, by chart name. `of` is the key of the measure or scale.
    Return an empty mapping if the key is unknown."""
    results = [one for one in analysis.measures if one.measure.key == of]
    found = {name: make(one) for one in results for name, make in OF_MEASURE.items()}
    for one in filter(has_interaction_chart, results):
        found[INTERACTION] = interaction_chart(one)
    scales = [one for one in analysis.scales if one.scale == of]
    if scales:
        found[RELIABILITY] = reliability_chart(scales, synthetic=analysis.synthetic)
    return found


class LeadingFigure(NamedTuple):
    """The figure that page and report show first. `figure` is the name of its chart among `charts_of`."""

    result: MeasureResult
    figure: str
    chart: Chart


def leading_figure(analysis: Analysis) -> LeadingFigure | None:
    """Return the main figure of the leading measure. Return None without measures."""
    result = leading_result(analysis)
    if result is None:
        return None
    return LeadingFigure(result, main_figure(result), main_chart(result))


def main_figure(result: MeasureResult) -> str:
    """Return the name of a measure's main figure: its means by factors in a study with several factors, else
    the raincloud chart."""
    return INTERACTION if has_interaction_chart(result) else RAINCLOUD


def main_chart(result: MeasureResult) -> Chart:
    """Return the chart of a measure's main figure."""
    return interaction_chart(result) if main_figure(result) == INTERACTION else raincloud_chart(result)
