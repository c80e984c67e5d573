"""The raincloud chart: its quartiles and densities, its marks, its words and table, and how it is drawn."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.vega_charts import vega_specification
from study.analysis.statistics import raincloud_chart as module
from study.analysis.statistics.raincloud_chart import (
    FiveNumbers,
    density_outline,
    five_numbers,
    raincloud_chart,
    raincloud_name,
)
from study.analysis.statistics.verdicts import carried_pairs
from tests.study.analysis.statistics.test_analysis import demo
from tests.study.analysis.statistics.test_factorial_analysis import analysed


def test_quartiles_are_those_of_r_and_whiskers_end_at_values() -> None:
    """R: `quantile(c(1, 2, 3, 4, 20))`; 20 lies more than 1.5 interquartile ranges above the box."""
    assert five_numbers([20, 1, 2, 3, 4]) == FiveNumbers(1, 2, 3, 4, 4)
    assert five_numbers([2.0]) == FiveNumbers(2, 2, 2, 2, 2)
    assert five_numbers([]) is None


def test_the_density_has_one_hill_where_the_values_have_one() -> None:
    values = [NormalDist(10, 2).inv_cdf((n + 0.5) / 60) for n in range(60)]
    outline = density_outline(values)
    assert (outline[0][0], outline[-1][0]) == pytest.approx((min(values), max(values)))
    top = max(outline, key=lambda one: one[1])
    assert top[1] == 1 and top[0] == pytest.approx(10, abs=0.2)
    heights = [height for _, height in outline]
    place = heights.index(1.0)
    rising, falling = heights[:place], heights[place:]
    assert (rising, falling) == (sorted(rising), sorted(falling, reverse=True))
    assert density_outline([3.0] * 9) == density_outline([1.0, 2.0]) == []


def test_it_shows_every_value_with_box_mean_density_and_the_pairs_of_the_deciding_test() -> None:
    result = demo().measure("success")
    chart = raincloud_chart(result)
    marks = {look: [one for one in chart.series if one.look == look] for look in ("dots", "boxes", "clouds")}
    values = [row.value for row in result.table.observations]
    assert len(values) + 5 == sum(len(one.points) for one in marks["dots"])
    assert len(marks["boxes"]) == len(marks["clouds"]) == 5
    assert [one.words for one in chart.panels[0].brackets] != []
    assert len(chart.panels[0].brackets) == len(carried_pairs(result))
    assert "Median and quartiles: Alone " in chart.words and "Means of Success rate" in chart.words
    row = dict(zip(chart.head, chart.rows[0], strict=True))
    assert row["mean"] == result.descriptions[0].mean and row["median"] == result.descriptions[0].median
    assert raincloud_name(result) == "figure_success_raincloud.svg"


def test_participants_have_lines_within_their_conditions_while_they_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chart = raincloud_chart(demo().measure("success"))
    lines = [one for one in chart.series if one.look == "links"]
    assert [len(one.points) for one in lines] == [5] * 12 and "Thin lines" in chart.note
    mixed = raincloud_chart(analysed({}, between=True).measure("score"))
    assert {len(one.points) for one in mixed.series if one.look == "links"} == {3}
    assert not mixed.panels[0].brackets
    monkeypatch.setattr(module, "MOST_PEOPLE", 11)
    many = raincloud_chart(demo().measure("success"))
    assert not [one for one in many.series if one.look == "links"] and "Thin lines" not in many.note


def test_it_is_drawn_with_areas_boxes_and_whiskers() -> None:
    chart = raincloud_chart(demo().measure("success"))
    layers = vega_specification(chart, paper=True)["layer"]
    kinds = [one["mark"]["type"] for one in layers if isinstance(one["mark"], dict)]
    assert kinds.count("area") == 5
    assert kinds.count("rect") == 5
    drawn = draw_chart(chart)
    assert drawn.startswith(b"<?xml") and b"Half violins" in drawn
