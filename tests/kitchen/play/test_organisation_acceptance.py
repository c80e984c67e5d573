"""Test the promises of organisations in live play: no agent delays another, two equal runs are the same, a
person works under an agent, and an agent learns that its late decision was dropped.

The test does the work of the workers: it runs their tasks one after another. All that organisations promise
is in tests whose names begin with `test_organisation_` and the promise: schedules by hand, nobody blocked,
same run twice, rights, monitor, cycle, person as root, person as leaf, plans, crossing, late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.assigned_jobs import jobs_in
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.coplayers.later_decisions import decide_later, let_agents_think
from kitchen.play.episode.advance_episode import run_due_step, submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode, members_of_plans
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live import page_watchdog
from kitchen.play.live.page_session import open_page
from kitchen.play.models import Decision as StoredDecision
from kitchen.play.models import Episode, Message, PendingQuestion, SeatCommand, Step
from kitchen.play.turn import page_broadcast, play_task_queue, turn_searches
from kitchen.play.turn.conversation import member_message
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_claims import claim_question, release_dead_claims
from kitchen.play.turn.turn_rules import waits_for_minds
from kitchen.play.turn.turn_searches import turns_to_decide, unclaimed_questions
from kitchen.registry import agent_registry
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.replay_verification import verify_replays
from tests.kitchen.agents.test_asking_schedule import Scripted
from tests.kitchen.agents.test_asking_schedule import play as play_alone
from tests.worlds.errands import LINE

pytestmark = pytest.mark.django_db


class Picker(Agent):
    """Begins the first open errand that no free seat before it will begin, and says so."""

    kind = "picker"
    TOLD: ClassVar[list[Situation]] = []

    @staticmethod
    def wanted(situation: Situation) -> list[str]:
        """The errand that it will begin; empty if there is none."""
        seat = situation.seats[0]
        seen = situation.observations[seat]
        place = seen["free"].index(seat) if seat in seen["free"] else len(seen["open"])
        return [str(number) for number in seen["open"][place : place + 1]]

    def will_plan(self, situation: Situation) -> bool:
        return bool(self.wanted(situation))

    async def decide(self, situation: Situation) -> Decision:
        Picker.TOLD.append(situation)
        if not (wanted := self.wanted(situation)):
            return Decision({}, planned=False)
        says = (MessageDraft(f"I begin {wanted[0]}."),)
        return Decision({situation.seats[0]: ("run", wanted[0])}, says=says, memory=situation.step)


class Mute(Agent):
    """Never answers."""

    kind = "mute"

    async def decide(self, situation: Situation) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.fixture(autouse=True)
def _errands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setitem(agent_registry.AGENTS, "picker", f"{__name__}:Picker")
    monkeypatch.setitem(agent_registry.AGENTS, "mute", f"{__name__}:Mute")
    monkeypatch.setattr(Picker, "TOLD", [])


def begin(
    *minds: MindPlan, kind: str = "graph", people: int = 0, lengths: str, limit: int = 40, **settings: Any
) -> Episode:
    """An episode of errands. In a `tree`, the last agent leads without a seat."""
    seats = people + sum(len(one.seats) for one in minds)
    members = [*members_of_plans(minds, seats=seats)]
    if kind == "tree":
        members.insert(0, Member(seats, (), is_person=False, name="Lead"))
    made = make_organisation(kind, members, seats=seats, settings=settings)
    return create_episode(
        world="errands",
        settings={"lengths": lengths, "limit": limit},
        seats=seats,
        seed=1,
        minds=minds,
        organisation=made,
        decision_seconds=0.3,
    )


def ask(episode: Episode, step: int) -> None:
    """Do what the task of a step does, in this thread. Nothing happens while a person has to choose."""
    let_agents_think(episode_id=episode.pk, step=step)
    with read_turn(episode.pk) as turn:
        is_asked = waits_for_minds(turn)
    if is_asked:
        decide_step(episode_id=episode.pk, step=step)


def work(episode: Episode, silent: Collection[int] = (), before: Callable[[], object] = lambda: None) -> int:
    """Do what workers do for the open step, until it waits for a person or for the `silent` agents. Return
    the number of steps taken so far."""
    before()
    for _ in range(200):
        episode.refresh_from_db()
        was = episode.step, PendingQuestion.objects.count(), StoredDecision.objects.count()
        ask(episode, episode.step + 1)
        for question in PendingQuestion.objects.exclude(mind__number__in=silent).order_by("pk"):
            decide_later(episode_id=episode.pk, step=question.asked_step, mind=question.mind.number)
        episode.refresh_from_db()
        Episode.objects.update(turn_opened_at=timezone.now() - timedelta(minutes=1))
        run_due_step(episode_id=episode.pk, step=episode.step + 1)
        episode.refresh_from_db()
        now = episode.step, PendingQuestion.objects.count(), StoredDecision.objects.count()
        if now == was or episode.status != Episode.Status.PLAYING:
            break
    return episode.step


def choose(episode: Episode, *command: str) -> None:
    """The command of the person in seat 0 for the open step; workers do their part before and after it."""
    work(episode)
    given = [SubmittedCommand(0, tuple(command))]
    assert submit_commands(episode_id=episode.pk, step=episode.step + 1, commands=given).accepted
    work(episode)


def commands(episode: Episode, *seats: int) -> list[tuple[int, int, list[str], str]]:
    rows = SeatCommand.objects.filter(episode=episode, seat__in=seats).order_by("step", "seat")
    return list(rows.values_list("step", "seat", "command", "chosen_by"))


def hashes(episode: Episode) -> list[str]:
    return list(Step.objects.filter(episode=episode).order_by("number").values_list("state_hash", flat=True))


def said(episode: Episode) -> list[tuple[int, int, int | None, str]]:
    rows = Message.objects.filter(episode=episode).order_by("number")
    return list(rows.values_list("number", "step", "sender", "text"))


LENGTHS = "1,5,1,1,1,1"


def test_organisation_nobody_blocked_by_an_agent_that_never_answers() -> None:
    """Two others need as many steps as without it; its time-outs are in the log."""
    pair = MindPlan("picker", (0,)), MindPlan("picker", (1,))
    without = begin(*pair, schedule="free", lengths=LENGTHS)
    work(without)
    beside = begin(*pair, MindPlan("mute", (2,)), schedule="free", lengths=LENGTHS)
    work(beside)
    assert commands(beside, 0, 1) == commands(without, 0, 1)
    assert (beside.status, beside.step) == (without.status, without.step) == (Episode.Status.OVER, 14)
    rows = StoredDecision.objects.filter(mind__episode=beside, mind__kind="mute")
    assert [(row.fallback, row.note["due"] - row.step) for row in rows] == [("timeout", 2)] * len(rows)
    assert len(rows) >= 4
    assert {row[3] for row in commands(beside, 2)} == {"thinking"}


def test_a_step_does_not_wait_for_a_decision_that_is_due_later() -> None:
    """With two steps to think, both steps run before the agent has decided; the next one waits for it."""
    episode = begin(MindPlan("picker", (1,)), people=1, schedule="free", lengths="9,9,9")
    work(episode)
    for step in (1, 2):
        given = [SubmittedCommand(0, ("wait",))]
        assert submit_commands(episode_id=episode.pk, step=step, commands=given).accepted
        ask(episode, step)
    episode.refresh_from_db()
    assert (episode.step, Picker.TOLD) == (1, [])
    assert commands(episode, 1) == [(1, 1, ["wait"], "thinking"), (2, 1, ["wait"], "thinking")]
    Episode.objects.update(turn_opened_at=timezone.now() - timedelta(minutes=1))
    assert turns_to_decide() == [], "a worker is to answer the question, not to run the step"
    assert decide_later(episode_id=episode.pk, step=1, mind=0)
    episode.refresh_from_db()
    assert episode.step == 2
    assert commands(episode, 1)[2] == (3, 1, ["run", "1"], "picker")
    assert not PendingQuestion.objects.exists()
    assert not decide_later(episode_id=episode.pk, step=1, mind=0), "a task may run twice"


def test_in_real_time_no_step_waits_and_a_decision_counts_from_the_next_step_on() -> None:
    minds = MindPlan("picker", (1,)), MindPlan("mute", (2,))
    episode = begin(*minds, people=1, schedule="free", think_steps="real", lengths="9,9,9")
    for step in (1, 2, 3):
        given = [SubmittedCommand(0, ("wait",))]
        assert submit_commands(episode_id=episode.pk, step=step, commands=given).accepted
        ask(episode, step)
    episode.refresh_from_db()
    assert episode.step == 3
    assert decide_later(episode_id=episode.pk, step=1, mind=0)
    given = [SubmittedCommand(0, ("wait",))]
    assert submit_commands(episode_id=episode.pk, step=4, commands=given).accepted
    assert commands(episode, 1)[-1] == (5, 1, ["run", "1"], "picker")
    row = StoredDecision.objects.get()
    assert row.note is not None
    assert (row.step, row.seen_step, row.note["due"]) == (1, 0, 5)
    assert [one.mind.kind for one in PendingQuestion.objects.all()] == ["mute"]
    assert {row[3] for row in commands(episode, 2)} == {"thinking"}


def test_organisation_nobody_blocked_a_round_ends_at_the_time_out() -> None:
    minds = MindPlan("picker", (0,)), MindPlan("mute", (1,))
    episode = begin(*minds, schedule="rounds", lengths="1,1", limit=7)
    work(episode)
    begun = [(step, seat) for step, seat, command, _ in commands(episode, 0, 1) if command[0] == "run"]
    assert begun == [(3, 0), (6, 0)]
    rows = StoredDecision.objects.filter(mind__kind="mute").order_by("step")
    assert [(row.step, row.fallback) for row in rows][:2] == [(1, "timeout"), (4, "timeout")]


def led(limit: int = 40) -> Episode:
    """A leader that plans with the stand-in, and three followers."""
    followers = [MindPlan("follower", (seat,)) for seat in range(3)]
    leader = MindPlan("hourglass", (), {"model": "stand-in"})
    return begin(*followers, leader, kind="tree", schedule="free", lengths=LENGTHS, limit=limit)


def test_organisation_same_run_twice_although_a_worker_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The killed worker had claimed the leader's question. Another asks it when the claim is released."""
    first, second = led(), led()
    work(first)
    killed: list[str] = []

    def kill_a_worker() -> None:
        ask(second, 1)
        question = PendingQuestion.objects.get()
        claim = claim_question(episode_id=second.pk, step=1, mind=question.mind.number)
        assert claim and not decide_later(episode_id=second.pk, step=1, mind=question.mind.number)
        PendingQuestion.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
        assert (unclaimed_questions(), release_dead_claims()) == ([], 0)
        with monkeypatch.context() as patched:
            patched.setattr("kitchen.play.turn.turn_claims.process_is_gone", lambda name: name in claim)
            assert release_dead_claims() == 1
        killed.append(claim)
        assert unclaimed_questions() == [(second.pk, 1, question.mind.number)]

    work(second, before=kill_a_worker)
    assert killed and first.status == second.status == Episode.Status.OVER
    assert hashes(first) == hashes(second) and len(hashes(first)) == first.step
    assert said(first) == said(second) and said(first)
    rows = Episode.objects.order_by("pk")
    assert all(verdict.holds for verdict in verify_episode_logs(rows))
    assert [verdict.fault for verdict in verify_replays(rows)] == ["", ""]


