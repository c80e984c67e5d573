"""plannings.csv, team_measures.csv, and the later columns of jobs.csv: a person beside an agent."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.contract.team_measures import MEASURE_COLUMNS, team_measures
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_metrics import read_log
from kitchen.play.models import Decision as StoredDecision
from kitchen.play.models import Episode, Message, ModelCall, Step
from kitchen.play.turn.conversation import add_message
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_cache import exclusive_turn
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.episode_record import read_episode_records
from study.analysis.team_metric_values import team_values
from study.design.models import Study
from study.design.play_metrics import TEAM_METRICS, play_metrics_in
from study.exports.export_registry import get_table
from study.exports.tables.organisation_tables import MEASURES
from study.monitor.live_measures import live_measures
from study.monitor.replay_page import NO_VALUE, team_table
from study.participants.models import Round
from study.participation.page_progress import answers_submit, finish_page
from tests.kitchen.factories import make_episode
from tests.study.exports.rows import rows_of
from tests.study.factories import enter, make_study
from tests.worlds.errands import LINE, Errands

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


class Eager(Agent):
    """Begins the first open errand."""

    kind = "eager"
    instant = True

    async def decide(self, situation: Situation) -> Decision:
        """Plan nothing if there is none."""
        seat = situation.seats[0]
        run = [command for command in situation.legal[seat] if command[0] == "run"]
        return Decision({seat: run[0]} if run else {}, planned=bool(run))


@pytest.fixture
def episode(monkeypatch: pytest.MonkeyPatch) -> Episode:
    """A person in seat 0 beside an eager agent; the goal is one errand of two steps."""
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "eager", f"{__name__}:Eager")
    minds = [MindPlan("eager", (1,))]
    members = members_of_plans(minds, seats=2)
    made = make_organisation("graph", members, seats=2, settings={"schedule": "free"})
    return create_episode(
        world="errands",
        settings={"lengths": "2,9,1"},
        seats=2,
        seed=1,
        minds=minds,
        organisation=made,
        until={"done": 1},
    )


def played(episode: Episode, **settings: str) -> Study:
    """A study in which the person gives a job and takes the errand that the agent wanted."""
    study = make_study()
    study.conditions.update(
        organisation={"kind": "graph", "settings": settings}, coplayer="random", teammates=1
    )
    person = enter(study, "person")
    finish_page(participant_id=person.pk, page="guide")
    Round.objects.filter(participant=person, position=1).update(episode=episode, seat=0)
    with exclusive_turn(episode.pk) as turn:
        assert add_message(turn, 0, MessageDraft("fetch", "inform", (1,))) == ""
        assert add_message(turn, 1, MessageDraft("", "accept", (0,), {"job": 1})) == ""
    for number, command in enumerate((("wait",), ("run", "0"), ("wait",)), start=1):
        given = [SubmittedCommand(0, command)]
        submit_commands(episode_id=episode.pk, step=number, commands=given)
        decide_step(episode_id=episode.pk, step=number)
    episode.refresh_from_db()
    return study


def cells(name: str, study: Study, wanted: str) -> list[list[Any]]:
    """These columns of the table, row by row."""
    names = [column.name for column in get_table(name).columns_of(study)]
    return [[row[names.index(one)] for one in wanted.split()] for row in rows_of(get_table(name), study)]


def test_plannings_and_measures_of_a_live_episode_are_in_the_files(episode: Episode) -> None:
    """The agent is asked in step 1. The person begins its errand in step 2. It is asked again in step 3."""
    study = played(episode)
    first, second = StoredDecision.objects.filter(mind__episode=episode).order_by("number")
    for number, (decision, cost) in enumerate(((first, "0.5"), (first, "0.25"), (second, None)), start=1):
        ModelCall.objects.create(
            decision=decision,
            number=number,
            provider="p",
            model_asked="m",
            sampling={},
            attempts=[],
            seconds=1,
            tokens_input=1,
            tokens_output=1,
            cost=cost,
            tokens_cache_read=0,
            tokens_cache_write=0,
        )
    wanted = "step member due took_effect stale played_by fallback calls usd"
    assert cells("plannings", study, wanted) == [
        [1, 1, 3, True, 1, "eager", None, 2, 0.75],
        [3, 1, 5, False, 0, "eager", None, 1, None],
    ]
    wanted = "member is_person steps_to_goal progress plannings plannings_a_member steps_acted idle_thinking"
    assert cells("team_measures", study, wanted) == [
        [None, None, 3, {"done": 1}, 2, 1, 1, 3],
        [0, True, None, None, 0, None, 1, 0],
        [1, False, None, None, 2, None, 0, 3],
    ]
    began, *_, ended = Step.objects.filter(episode=episode).order_by("number")
    seconds = (ended.taken_at - began.opened_at).total_seconds()
    wanted = "seconds_to_goal stale_commands messages share_by_people calls usd"
    team, person, agent = cells("team_measures", study, wanted)
    assert team == [seconds, 1, 2, 0.5, 3, None]
    assert (person[-2:], agent[-2:]) == ([0, 0], [3, None])


def test_the_replay_page_has_the_main_measures_of_each_member(episode: Episode) -> None:
    played(episode)
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    team = team_table(record)
    rows = dict(team["rows"])
    assert len(team["head"]) == 3
    assert rows["Steps to the goal"] == ["3", NO_VALUE, NO_VALUE]
    assert rows["Planning iterations"] == ["2", "0", "2"]
    assert rows["Commands that came too late"] == ["1", "0", "1"]
    page = render_to_string("study/monitor/replay_team.html", {"team": team})
    assert '<th scope="row">Planning iterations</th><td class="number">2</td>' in page
    two = [MindPlan("eager", (1, 2))]
    made = make_organisation("graph", members_of_plans(two, seats=3), seats=3, settings={"schedule": "free"})
    wide: dict[str, Any] = {"seats": 3, "minds": two, "organisation": made, "seed": 1}
    both = create_episode(world="errands", settings={"lengths": "2,9,1"}, **wide)
    (record,) = read_episode_records(Episode.objects.filter(pk=both.pk))
    assert team_table(record)["head"][2] == "Player 2 (seat 1), Player 3 (seat 2)"
    (alone,) = read_episode_records(Episode.objects.filter(pk=make_episode().pk))
    assert team_table(alone) == {}


def test_measures_of_the_team_are_in_the_wide_file_the_long_file_and_on_the_live_page(
    episode: Episode,
) -> None:
    study = played(episode, schedule="free")
    key = Round.objects.get(episode=episode).condition.key
    names = "steps_to_goal plannings_a_member idle_thinking idle_nothing jobs jobs_done messages "
    names += "stale_commands usd"
    wanted = " ".join(f"{key}.team_{name}" for name in names.split())
    assert cells("participants", study, wanted) == [[3, 1, 3, 1, 1, 0, 2, 1, 0]]
    long = {row[0]: row[1] for row in cells("measures", study, "measure value")}
    assert (long["team_steps_to_goal"], long["team_plannings_a_member"]) == (3, 1)
    rows = dict(live_measures(study).rows)
    assert rows["Team: plannings per member"][0].value == "1"
    assert "Team: jobs in a cycle" in rows
    meanings = {one.name: one.meaning for one in get_table("participants").columns_of(study)}
    assert "blank if the condition sets no goal" in meanings[f"{key}.team_steps_to_goal"]


@pytest.mark.parametrize("ends_at_goal", [True, False])
def test_a_conditions_own_goal_fills_steps_and_seconds_to_the_goal(
    monkeypatch: pytest.MonkeyPatch, ends_at_goal: bool
) -> None:
    """Somebody plays a condition with a goal and one without it. The person does an errand of two steps."""
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "eager", f"{__name__}:Eager")
    study = make_study()
    shared = {"world": "errands", "settings": {"lengths": "2,9,1", "limit": 4}, "coplayer": "eager"}
    study.conditions.update(**shared, teammates=1, organisation={"kind": "graph"})
    study.conditions.filter(key="c0").update(goal={"done": 1}, ends_at_goal=ends_at_goal)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    for one in person.rounds.order_by("position"):
        one.refresh_from_db()
        assert one.episode_id is not None
        for number in range(1, 5):
            given = [SubmittedCommand(0, ("run", "0") if number == 1 else ("wait",))]
            submit_commands(episode_id=one.episode_id, step=number, commands=given)
            decide_step(episode_id=one.episode_id, step=number)
        values = {item.key: 3 for item in person.version.blueprint.items_at("survey")}
        assert answers_submit(participant_id=person.pk, page="survey", position=one.position, values=values)
    with_goal, without = (Episode.objects.get(rounds__condition__key=key) for key in ("c0", "c1"))
    assert (with_goal.step, without.step) == (2 if ends_at_goal else 4, 4)
    first, second = with_goal.steps.filter(number__lte=2).order_by("number")
    seconds = (second.taken_at - first.opened_at).total_seconds()
    wanted = "steps_to_goal seconds_to_goal"
    assert [row for row in cells("team_measures", study, f"member {wanted}") if row[0] is None] == [
        [None, 2, seconds] if row.condition.key == "c0" else [None, None, None]
        for row in person.rounds.order_by("position")
    ]
    columns = " ".join(f"{key}.team_{name}" for key in ("c0", "c1") for name in wanted.split())
    assert cells("participants", study, columns) == [[2, seconds, None, None]]
    long = {(row[0], row[1]): row[2] for row in cells("measures", study, "condition measure value")}
    assert (long["c0", "team_steps_to_goal"], long["c0", "team_seconds_to_goal"]) == (2, seconds)
    assert sorted(cells("episodes", study, "condition goal ends_at_goal")) == [
        ["c0", '{"done": 1}', ends_at_goal],
        ["c1", None, False],
    ]


def test_measures_of_the_team_need_an_organisation_with_several_members(episode: Episode) -> None:
    study = make_study("other")
    plan = study.conditions.all()[0]

    def measured(**more: object) -> set[str]:
        plan.organisation = more
        return {one.key for one in play_metrics_in(plan) if one in TEAM_METRICS}

    plan.coplayer, plan.teammates = "random", 1
    assert measured() == set()
    central, pair, tree = (measured(kind=kind) for kind in ("central", "pair", "tree"))
    assert "team_idle_nothing" in central and "team_messages" not in central
    assert "team_messages" in pair and "team_jobs" not in pair
    assert "team_jobs" in tree and "team_stale_commands" not in tree
    timed = measured(kind="tree", settings={"schedule": "free"})
    assert timed == {one.key for one in TEAM_METRICS}
    assert team_values([make_episode().pk]) == {}


def test_jobs_have_the_time_until_they_were_accepted_in_studies_with_organisations(episode: Episode) -> None:
    study = played(episode)
    inform, accept = Message.objects.filter(episode=episode).order_by("number")
    later = "steps_to_accepted seconds_to_accepted steps_to_done given_again cycle passed_on_step"
    seconds = (accept.sent_at - inform.sent_at).total_seconds()
    assert cells("jobs", study, later) == [[0, seconds, None, False, 0, None]]
    names = [column.name for column in get_table("jobs").columns_of(make_study("other"))]
    assert names == [column.name for column in get_table("jobs").columns], "files of other studies stay"


def test_every_measure_has_a_column_in_this_order(episode: Episode) -> None:
    row, *_ = team_measures(read_log(episode), Errands)
    assert tuple(row) == MEASURE_COLUMNS == tuple(column.name for column in MEASURES)
