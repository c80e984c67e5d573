"""Minds that decide side by side: each with a task, a claim and a time of its own, and in a stated order."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import pytest

from kitchen import tasks
from kitchen.contract.agent import Agent, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.world import Command
from kitchen.contract.world_errors import SettingsError
from kitchen.infra.hmac_seals import canonical_text, plain_json
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode import log_integrity
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live import page_watchdog
from kitchen.play.models import Decision, Episode, Mind, Seat, Step
from kitchen.play.turn import turn_cache, turn_claims
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import turns_to_decide
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.sqlite]
LONG_AGO = "2020-01-01T00:00:00Z"


class Told(Agent):
    """Goes to the pot, and writes down what it was told."""

    kind = "told"
    seen: dict[int, dict[int, Command]] = {}

    async def decide(self, situation: Situation) -> MindDecision:
        self.seen[situation.seats[0]] = dict(situation.commanded)
        calls = situation.memory["calls"] if situation.memory else 0
        return MindDecision(dict.fromkeys(situation.seats, ("goto", "pot0")), memory={"calls": calls + 1})


@pytest.fixture(autouse=True)
def one_more_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "told", f"{__name__}:Told")
    monkeypatch.setattr(Told, "seen", {})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Of whom workers were asked, and nobody did anything yet."""
    told: list[tuple[int, ...]] = []
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: told.append(turn))
    monkeypatch.setattr(tasks, "ask_coplayers", lambda *turn: told.append(turn))
    return told


def apart(knowing: str = "people", **more: Any) -> Episode:
    """Two minds of one seat each beside a person."""
    return make_episode(seats=3, minds=(mind("told", 1), mind("told", 2)), knowing=knowing, **more)


def decide(episode: Episode, number: int, step: int = 1) -> None:
    claim = turn_claims.claim_decision(episode_id=episode.pk, step=step, mind=number)
    assert claim
    agent_decisions.decide_step(episode_id=episode.pk, step=step, claim=claim, mind=number)


@pytest.mark.parametrize(
    ("knowing", "first", "second"),
    [
        ("everybody", {0: ("noop",)}, {0: ("noop",), 1: ("goto", "pot0")}),
        ("people", {0: ("noop",)}, {0: ("noop",)}),
        ("nobody", {}, {}),
    ],
)
def test_a_mind_is_told_of_the_step_what_the_episode_says(
    knowing: str, first: dict[int, Command], second: dict[int, Command]
) -> None:
    episode = apart(knowing)
    submit(episode, 1, "noop")
    agent_decisions.decide_step(episode_id=episode.pk, step=1)
    assert Told.seen == {1: first, 2: second}


def test_a_word_that_says_nothing_of_knowing_is_refused() -> None:
    with pytest.raises(SettingsError, match="knowing: 'some' is not one of everybody, people, nobody"):
        apart("some")


