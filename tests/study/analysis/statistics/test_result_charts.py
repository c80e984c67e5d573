"""The figures of an analysis as data: they show what was computed, and nothing else."""

from __future__ import annotations

from statistics import fmean

import pytest

from study.analysis.statistics.observations import Measure, NotComputable
from study.analysis.statistics.result_charts import (
    OF_MEASURE,
    charts_of,
    means_chart,
    participants_chart,
    position_chart,
    reliability_chart,
)
from study.analysis.statistics.run_analysis import MeasureResult, analyse
from study.analysis.statistics.within.result_types import Reliability, ScaleResult
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, rows_of
from tests.study.analysis.statistics.test_matplotlib_figures import case

RISING = Measure.count("m", "Dishes")


@pytest.fixture(scope="module")
def success() -> MeasureResult:
    return demo().measure("success")


def test_figure_5_has_a_bar_for_each_condition_a_dot_for_each_participant_and_tukeys_brackets(
    success: MeasureResult,
) -> None:
    found = means_chart(success)
    series = found.panels[0].series
    bars = [point for one in series if one.look == "bars" for point in one.points]
    dots = [point for one in series if one.look == "dots" for point in one.points]
    assert [bar.y for bar in bars] == [d.mean for d in success.descriptions]
    assert sorted(dot.y for dot in dots) == sorted(row.value or 0.0 for row in success.table.observations)
    assert [(b.left, b.right) for b in found.panels[0].brackets] == [
        (FIVE.index(pair.first), FIVE.index(pair.second)) for pair in success.brackets
    ]


def test_every_participant_is_a_thread_and_the_mean_has_the_interval_within(success: MeasureResult) -> None:
    found = participants_chart(success)
    *threads, mean = found.panels[0].series
    assert [one.name for one in threads] == [f"p{n:03}" for n in range(12)]
    within = [success.interval(condition) for condition in FIVE]
    assert [(p.low, p.high) for p in mean.points] == [(one.low, one.high) for one in within if one]
    assert success.within
    significant = [one for one in success.within.pairs.computed if one.significant]
    assert len(found.panels[0].brackets) == len(significant) > 0
    assert found.rows[0][1:] == tuple(point.y for point in threads[0].points)
    assert "12 of 12 rise" not in found.words and " of 12 rise and " in found.words


def test_more_pairs_than_anybody_could_read_are_counted_and_their_table_is_named() -> None:
    conditions = case("eight conditions").table.conditions
    groups = {c.key: [1 + i + 0.01 * (n * (i + 3) % 5) for n in range(12)] for i, c in enumerate(conditions)}
    result = analyse(rows_of(groups, RISING), conditions, [RISING]).measures[0]
    assert len(result.brackets) == 28
    found, paired = means_chart(result), participants_chart(result)
    assert found.panels[0].brackets == () and paired.panels[0].brackets == ()
    assert "28 pairs differ (Tukey HSD, p < .05): too many to bracket, a table lists them" in found.note
    assert "Pairs that differ, p < .05: 28 pairs, all of them in the table of the replication" in found.words
    assert "too many to bracket" in paired.note and "in tests.csv" in paired.words


def test_conditions_in_which_nothing_is_asked_for_have_no_column() -> None:
    there = {condition.key: [0.1 * n for n in range(4)] for condition in FIVE[1:3]}
    result = analyse(rows_of(there, RATE), FIVE, [RATE], keep_incomplete=True).measures[0]
    names = tuple(condition.label for condition in FIVE[1:3])
    for make in (means_chart, participants_chart):
        assert make(result).x.names == names
    assert [one.name for one in position_chart(result).panels[0].series] == ["All conditions", *names]


def test_the_order_of_play_is_shown_of_all_and_of_each_condition(success: MeasureResult) -> None:
    found = position_chart(success)
    over_all, *each = found.panels[0].series
    first = [row.value for row in success.table.observations if row.order_position == 1]
    assert over_all.points[0].y == pytest.approx(fmean(value for value in first if value is not None))
    assert {one.name for one in each} == {condition.label for condition in FIVE}
    assert len(found.rows) == 5 + sum(len(one.points) for one in each)


def test_alpha_and_omega_are_shown_where_they_can_be_told() -> None:
    some = Reliability("trust", "Trust", "", 12, 4, 0.8, 0.6, 0.9, 0.82, (("a", 0.5),))
    none = NotComputable("no_variance", "all values are the same")
    chart = reliability_chart(
        [ScaleResult("trust", "Trust", "", some), ScaleResult("trust", "Trust", "Alone", none)]
    )
    alpha, omega = chart.panels[0].series
    assert [(p.x, p.y, p.low, p.high) for p in alpha.points] == [(0, 0.8, 0.6, 0.9)]
    assert [p.y for p in omega.points] == [0.82]
    assert chart.rows[1][-1] == "all values are the same"
    assert "Alone not computable because all values are the same" in chart.words


def test_a_measure_has_its_figures_by_name_and_whatever_is_none_has_none() -> None:
    assert list(charts_of(demo(), "success")) == list(OF_MEASURE)
    assert charts_of(demo(), "nothing") == {}


@pytest.mark.parametrize("name", OF_MEASURE)
def test_a_figure_of_nobody_says_so_and_synthetic_data_are_marked(name: str) -> None:
    nobody = OF_MEASURE[name](analyse([], FIVE, [RATE]).measures[0])
    assert nobody.is_empty
    assert "no values" in nobody.words
    assert OF_MEASURE[name](demo().measure("trust")).synthetic
