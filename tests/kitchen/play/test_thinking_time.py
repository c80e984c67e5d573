"""Co-players take their time without holding anybody up, and what they decided waits in the database."""

from __future__ import annotations

import time

import pytest
from django.db import transaction

from kitchen import tasks
from kitchen.contract.agent import Agent, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.page_view import SeatView
from kitchen.infra.append_only import erasure_allowed
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.live.seat_view import seat_view_in_turn
from kitchen.play.models import Decision, Episode, Seat, Step
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import turns_to_decide
from kitchen.play.turn.websocket_messages import TurnStamp
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = pytest.mark.servers

Queued = list[tuple[int, int, float]]


class Slow(Agent):
    """Needs half a second."""

    kind = "slow"

    async def decide(self, situation: Situation) -> MindDecision:
        time.sleep(0.5)
        return MindDecision({})


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Queued:
    """Runs of steps that were queued for later: episode, step, seconds. Commits are at once."""
    queued: Queued = []
    monkeypatch.setattr(
        "kitchen.play.episode.advance_episode.run_step_later", lambda *told: queued.append(told)
    )
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *told: None)
    monkeypatch.setattr(transaction, "on_commit", lambda told: told())
    return queued


@pytest.mark.django_db
def test_a_step_of_a_persons_plan_is_seen_before_the_next_one(later: Queued) -> None:
    episode = make_episode(offers_plans=True, order_choices=True)
    submit(episode, 1, "goto", "storage0", then=(("get", "storage0", "tuna"),))
    episode.refresh_from_db()
    ((number, step, seconds),) = later
    assert (episode.step, number, step) == (1, episode.pk, 2) and 0 < seconds <= 0.3


def decided(seconds: float, kind: str = "planner") -> Episode:
    """An episode whose first step is decided, with so many seconds of thinking."""
    episode = make_episode(seats=2, minds=(mind(kind, 1),), thinking_seconds=seconds)
    submit(episode, 1, "noop")
    receipt = agent_decisions.decide_step(episode_id=episode.pk, step=1)
    assert receipt and receipt.accepted
    episode.refresh_from_db()
    return episode


@pytest.mark.django_db
def test_a_decision_is_kept_and_the_step_runs_when_the_time_is_over(later: Queued) -> None:
    episode = decided(30)
    assert (episode.step, Decision.objects.count(), Step.objects.count()) == (0, 1, 0)
    assert [(pk, step) for pk, step, _ in later] == [(episode.pk, 1)]
    assert 29 < later[0][2] <= 30
    assert not run_due_step(episode_id=episode.pk, step=1)
    assert len(later) == 2, "too early: once more"
    Episode.objects.update(thinking_seconds=0)
    assert run_due_step(episode_id=episode.pk, step=1)
    assert not run_due_step(episode_id=episode.pk, step=1)
    assert Step.objects.get().commands[1]["chosen_by"] == "planner"


@pytest.mark.django_db
def test_the_time_of_a_model_is_part_of_the_thinking_time(
    later: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "slow", f"{__name__}:Slow")
    decided(10, "slow")
    assert 9 < later[0][2] < 9.5
    assert decided(0.3, "slow").step == 1
    assert len(later) == 1


def shown(seat: Seat) -> tuple[SeatView, TurnStamp]:
    """What the page shows, and by what it would know that it has to change."""
    with read_turn(seat.episode_id) as turn:
        return seat_view_in_turn(turn, seat.number), turn.stamp


@pytest.mark.django_db
def test_the_person_sees_nothing_of_a_decision_before_its_step_runs(later: Queued) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),), thinking_seconds=30)
    submit(episode, 1, "noop")
    seat = Seat.objects.get(episode=episode, number=0)
    before = shown(seat)
    agent_decisions.decide_step(episode_id=episode.pk, step=1)
    assert shown(seat) == before
    assert before[0].phase == "thinking"
    assert before[0].waiting_for == (1,)


@pytest.mark.django_db
def test_a_step_whose_task_was_lost_is_found_when_it_is_overdue_and_nobody_is_asked_again(
    later: Queued,
) -> None:
    episode = decided(30)
    Episode.objects.update(turn_opened_at="2020-01-01T00:00:00Z")
    assert turns_to_decide() == []
    Episode.objects.update(deciding_until="2020-01-01T00:00:00Z", thinking_seconds=0)
    assert turns_to_decide() == [(episode.pk, 1)]
    tasks.decide(episode.pk, 1)
    assert (Step.objects.count(), Decision.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_an_episode_that_ends_while_its_co_players_think_is_left_alone(later: Queued) -> None:
    episode = decided(30)
    end_episode(episode_id=episode.pk, reason="over")
    Episode.objects.update(thinking_seconds=0)
    assert not run_due_step(episode_id=episode.pk, step=1)
    with erasure_allowed():
        episode.delete()
    assert not run_due_step(episode_id=episode.pk, step=1)


@pytest.mark.django_db
def test_many_co_players_think_at_once_on_one_thread(later: Queued) -> None:
    """Ten episodes, half a minute each: who decides waits for none, and each runs when it is due."""
    begun = time.monotonic()
    for _ in range(10):
        decided(30, "random")
    assert time.monotonic() - begun < 30
    assert (len(later), Step.objects.count()) == (10, 0)
    Episode.objects.update(thinking_seconds=0)
    for pk, step, _ in later:
        tasks.run_step(pk, step)
    assert Step.objects.count() == 10