def test_each_mind_gets_a_task_and_is_asked_once(
    asked: list[tuple[int, ...]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        episode = apart()
        submit(episode, 1, "noop")
        assert not asked
    assert asked == [(episode.pk, 1, 0), (episode.pk, 1, 1)]
    with django_capture_on_commit_callbacks(execute=True):
        for turn in list(asked):
            tasks.decide(*turn)
    assert len(asked) == 2 and Step.objects.get().number == 1
    assert {row.mind.number: row.number for row in Decision.objects.all()} == {0: 1, 1: 1}


def test_one_after_the_other_is_one_task_as_ever(
    asked: list[tuple[int, ...]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        episode = apart("everybody")
        submit(episode, 1, "noop")
    assert asked == [(episode.pk, 1)]


def test_a_task_for_all_gives_each_that_is_left_its_own(asked: list[tuple[int, ...]]) -> None:
    episode = apart()
    submit(episode, 1, "noop")
    decide(episode, 1)
    tasks.decide(episode.pk, 1)
    assert asked == [(episode.pk, 1, 0)]


def test_they_run_in_their_order_whichever_decides_first_and_the_log_holds() -> None:
    orders = []
    for numbers in ((0, 1), (1, 0)):
        episode = apart()
        submit(episode, 1, "noop")
        for number in numbers:
            decide(episode, number)
        step = Step.objects.get(episode=episode)
        orders.append(([entry["seat"] for entry in step.commands], step.state_hash))
    assert orders[0] == orders[1] and orders[0][0] == [0, 1, 2]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_what_the_other_one_holds_is_no_hindrance_and_its_own_is() -> None:
    episode = apart()
    submit(episode, 1, "noop")
    mine = turn_claims.claim_decision(episode_id=episode.pk, step=1, mind=0)
    assert mine and not turn_claims.claim_decision(episode_id=episode.pk, step=1, mind=0)
    decide(episode, 1)
    receipt = agent_decisions.decide_step(episode_id=episode.pk, step=1, claim="another", mind=0)
    assert receipt and receipt.code == "taken"
    receipt = agent_decisions.decide_step(episode_id=episode.pk, step=1, claim=mine, mind=0)
    assert receipt and receipt.accepted
    assert agent_decisions.decide_step(episode_id=episode.pk, step=1, claim=mine, mind=0) is None


def test_a_look_finds_whoever_is_left_and_nobody_else() -> None:
    episode = apart()
    submit(episode, 1, "noop")
    Episode.objects.update(turn_opened_at=LONG_AGO)
    mine = turn_claims.claim_decision(episode_id=episode.pk, step=1, mind=0)
    assert mine and turns_to_decide() == [(episode.pk, 1)]
    decide(episode, 1)
    assert turns_to_decide() == []
    Mind.objects.filter(number=0).update(deciding_until=LONG_AGO)
    assert turns_to_decide() == [(episode.pk, 1)]


def test_where_no_worker_comes_those_fall_back_that_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_watchdog, "GRACE_SECONDS", 0.0)
    episode = apart()
    submit(episode, 1, "noop")
    Episode.objects.update(decision_seconds=0)
    mine = turn_claims.claim_decision(episode_id=episode.pk, step=1, mind=0)
    (turns, _) = page_watchdog.stranded_turns()
    for episode_id, step in turns:
        page_watchdog._fall_back(episode_id=episode_id, step=step)
    assert list(Decision.objects.values_list("mind__number", "fallback")) == [(1, "timeout")]
    Episode.objects.update(decision_seconds=30)
    receipt = agent_decisions.decide_step(episode_id=episode.pk, step=1, claim=mine, mind=0)
    assert receipt and receipt.accepted
    assert [entry["fallback"] for entry in Step.objects.get().commands] == ["", "", "timeout"]


@pytest.mark.django_db(transaction=True)
def test_what_another_process_decided_is_remembered_all_the_same() -> None:
    episode = apart()
    for step in (1, 2, 3):
        submit(episode, step, "noop")
        with read_turn(episode.pk) as turn:
            before = [turn.memories[each.pk] for each in turn.minds]
        assert before == ([{"calls": step - 1}] * 2 if step > 1 else [None] * 2)
        ours = turn_cache._take(episode.pk)
        decide(episode, 0, step)
        turn_cache._take(episode.pk)  # what the other process keeps
        assert ours is turn
        turn_cache._put(turn)
        decide(episode, 1, step)


@pytest.mark.django_db(transaction=True)
def test_a_slow_mind_has_its_time_while_another_has_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on = threading.Event(), threading.Event()

    class Slow(Told):
        async def decide(self, situation: Situation) -> MindDecision:
            if situation.seats == (1,):
                began.set()
                assert go_on.wait(10)
            return await super().decide(situation)

    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Slow({}))
    episode = apart()
    submit(episode, 1, "noop")
    slow = threading.Thread(target=tasks.decide, args=(episode.pk, 1, 0))
    slow.start()
    assert began.wait(10)
    tasks.decide(episode.pk, 1, 1)
    assert list(Decision.objects.values_list("mind__number", flat=True)) == [1]
    go_on.set()
    slow.join(10)
    assert list(Decision.objects.order_by("pk").values_list("mind__number", "seen_step", "because")) == [
        (1, 0, "seat"),
        (0, 0, "seat"),
    ]
    assert [entry["command"] for entry in Step.objects.get().commands][1:] == [["goto", "pot0"]] * 2


def test_a_log_of_before_keeps_its_seal() -> None:
    """What nobody wrote down there is no part of what was sealed."""
    episode = make_episode(seats=2, minds=(mind("told", 1),), steps=1)
    before = Decision(mind=Mind.objects.get(), step=1, played_by="told", milliseconds=1.0)
    before.save()
    (facts,) = log_integrity.sealed_facts_of([episode])
    told = [
        [0, "told", {}],
        [0, Seat.objects.get(number=0).name, None],
        [1, Seat.objects.get(number=1).name, 0],
        [0, 1, before.decided_at, "", "", None, 1.0, None, "told"],
    ]
    lines = "".join(f"{canonical_text([plain_json(value) for value in row])}\n" for row in told)
    assert facts.values["log"] == hashlib.sha256(lines.encode()).hexdigest()
