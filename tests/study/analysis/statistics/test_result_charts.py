"""The figures of an analysis as data: they show what was computed, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from kitchen.charts.chart_drawing import draw_chart
from study.analysis.statistics.charts_by_measure import OF_MEASURE, charts_of
from study.analysis.statistics.observations import AnalysisCondition, Measure, NotComputable
from study.analysis.statistics.result_charts import (
    axis_bounds,
    means_chart,
    participants_chart,
    position_chart,
    reliability_chart,
    replication_chart,
)
from study.analysis.statistics.run_analysis import MeasureResult, analyse
from study.analysis.statistics.sample_composition import ConditionPlayers
from study.analysis.statistics.within.result_types import CorrectedP, Reliability, ScaleResult
from tests.kitchen.charts.svg_texts import check_texts, drawn_texts
from tests.nightly import nightly
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, rows_of

RISING = Measure.count("m", "Dishes")
LONG = Measure.likert(
    "long",
    "More fun because of the collaboration with the others in the team, as perceived after each episode",
    5,
    ("I do not agree with this at all", "I agree with this completely"),
)


def ladder(conditions: tuple[AnalysisCondition, ...], measure: Measure) -> MeasureResult:
    """Conditions so far apart that every pair is significant."""
    step = 3.5 / len(conditions)
    groups: dict[str, list[float | None]] = {
        c.key: [1.2 + step * i + 0.01 * (n % 3) for n in range(12)] for i, c in enumerate(conditions)
    }
    return analyse(rows_of(groups, measure, synthetic=True), conditions, [measure]).measures[0]


def renamed(*labels: str) -> tuple[AnalysisCondition, ...]:
    return tuple(AnalysisCondition(f"c{i}", label, i) for i, label in enumerate(labels))


WORDY = renamed("Working alone", "Team of two with the LLM dispatcher", "Team of 3", "Team of 4", "Random")

CASES: dict[str, Callable[[], MeasureResult]] = {
    "success": lambda: demo().measure("success"),
    "enjoyment": lambda: demo().measure("enjoyment"),
    "trust, not asked when alone": lambda: demo().measure("trust"),
    "all ten pairs": lambda: ladder(FIVE, Measure.likert("m", "Enjoyment")),
    "long words": lambda: ladder(WORDY, LONG),
    "two conditions": lambda: ladder(FIVE[:2], LONG),
    "eight conditions": lambda: ladder(
        renamed(*(f"Condition {i}" for i in range(8))), Measure.count("m", "Dishes")
    ),
    "nobody": lambda: analyse([], FIVE, [RATE]).measures[0],
}

REPEATED = ["enjoyment", "two conditions"]
"""They look like "success" and "long words"."""


@cache
def case(name: str) -> MeasureResult:
    """One of them, computed once."""
    return CASES[name]()


@pytest.fixture(
    scope="module", params=[*(name for name in CASES if name not in REPEATED), *nightly(*REPEATED)]
)
def result(request: pytest.FixtureRequest) -> MeasureResult:
    return case(request.param)


def test_a_figure_names_every_condition_and_pair_and_no_text_is_over_another(result: MeasureResult) -> None:
    drawn = draw_chart(means_chart(result))
    check_texts(drawn)
    found = drawn_texts(drawn)
    for condition in result.where_measured().table.conditions:
        assert condition.label in found
    assert "Condition" in found
    written = [text for text in found if re.fullmatch(r"p [<=>] \.\d+", text)]
    many = len(result.decided_pairs) > 10
    assert len(written) == (0 if many else len(result.decided_pairs))
    assert ("pairs differ (paired t tests after Holm, p < .05): too many" in " ".join(found)) is many


def test_labels_are_shown_as_they_are_written() -> None:
    odd = renamed("$x_1$ & <b>", "50 % \\alpha")
    written = drawn_texts(draw_chart(means_chart(ladder(odd, LONG))))
    assert {"$x_1$ & <b>", "50 % \\alpha"} <= {*written}


def test_who_played_and_how_many_values_there_are_is_below_each_bar() -> None:
    trust = demo().measure("trust")
    players = tuple(ConditionPlayers(one, ("planner",)) for one in trust.table.conditions)
    axis = means_chart(replace(trust, players=players)).x
    assert axis.below == ("n = 0\nplanner", *["n = 12\nplanner"] * 4)
    assert axis.title == "Condition, and who played beside the participants"
    assert "n = 12 planner" in drawn_texts(draw_chart(means_chart(replace(trust, players=players))))


def test_the_axis_has_the_bounds_of_the_scale() -> None:
    assert axis_bounds(demo().measure("success")) == (0, 1)
    assert axis_bounds(demo().measure("enjoyment")) == (1, 5)


@pytest.mark.parametrize(("top", "end"), [(0, 1), (3, 3), (17, 20), (20, 25), (104, 120)])
def test_an_open_scale_has_room_for_the_largest_value(top: float, end: float) -> None:
    dishes = Measure.count("dishes", "Dishes")
    rows = rows_of({"alone": [0.0, top], "llm_1": [0.0, top]}, dishes)
    low, high = axis_bounds(analyse(rows, FIVE[:2], [dishes]).measures[0])
    assert low == 0
    assert high >= max(top, end)


@pytest.fixture(scope="module")
def success() -> MeasureResult:
    return demo().measure("success")


def test_the_means_have_a_bar_for_each_condition_dots_of_participants_and_brackets_of_what_decides(
    success: MeasureResult,
) -> None:
    found = means_chart(success)
    series = found.panels[0].series
    bars = [point for one in series if one.look == "bars" for point in one.points]
    dots = [point for one in series if one.look == "dots" for point in one.points]
    assert [bar.y for bar in bars] == [d.mean for d in success.descriptions]
    assert sorted(dot.y for dot in dots) == sorted(row.value or 0.0 for row in success.table.observations)
    assert [(b.left, b.right) for b in found.panels[0].brackets] == [
        (FIVE.index(pair.first), FIVE.index(pair.second)) for pair in success.decided_pairs
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
    assert len(result.tukey_pairs) == 28
    found, paired = replication_chart(result), participants_chart(result)
    assert found.panels[0].brackets == () and paired.panels[0].brackets == ()
    assert "28 pairs differ (Tukey HSD, p < .05): too many to bracket, a table lists them" in found.note
    assert "Pairs that differ, p < .05: 28 pairs, all of them in the tables of pairs" in found.words
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
    some = Reliability(12, 4, 0.8, 0.6, 0.9, 0.82, (("a", 0.5),))
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


def test_no_bracket_stands_that_the_deciding_test_does_not_carry(success: MeasureResult) -> None:
    assert success.within and success.decided_pairs
    nothing = replace(success.within, main={"condition": 0.2})
    corrected = replace(success.within, over_measures={"condition": CorrectedP("Holm over measures", 0.06)})
    table = replace(success.table, measure=replace(success.measure, exploratory=True))
    explored = replace(success, table=table)
    for one in (replace(success, within=nothing), replace(success, within=corrected), explored):
        for make in (means_chart, participants_chart):
            assert make(one).panels[0].brackets == ()
    ranks = replace(success, within=replace(success.within, main_test="friedman"))
    assert ranks.decided_by == "Conover's tests after Holm"
    paper = replace(success, within=replace(success.within, main_test="one_way"))
    assert [(b.left, b.right) for b in means_chart(paper).panels[0].brackets] == [
        (FIVE.index(pair.first), FIVE.index(pair.second)) for pair in success.tukey_pairs
    ]