def test_live_play_is_the_same_as_agents_alone() -> None:
    episode = begin(*(MindPlan("picker", (seat,)) for seat in range(3)), schedule="free", lengths=LENGTHS)
    work(episode)

    def like_picker(situation: Situation) -> Decision:
        wanted = Picker.wanted(situation)
        if not wanted:
            return Decision({}, planned=False)
        return Decision(
            {situation.seats[0]: ("run", wanted[0])}, says=(MessageDraft(f"I begin {wanted[0]}."),)
        )

    alone = play_alone("scripted+scripted+scripted", "graph", *(Scripted(like_picker) for _ in range(3)))
    assert episode.step == alone.game.clock == 9
    for row, step in zip(
        Step.objects.filter(episode=episode).order_by("number"), alone.log().steps, strict=True
    ):
        there = {one["seat"]: tuple(one["command"]) for one in row.commands}
        assert there == {one.seat: one.command for one in step.commands}
    assert [(one[1], one[2], one[3]) for one in said(episode)] == [
        (one.step, one.sender, one.text) for one in alone.log().messages
    ]


def leaf() -> Episode:
    """A person in seat 0 and a follower in seat 1, led by a stand-in."""
    minds = MindPlan("follower", (1,)), MindPlan("hourglass", (), {"model": "stand-in"})
    return begin(*minds, kind="tree", people=1, schedule="free", lengths="2,9,2", limit=60)


