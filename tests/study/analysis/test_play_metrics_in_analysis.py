"""Measures of what participants do: in the analysis and in files, and of no weight in what was planned."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.observations import AnalysisCondition, Measure, Observation
from study.analysis.statistics.result_rows import test_rows as lines_of
from study.analysis.statistics.run_analysis import analyse
from study.design.analysis_plan import AnalysisPlan
from study.design.blueprint import blueprint_of
from study.design.metric_and_scale_names import comparison_metrics, exploratory_metrics
from study.design.models import Condition, Study
from study.design.naming_rules import item_key_problem, measure_name_problem
from study.design.play_metrics import CONDUCT_METRICS, play_metrics_in
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from tests.study.factories import complete, make_study

OF_CONDUCT = [one.key for one in CONDUCT_METRICS]


def read(study: Study, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(csv_pieces(get_table(name), study)).decode().splitlines()))


@pytest.mark.django_db
def test_the_analysis_and_the_files_have_the_same() -> None:
    study = make_study(conditions=1, items=0)
    complete(study)
    found = analyse_present_data(study, "people")
    means = {key: found.measure(key).descriptions[0].mean for key in OF_CONDUCT[:2]}
    assert means == {"refused_share": 0.0, "idle_share": 0.0}, "the first possible action is no noop"
    (wide,) = read(study, "participants")
    assert (wide["c0.refused_share"], wide["c0.idle_share"]) == ("0.0", "0.0")
    assert 0 <= float(wide["c0.thinking_seconds"]) < 60
    assert "c0.work_share" not in wide, "nobody is beside them"
    long = {row["measure"]: row for row in read(study, "measures")}
    assert long["thinking_seconds"]["value"] == wide["c0.thinking_seconds"]
    assert (long["thinking_seconds"]["made_of"], long["thinking_seconds"]["unit"]) == ("play", "s")


@pytest.mark.django_db
def test_each_is_measured_where_it_can_be() -> None:
    def measured_with(**settings: object) -> list[str]:
        Condition.objects.update(**settings)
        return [one.key for one in play_metrics_in(Condition.objects.get())]

    make_study(conditions=1)
    assert measured_with() == ["refused_share", "idle_share", "thinking_seconds"]
    assert measured_with(teammates=1, coplayer="planner") == OF_CONDUCT
    clocked = measured_with(world="overcooked", settings={"clock": "tick"}, coplayer="overcooked_greedy")
    assert clocked == ["refused_share", "idle_share", "work_share"]
    assert measured_with(organisation={"apart": True}) == []


@pytest.mark.django_db
def test_the_plan_tells_them_apart_from_what_is_compared() -> None:
    design = blueprint_of(make_study(conditions=1))
    assert not any("refused" in one for _, words in comparison_metrics(design) for one in words)
    assert [one for _, words in exploratory_metrics(design) for one in words] == [
        "share of refused commands (lower is better)",
        "share of idle steps",
        "thinking time",
    ]
    assert all("already" in item_key_problem(one.key) for one in CONDUCT_METRICS)
    assert all("already" in measure_name_problem(one.label) for one in CONDUCT_METRICS)


CONDITIONS = [AnalysisCondition("a", "A", 0), AnalysisCondition("b", "B", 1)]
PLANNED = [Measure.rate("one", "One"), Measure.rate("two", "Two")]
EXPLORED = replace(Measure.rate("idle_share", "Share of idle steps"), exploratory=True)
VALUES = {"one": (0.2, 0.3, 0.1, 0.4), "two": (0.5, 0.4, 0.45, 0.6), "idle_share": (0.1, 0.2, 0.3, 0.25)}


def rows(measures: list[Measure]) -> list[Observation]:
    return [
        Observation(f"p{who}", key, one.key, value / (place + 1), place + 1, synthetic=False)
        for one in measures
        for place, key in enumerate("ab")
        for who, value in enumerate(VALUES[one.key])
    ]


@pytest.mark.parametrize("correction", ["none", "holm", "fdr"])
def test_what_is_explored_changes_nothing_that_was_planned(correction: str) -> None:
    plan, both = AnalysisPlan(correction=correction), [*PLANNED, EXPLORED]
    alone = analyse(rows(PLANNED), CONDITIONS, PLANNED, plan=plan)
    beside = analyse(rows(both), CONDITIONS, both, plan=plan)
    assert [row for row in lines_of(beside) if row["measure"] != "idle_share"] == lines_of(alone)
    roles = {row["role"] for row in lines_of(beside) if row["measure"] == "idle_share"}
    assert not roles & {"main", "planned"}
    within = beside.measure("idle_share").within
    assert within and not within.over_measures
    assert beside.measure("idle_share").descriptions[0].n == 4


def test_who_has_nothing_else_in_a_condition_is_left_out() -> None:
    both = [*PLANNED, EXPLORED]
    given = [
        replace(row, value=None) if (row.participant, row.condition) == ("p0", "b") else row
        for row in rows(both)
        if row.measure != "idle_share"
    ]
    explored_rows = [row for row in rows(both) if row.measure == "idle_share"]
    assert analyse([*given, *explored_rows], CONDITIONS, both).participants == ("p1", "p2", "p3")
