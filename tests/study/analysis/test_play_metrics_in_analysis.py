"""Measures of what participants do: in the analysis and in files, and of no weight in what was planned."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.markdown_report import dependence_sentence
from study.analysis.statistics.observations import (
    AnalysisCondition,
    Measure,
    NotComputable,
    Observation,
    one_row_per_team,
)
from study.analysis.statistics.result_rows import test_rows as lines_of
from study.analysis.statistics.result_sentences import design_sentences
from study.analysis.statistics.run_analysis import analyse
from study.analysis.statistics.within.result_types import MixedModel
from study.design.analysis_plan import AnalysisPlan
from study.design.blueprint import blueprint_of
from study.design.metric_and_scale_names import comparison_metrics, exploratory_metrics
from study.design.models import Condition, Study
from study.design.naming_rules import item_key_problem, measure_name_problem
from study.design.play_metrics import CONDUCT_METRICS, play_metrics_in
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participants.models import Group, GroupMember
from tests.study.exports.test_organisations_in_two_worlds import finish
from tests.study.factories import complete, enter, make_study

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


JOBS = replace(Measure.count("team_jobs", "Team: jobs given"), exploratory=True)
OF_TEAMS = ((4.0, 7.0), (2.0, 9.0), (5.0, 6.0), (1.0, 3.0))


def of_teams(people: int, *, named: bool = True) -> list[Observation]:
    """Rows of four groups with so many people each, who share the values of their group."""
    return [
        Observation(
            f"p{group}{who}",
            key,
            "team_jobs",
            value,
            place + 1,
            synthetic=False,
            team=f"group {group}" if named else "",
            episode=10 * group + place,
        )
        for group, values in enumerate(OF_TEAMS)
        for who in range(people)
        for place, (key, value) in enumerate(zip("ab", values, strict=True))
    ]


def numbers(given: list[Observation]) -> list[dict[str, object]]:
    found = analyse(given, CONDITIONS, [JOBS])
    return [{name: value for name, value in row.items() if name != "apa"} for row in lines_of(found)]


def test_a_team_counts_once_whatever_the_number_of_its_members() -> None:
    alone = numbers(of_teams(1, named=False))
    assert numbers(of_teams(1)) == numbers(of_teams(2)) == numbers(of_teams(3)) == alone
    assert numbers(of_teams(2, named=False)) != alone, "this is what each row of its own would give"
    result = analyse(of_teams(2), CONDITIONS, [JOBS]).measure("team_jobs")
    assert [one.n for one in result.descriptions] == [4, 4]
    assert {row.participant for row in result.table.observations} == {f"group {n}" for n in range(4)}
    assert (
        "(repeated-measures ANOVA of 4 teams)" in lines_of(analyse(of_teams(2), CONDITIONS, [JOBS]))[0]["apa"]
    )
    assert "These tests count teams" in " ".join(design_sentences(result))
    partly = [
        replace(row, team="") if row.participant == of_teams(2)[0].participant else row for row in of_teams(2)
    ]
    (mixed,) = analyse(partly, CONDITIONS, [JOBS]).measures
    assert mixed.units == "participants or teams"


def test_members_who_played_apart_count_with_the_mean_of_their_episodes() -> None:
    given = of_teams(2)
    apart = [
        replace(row, value=row.value + 2, episode=99)  # type: ignore[operator]
        if (row.participant, row.condition) == ("p01", "b")
        else row
        for row in given
    ]
    rows = one_row_per_team(apart, JOBS)
    assert [(row.condition, row.value) for row in rows if row.participant == "group 0"] == [
        ("a", 4.0),
        ("b", 8.0),
    ]


def test_a_group_counts_although_one_of_its_members_is_left_out() -> None:
    both = [*PLANNED[:1], JOBS]
    teams = of_teams(2)
    said = [replace(row, measure="one", value=0.1 * int(row.participant[1:]), team="") for row in teams]
    said = [replace(row, value=None) if row.participant == "p01" else row for row in said]
    said = [row if row.value is None else replace(row, value=min(row.value, 1.0)) for row in said]
    found = analyse([*said, *teams], CONDITIONS, both)
    assert "p01" not in found.participants
    result = found.measure("team_jobs")
    assert [one.n for one in result.descriptions] == [4, 4] and result.set_aside == ()
    assert result.within and isinstance(result.within.mixed, MixedModel | NotComputable)


@pytest.mark.django_db
def test_people_of_a_group_share_the_measures_of_their_team() -> None:
    study = make_study(conditions=1, items=0, steps=2)
    Condition.objects.update(coplayer="follower", teammates=1, organisation={"kind": "tree"})
    people = [enter(study, name) for name in ("one", "two", "three")]
    for person in people:
        finish(person)
    version = people[0].version
    group = Group.objects.create(study=study, version=version, number=7, size=2, order=["c0"])
    shared = people[0].rounds.get().episode
    for place, person in enumerate(people[:2]):
        GroupMember.objects.create(group=group, participant=person, place=place)
        person.rounds.update(episode=shared)
    found = analyse_present_data(study, "people")
    assert found.measure("team_jobs").descriptions[0].n == 2
    assert found.measure("idle_share").descriptions[0].n == 3
    assert found.attrition and "measures of teams" in dependence_sentence(found.attrition)
