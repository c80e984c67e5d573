"""Decisions of which nothing comes are kept with what they cost; nobody waits for a model in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.agent import Agent, LateDecision, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.language_model import Call, Message, Reply, Request
from kitchen.infra.append_only import erasure_allowed
from kitchen.infra.db_retry import DB_THREADS
from kitchen.infra.event_loop import run_in_loop, wait_until_idle
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Mind, ModelCall, Step
from kitchen.play.turn import turn_claims
from kitchen.play.turn.decision_records import store_dropped_decisions
from kitchen.play.turn.turn_cache import read_turn
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers]


class Slow(Agent):
    """Asks a model that answers when the test says so."""

    kind = "slow"
    names_model = "model"
    gate: Future[str] = Future()
    waiting: list[tuple[int, ...]] = []
    late: list[tuple[LateDecision, ...]] = []

    async def decide(self, situation: Situation) -> MindDecision:
        self.waiting.append(situation.seats)
        self.late.append(situation.late)
        reply = Reply(await asyncio.wrap_future(self.gate), cost=0.25)
        call = Call("p", Request("m", [Message("user", "?")]), reply, cost=0.25)
        return MindDecision({situation.seats[0]: ("goto", "pot0")}, memory="slow", calls=(call,))


@pytest.fixture(autouse=True)
def a_gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(agent_registry.AGENTS, "slow", f"{__name__}:Slow")
    monkeypatch.setattr(Slow, "gate", Future())
    monkeypatch.setattr(Slow, "waiting", [])
    monkeypatch.setattr(Slow, "late", [])
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    yield
    if not Slow.gate.done():
        Slow.gate.set_result("whatever")


def begun(seconds: float = 0.05, **more: int) -> Episode:
    """One whose person has commanded, and whose co-player has so many seconds."""
    episode = make_episode(seats=2, minds=(mind("slow", 1),), **more)
    Episode.objects.filter(pk=episode.pk).update(decision_seconds=seconds)
    submit(episode, 1, "noop")
    return episode


def asked(number: int) -> None:
    """Wait until so many minds wait for their model."""
    while len(Slow.waiting) < number:
        wait_until_idle(0.02)


def test_what_comes_too_late_is_stored_with_what_it_cost_and_not_gone_on_from() -> None:
    episode = begun()
    tasks.decide(episode.pk, 1)
    while not Step.objects.exists():
        wait_until_idle(0.02)
    assert Decision.objects.get().fallback == "timeout"
    Slow.gate.set_result("late")
    assert wait_until_idle(10)
    late = Decision.objects.get(number=2)
    assert (late.step, late.seen_step, late.dropped, late.fallback, late.memory) == (1, 0, "late", "", "slow")
    assert late.note == {"note": None, "dropped": {"commands": {"1": ["goto", "pot0"]}}}
    assert ModelCall.objects.get().decision == late and ModelCall.objects.get().cost == Decimal("0.25")
    with read_turn(episode.pk) as turn:
        assert list(turn.memories.values()) == [None]
    assert Step.objects.get().commands[1]["command"] == ["noop"]


def test_a_mind_is_told_once_of_what_came_too_late() -> None:
    episode = begun()
    tasks.decide(episode.pk, 1)
    while not Step.objects.exists():
        wait_until_idle(0.02)
    Slow.gate.set_result("late")
    assert wait_until_idle(10)
    for step in (2, 3):
        Episode.objects.filter(pk=episode.pk).update(decision_seconds=30.0)
        submit(episode, step, "noop")
        tasks.decide(episode.pk, step)
        assert wait_until_idle(10)
    assert Episode.objects.get(pk=episode.pk).step == 3
    assert Slow.late == [(), (LateDecision(1, {1: ("goto", "pot0")}),), ()]


def test_what_comes_after_the_end_is_kept_and_the_seal_holds() -> None:
    episode = begun(steps=1)
    tasks.decide(episode.pk, 1)
    while not Step.objects.exists():
        wait_until_idle(0.02)
    Slow.gate.set_result("late")
    assert wait_until_idle(10)
    assert list(Decision.objects.order_by("number").values_list("dropped", flat=True)) == ["", "over"]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
    other = begun(30.0)
    tasks.decide(other.pk, 1)
    assert wait_until_idle(10)
    assert end_episode(episode_id=other.pk, reason="asleep")
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_whose_person_has_left_has_nothing_stored(caplog: pytest.LogCaptureFixture) -> None:
    episode = begun(30.0)
    tasks.decide(episode.pk, 1)
    asked(1)
    with erasure_allowed():
        Episode.objects.all().delete()
    Slow.gate.set_result("late")
    assert wait_until_idle(10)
    assert not Decision.objects.exists()
    assert "decided in vain (gone); 1 calls of models, 0.2500 USD" in caplog.text


def test_many_wait_for_models_without_a_thread_and_their_claims_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_in_loop(asyncio.sleep(0))  # its thread is there
    threads = threading.active_count()
    episodes = [begun(30.0) for _ in range(12)]
    for episode in episodes:
        tasks.decide(episode.pk, 1)
    asked(len(episodes))
    assert threading.active_count() <= threads + 1 + DB_THREADS, "one keeps all claims"
    Mind.objects.update(deciding_until="2020-01-01T00:00:00Z")
    assert turn_claims.renew_claims(turn_claims._keeper._left()) == len(episodes)
    assert not Mind.objects.filter(deciding_until__lt=timezone.now()).exists()
    Slow.gate.set_result("now")
    assert wait_until_idle(10)
    assert [step.commands[1]["command"] for step in Step.objects.all()] == [["goto", "pot0"]] * 12
    assert not turn_claims._keeper._held


def test_an_episode_that_got_the_number_of_another_gets_nothing_of_it() -> None:
    """As after a backup was put back."""
    episode = begun(30.0)
    row = Decision(mind=Mind.objects.get(), step=1, played_by="slow", milliseconds=1.0)
    episode.key = uuid4()
    assert not store_dropped_decisions(episode=episode, rows=[(row, ())], why="late")
    assert not Decision.objects.exists()