def states(episode: Episode) -> list[tuple[int, int, str]]:
    jobs = jobs_in(map(member_message, Message.objects.filter(episode=episode).order_by("number")))
    return [(job.worker, job.step, job.state) for job in jobs]


def test_organisation_person_as_leaf_whose_job_is_done() -> None:
    episode = leaf()
    choose(episode, "wait")
    choose(episode, "wait")
    (job,) = Message.objects.filter(kind="inform", to=[0])
    assert (job.step, job.sender) == (3, 2), "the leader thinks for two steps"
    assert send_message(
        episode_id=episode.pk, seat=0, say=MessageDraft("", "accept", (2,), {"job": job.number})
    ).accepted
    choose(episode, *job.data["aim"])
    work(episode)
    assert (0, 3, "done") in states(episode)
    report = Message.objects.filter(kind="report", sender=0, data__status="done").get()
    assert report.data["house"] is True


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
def test_organisation_person_as_leaf_gets_the_card_of_a_job_with_the_first_news_after_its_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages are notified after each commit, so the first notification after the message shows the card."""
    episode = leaf()
    key = episode.seats.get(number=0).key
    page, answer = open_page(key, "page-of-leaf", newest=True, json=False, language="en")
    assert page is not None and "is-given" not in "".join(answer.texts)
    news: list[tuple[bool, bool]] = []

    def look(*told: object) -> None:
        is_stored = Message.objects.filter(kind="inform", to=[0]).exists()
        news.append((is_stored, 'class="said job is-given"' in "".join(page.look().texts)))

    monkeypatch.setattr(page_broadcast, "nudge_pages", look)
    monkeypatch.setattr(play_task_queue, "_send_later", lambda *task, **options: None)
    choose(episode, "wait")
    assert news and not any(is_stored or is_shown for is_stored, is_shown in news)
    choose(episode, "wait")
    assert next(is_shown for is_stored, is_shown in news if is_stored)


def test_organisation_person_as_leaf_declines_and_the_leader_plans_again_within_its_think_steps() -> None:
    episode = leaf()
    choose(episode, "wait")
    choose(episode, "wait")
    (job,) = Message.objects.filter(kind="inform", to=[0])
    assert send_message(
        episode_id=episode.pk, seat=0, say=MessageDraft("no", "decline", (2,), {"job": job.number})
    ).accepted
    declined_in = Message.objects.latest("number").step
    for _ in range(4):
        choose(episode, "wait")
    again = Message.objects.filter(kind="inform", to=[0]).order_by("number").last()
    assert again is not None and again.number != job.number
    assert again.step <= declined_in + 1 + 2
    row = StoredDecision.objects.filter(mind__kind="hourglass", step=declined_in + 1).last()
    assert row is None or row.because in {"job", "message"}


def test_organisation_late_decision_that_is_no_longer_legal_is_dropped_logged_and_told() -> None:
    """Asked in step 1, it takes effect in step 3; the person begins its errand in step 2."""
    episode = begin(MindPlan("picker", (1,)), people=1, schedule="free", lengths="9,9,9")
    choose(episode, "wait")
    episode.refresh_from_db()
    assert episode.schedule_state is not None
    (made,) = episode.schedule_state["pending"]
    wanted = made["commands"]["1"][1]
    choose(episode, "run", wanted)
    events = Step.objects.get(episode=episode, number=2).events
    assert [event for event in events if event["kind"] == "plan_broken"] == [
        {"kind": "plan_broken", "seat": 1, "why": "stale", "left": [["run", wanted]], "planned_in": 1}
    ]
    work(episode)
    told = Picker.TOLD[-1]
    assert [(one.step, dict(one.commands), one.stale) for one in told.late] == [
        (3, {1: ("run", wanted)}, True)
    ]
    assert told.memory == 0


def test_lost_tasks_of_questions_are_queued_again_and_the_page_server_stands_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any worker, the server of the pages answers the question with the fallback, so play goes on."""
    episode = begin(MindPlan("picker", (1,)), people=1, schedule="free", think_steps=1, lengths="9,9,9")
    given = [SubmittedCommand(0, ("wait",))]
    assert submit_commands(episode_id=episode.pk, step=1, commands=given).accepted
    tasks.decide(episode.pk, 1)
    queued: list[tuple[int, ...]] = []
    monkeypatch.setattr(tasks, "ask_for_later_again", lambda *asked: queued.append(asked))
    monkeypatch.setattr(tasks, "ask_coplayers_again", lambda *asked: queued.append(asked))
    long_ago = timezone.now() - timedelta(minutes=5)
    PendingQuestion.objects.update(asked_at=long_ago)
    Episode.objects.update(turn_opened_at=long_ago)
    assert tasks.pick_up_open_turns() == 0
    assert queued == [(episode.pk, 1, 0)]
    assert turn_searches.undecided_turns(timedelta(seconds=-10), free=True) == [(episode.pk, 1)]
    monkeypatch.setattr(page_watchdog, "closing", nullcontext)
    page_watchdog.rescue_turns([(episode.pk, 1)], [])
    episode.refresh_from_db()
    row = StoredDecision.objects.get()
    assert (episode.step, row.fallback) == (1, "timeout")
    tasks.decide_open_question(episode.pk, 1, 0)
    assert StoredDecision.objects.count() == 1
