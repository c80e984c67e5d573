"""Measures of organisations, from logs that are counted by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from unittest.mock import Mock

import pytest

from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract import team_measures as team_measures_module
from kitchen.contract.agent import Decision
from kitchen.contract.episode_log import EpisodeLog, LoggedDecision
from kitchen.contract.organisation import (
    ANSWER,
    ASK,
    END,
    INFORM,
    REPORT,
    SAY,
    SYSTEM,
    Member,
    make_organisation,
)
from kitchen.contract.team_measures import conversations_in, plannings_of, team_measures
from kitchen.contract.team_messages import GONE, TeamMessage
from kitchen.contract.world import Json
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.kitchen.agents.test_asking_schedule import LED, RUN_0, THREE, Scripted, passer, play, wants
from tests.worlds.errands import LINE, Errands


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)


def measured(loop: EpisodeLoop, **goal: float) -> list[dict[str, Json]]:
    """The measures of the team and of each member."""
    return team_measures(replace(loop.log(), goal=goal), Errands)


@pytest.mark.parametrize(
    ("schedule", "think_steps", "steps", "idle"),
    [
        *(("relay", 2, 22, 44), ("rounds", 2, 10, 8), ("free", 2, 9, 5)),
        *(("relay", 0, 10, 20), ("rounds", 0, 6, 8), ("free", 0, 5, 5)),
    ],
)
def test_time_to_the_goal_and_idle_steps_are_those_counted_by_hand(
    schedule: str, think_steps: int, steps: int, idle: int
) -> None:
    """Six errands of 1, 5, 1, 1, 1 and 1 steps."""
    team, *_ = measured(play(THREE, "graph", schedule=schedule, think_steps=think_steps), done=6)
    assert (team["steps_to_goal"], team["progress"]) == (steps, {"done": 6})
    assert (team["steps_acted"], team["idle_thinking"]) == (6, 6 * think_steps)
    assert team["idle_waiting"] + team["idle_nothing"] + team["steps_not_asked"] - 4 == idle
    assert team["plannings_a_member"] == 2


def test_planning_iterations_idle_steps_and_parallel_work_of_each_member() -> None:
    """Worker 0 acts in steps 3, 6 and 9, worker 1 in steps 3 to 7, worker 2 in steps 3 and 6."""
    team, *members = measured(play(THREE, "graph"), done=6)
    assert [one["plannings"] for one in members] == [3, 1, 2]
    assert [(one["steps_acted"], one["steps_not_asked"]) for one in members] == [(3, 0), (1, 4), (2, 0)]
    assert [one["idle_thinking"] for one in members] == [6, 2, 4]
    assert team["share_together"] == pytest.approx(2 / 9)
    assert team["seconds_to_goal"] is None


def test_a_goal_that_is_not_reached_has_no_time_but_progress() -> None:
    loop = play(THREE, "graph", limit=4)
    team, *_ = measured(loop, done=6)
    assert (team["steps"], team["steps_to_goal"], team["progress"]) == (4, None, {"done": 2})
    late = plannings_of(loop.log())[-1]
    assert (late.decision.asked_in, late.due) == (4, 6), "it would have taken effect after the end"
    assert measured(play(THREE, "graph", limit=4))[0]["progress"] is None
    assert measured(play(THREE, "graph", schedule="together"), done=6)[0]["plannings"] is None


def test_jobs_of_a_leader_who_plans_for_all_are_counted_by_fate_and_time() -> None:
    team, *members = measured(play(LED, "tree"), done=6)
    assert (team["steps_to_goal"], team["plannings_a_member"]) == (9, 0.75)
    assert [one["plannings"] for one in members] == [3, 0, 0, 0]
    assert (team["jobs"], team["jobs_accepted"], team["jobs_done"], team["jobs_open"]) == (6, 6, 6, 0)
    assert [one["jobs"] for one in members] == [0, 3, 1, 2]
    assert members[0]["messages_by_kind"] == {"inform": 6}
    assert team["steps_to_accepted"] == 0


@pytest.mark.parametrize(("limit", "cycles", "longest"), [(9, 1, 3), (3, 0, None)])
def test_a_job_that_everybody_passes_on_is_a_cycle_of_three_hops(
    limit: int, cycles: int, longest: int | None
) -> None:
    agents = passer(1), passer(2), passer(0)
    loop = play("scripted+scripted+scripted", "graph", *agents, limit=4, cycle_limit=limit)
    team, *members = measured(loop)
    assert (team["cycles"], team["longest_cycle"]) == (cycles, longest)
    assert sum(one["cycles"] for one in members) == cycles


def test_stale_commands_are_those_of_their_member() -> None:
    late, first = wants(RUN_0, at=(2,)), wants(RUN_0, at=(1,))
    loop = play("scripted+scripted", "graph", first, late, lengths="2,9", limit=6)
    team, *members = measured(loop)
    assert [one["stale_commands"] for one in (team, *members)] == [1, 0, 1]
    assert [each.stale for each in plannings_of(loop.log())] == [0, 1]
    idle = Scripted(lambda situation: Decision({}, planned=False))
    assert measured(play("scripted+scripted", "graph", idle, idle, limit=2))[0]["stale_commands"] == 0


Said = tuple[int | None, Sequence[int], str, str, Mapping[str, Json]]
"""Sender, addressees, kind, text and data."""


def said(*messages: Said) -> EpisodeLog:
    """A log of a person (0) and two agents, with these messages, one a step."""
    members = [Member(number, (number,), is_person=number == 0) for number in range(3)]
    made = make_organisation("graph", members, seats=3)
    sent = (
        TeamMessage(number, number, sender, tuple(to), kind, text, data)
        for number, (sender, to, kind, text, data) in enumerate(messages, start=1)
    )
    return EpisodeLog("errands", {}, 3, 1, messages=tuple(sent), organisation=made)


def test_messages_are_counted_by_kind_and_the_platforms_are_left_out() -> None:
    log = said(
        (0, (1, 2), ASK, "who has rice", {}),
        (1, (0,), ANSWER, "I do", {}),
        (2, (1,), SAY, "hello", {}),
        (0, (1,), INFORM, "cook it", {}),
        (1, (0,), REPORT, "", {"job": 4, "status": "done", "house": True}),
        (None, (0,), "system", "so", {}),
    )
    team, person, cook, other = team_measures(log, Errands)
    assert (team["messages"], team["words"], team["share_by_people"]) == (4, 8, 0.5)
    assert team["messages_by_kind"] == {"answer": 1, "ask": 1, "inform": 1, "say": 1}
    assert (team["answers_a_question"], cook["answers_a_question"]) == (0.5, 1)
    assert (person["answers_a_question"], other["answers_a_question"]) == (None, 0)
    assert [one["is_person"] for one in (team, person, cook, other)] == [None, True, False, False]
    assert (cook["steps_to_done"], person["steps_to_done"]) == (1, None)


def test_messages_are_counted_by_pair_conversation_and_time_to_the_answer() -> None:
    """The messages have the steps 1, 2, … The fourth ends a conversation, the sixth begins another one."""
    log = said(
        (0, (1, 2), ASK, "who has rice", {}),
        (0, (1,), ASK, "you?", {}),
        (1, (0,), ANSWER, "I do", {}),
        (1, (0,), END, "bye", {}),
        (1, (0,), ANSWER, "again", {}),
        (2, (0,), ANSWER, "not me", {}),
        (2, (1,), INFORM, "cook", {}),
    )
    team, person, cook, other = team_measures(log, Errands)
    assert team["messages_by_pair"] == {"0>1": 2, "0>2": 1, "1>0": 3, "2>0": 1, "2>1": 1}
    assert cook["messages_by_pair"] == {"1>0": 3}
    assert (cook["steps_to_answer"], other["steps_to_answer"], person["steps_to_answer"]) == (1, 5, None)
    assert (team["steps_to_answer"], team["conversations"]) == (3, 3)
    assert [size for _, size in conversations_in(log)] == [3, 1, 1]
    assert (cook["messages_a_conversation"], other["messages_a_conversation"]) == (2, 1)
    silent = replace(log, messages=tuple(replace(one, step=20 * one.number) for one in log.messages))
    assert [size for _, size in conversations_in(silent)] == [1, 1, 1, 1]


def test_an_answer_closes_all_open_questions_and_counts_from_the_newest() -> None:
    asked: Said = 0, (1,), ASK, "where", {}
    answered: Said = 1, (0,), ANSWER, "here", {}
    log = said(asked, asked, answered, answered)
    timed = zip(log.messages, (1, 6, 7, 30), strict=True)
    log = replace(log, messages=tuple(replace(one, step=step) for one, step in timed))
    assert [one["steps_to_answer"] for one in team_measures(log, Errands)] == [1, None, 1, None]


HELLO: Said = 0, (1,), SAY, "hello", {}


def talked(log: EpisodeLog, *steps: int, within: bool = False) -> list[int]:
    """The sizes of the conversations, if the messages had these steps."""
    assert log.organisation
    timed = zip(log.messages, steps, strict=True)
    messages = tuple(replace(one, step=step) for one, step in timed)
    organisation = replace(log.organisation, within=within, silence=10)
    return [size for _, size in conversations_in(replace(log, messages=messages, organisation=organisation))]


def test_a_conversation_ends_after_silence_with_a_replaced_member_and_with_the_step_of_a_talk_within() -> (
    None
):
    gone: Said = None, (1,), SYSTEM, "gone", {"code": GONE, "member": 0}
    log = said(HELLO, HELLO)
    assert (talked(log, 1, 10), talked(log, 1, 11)) == ([2], [1, 1])
    assert (talked(log, 3, 3, within=True), talked(log, 3, 4, within=True)) == ([2], [1, 1])
    assert talked(said(HELLO, gone, HELLO), 1, 1, 1) == [1, 1]
    other: Said = (None, (1,), SYSTEM, "gone", {"code": GONE, "member": 2})
    assert talked(said(HELLO, other, HELLO), 1, 1, 1) == [2]


def test_the_end_of_no_conversation_begins_none() -> None:
    end: Said = 1, (0,), END, "", {}
    assert talked(said(end, HELLO, end, end), 1, 1, 1, 2) == [2]
    assert talked(said(HELLO, end), 1, 11) == [1]


def test_conversations_are_found_once_for_all_members(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Mock(wraps=conversations_in)
    monkeypatch.setattr(team_measures_module, "conversations_in", counted)
    assert [one["conversations"] for one in team_measures(said(HELLO), Errands)] == [1, 1, 1, 0]
    assert counted.call_count == 1


def test_a_failed_job_that_its_giver_gives_again_is_reassigned_once() -> None:
    failed = {"job": 1, "status": "failed"}
    given: Said = (0, (1,), INFORM, "chop", {})
    team, _, worker, other = team_measures(
        said(given, (1, (0,), REPORT, "no board", failed), (0, (2,), INFORM, "chop", {}), given), Errands
    )
    assert [one["jobs_reassigned"] for one in (team, worker, other)] == [1, 1, 0]
    assert team["jobs_failed"] == 1
    before, _, _, _ = team_measures(
        said(given, (0, (2,), INFORM, "chop", {}), (1, (0,), REPORT, "no board", failed)), Errands
    )
    assert before["jobs_reassigned"] == 0, "it was given to both before it failed"


def test_money_is_that_of_each_member_and_unknown_if_a_price_is() -> None:
    made = LoggedDecision(1, 1, "seat", "dispatcher", "", 1.0, calls=2, cost=0.5)
    log = replace(said(), decisions=(made, replace(made, member=2, calls=1, cost=None)))
    rows = team_measures(log, Errands)
    assert [(one["calls"], one["usd"]) for one in rows] == [(3, None), (0, 0), (2, 0.5), (1, None)]
    assert team_measures(replace(log, organisation=None), Errands) == []
