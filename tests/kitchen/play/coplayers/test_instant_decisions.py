"""Co-players that need no time decide where the step is taken; whatever goes wrong is left to a worker."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Future
from typing import Any

import pytest
from django.db import DataError

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.organisation import make_organisation
from kitchen.infra import process_pool
from kitchen.play.coplayers import agent_situations, instant_decisions
from kitchen.play.coplayers.agent_situations import current_situation
from kitchen.play.coplayers.instant_decisions import InstantDecisions
from kitchen.play.episode.create_episode import members_of_plans
from kitchen.play.live.page_session import OpenPage, PageAnswer, open_page
from kitchen.play.models import Decision as DecisionRow
from kitchen.play.models import Episode, Message, Mind, SeatCommand, Step
from kitchen.play.turn import decision_records
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.websocket_messages import CommandMessage
from kitchen.registry import agent_registry
from tests.kitchen.factories import make_episode, mind

pytestmark = pytest.mark.django_db


class Clumsy(Agent):
    """Instant, and fails."""

    kind = "clumsy"
    instant = True
    light = True

    async def decide(self, situation: Situation) -> Decision:
        raise RuntimeError("no idea")


class Hears(Agent):
    """Notes what it is told."""

    kind = "hears"
    instant = True
    light = True

    async def decide(self, situation: Situation) -> Decision:
        return Decision(commands={}, memory=[said.text for said in situation.talk.messages])


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of their own begins in its time, however busy the machine is."""
    monkeypatch.setattr(instant_decisions, "LINE_SECONDS", 60.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What workers were asked for: episode and step."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act: act())
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: told.append(turn))
    for kind in (Clumsy, Hears):
        monkeypatch.setitem(agent_registry.AGENTS, kind.kind, f"{__name__}:{kind.__name__}")
    return told


def page_of(episode: Episode) -> OpenPage:
    page, _ = open_page(episode.seats.get(number=0).key, "first-page", newest=True, json=True)
    assert page
    return page


def state(answer: Any) -> dict[str, Any]:
    assert isinstance(answer, PageAnswer)
    told: dict[str, Any] = json.loads(answer.texts[-1])
    return told


def test_a_light_co_player_decides_in_the_same_visit(asked: list[tuple[int, int]]) -> None:
    page = page_of(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert [entry["chosen_by"] for entry in Step.objects.get().commands] == ["person", "random", "random"]
    assert DecisionRow.objects.count() == 2
    assert not asked


def test_they_are_told_what_was_said_in_another_process_meanwhile(asked: list[tuple[int, int]]) -> None:
    minds = (mind("hears", 1),)
    team = make_organisation("central", members_of_plans(minds, seats=2), seats=2, settings={"talk": True})
    episode = make_episode(seats=2, minds=minds, organisation=team)
    page = page_of(episode)
    Message.objects.create(episode=episode, number=1, step=1, sender=0, to=[1], kind="say", text="fetch rice")
    Episode.objects.filter(pk=episode.pk).update(messages=1)
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert DecisionRow.objects.get().memory == ["fetch rice"]


def apart_decided(page: OpenPage) -> dict[str, Any]:
    """What the page shows when those have decided that are asked apart."""
    message = CommandMessage(1, ("noop",))
    deciding = page.command(message)
    assert isinstance(deciding, InstantDecisions) and deciding.question
    asyncio.run(deciding.finish())
    return state(page.decided(message, deciding.asked))


def test_one_that_costs_processor_time_decides_in_a_process_of_its_own(asked: list[tuple[int, int]]) -> None:
    page = page_of(make_episode(seats=3, minds=(mind("planner", 1), mind("random", 2))))
    assert apart_decided(page)["step"] == 1
    assert [entry["chosen_by"] for entry in Step.objects.get().commands] == ["person", "planner", "random"]
    assert not asked


def test_a_queue_that_is_full_leaves_them_to_a_worker(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*told: Any) -> None:
        raise RuntimeError("full")

    monkeypatch.setattr(process_pool, "submit", full)
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert apart_decided(page_of(episode))["phase"] == "thinking"
    assert asked == [(episode.pk, 1)]


def test_each_agent_s_situation_is_made_once_a_step(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(turn: OpenTurn, mind: Mind) -> Situation:
        made.append(mind.number)
        return current_situation(turn, mind)

    monkeypatch.setattr(agent_situations, "current_situation", counted)
    page = page_of(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert made == [0, 1]


class Pool(list[Future[Decision]]):
    """Instead of child processes: keeps what it was asked for. A child begins at once if one is `free`."""

    def __init__(self, *, free: bool) -> None:
        super().__init__()
        self.free = free

    def submit(self, *told: Any) -> Future[Decision]:
        self.append(Future())
        if self.free:
            self[-1].set_running_or_notify_cancel()
            asyncio.get_running_loop().call_later(0.05, self[-1].set_result, Decision({1: ("noop",)}))
        return self[-1]


def test_a_decision_that_a_child_has_begun_is_never_made_a_second_time(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(free=True)
    monkeypatch.setattr(process_pool, "submit", pool.submit)
    monkeypatch.setattr(instant_decisions, "LINE_SECONDS", 0.0)
    page = page_of(make_episode(seats=2, minds=(mind("planner", 1),)))
    assert apart_decided(page)["step"] == 1
    assert (len(pool), DecisionRow.objects.count(), asked) == (1, 1, [])


@pytest.mark.parametrize("step_seconds", [None, 1.0])
def test_one_that_no_child_has_begun_in_time_is_only_made_by_a_worker(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch, step_seconds: float | None
) -> None:
    pool = Pool(free=False)
    monkeypatch.setattr(process_pool, "submit", pool.submit)
    monkeypatch.setattr(instant_decisions, "INSTANT_SECONDS", 0.0)
    monkeypatch.setattr(instant_decisions, "LINE_SECONDS", 60.0 if step_seconds else 0.0)
    episode = make_episode(seats=2, minds=(mind("planner", 1),), step_seconds=step_seconds)
    assert apart_decided(page_of(episode))["phase"] == "thinking"
    assert [each.cancelled() for each in pool] == [True]
    assert asked == [(episode.pk, 1)]


@pytest.mark.parametrize("kinds", [("clumsy",), ("random", "clumsy")])
def test_one_that_fails_is_asked_by_a_worker_and_the_command_is_kept(
    asked: list[tuple[int, int]], kinds: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    minds = tuple(mind(kind, number) for number, kind in enumerate(kinds, start=1))
    episode = make_episode(seats=1 + len(minds), minds=minds)
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert [row.chosen_by for row in SeatCommand.objects.all()] == ["person"]
    assert asked == [(episode.pk, 1)]
    assert "left to a worker" in caplog.text


def test_what_cannot_be_stored_is_left_to_a_worker_and_the_command_is_kept(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*rows: Any) -> None:
        raise DataError("too long")

    monkeypatch.setattr(decision_records, "insert_rows", full)
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert [row.chosen_by for row in SeatCommand.objects.all()] == ["person"]
    assert asked == [(episode.pk, 1)]


def test_a_kind_that_is_known_no_more_is_no_reason_to_close_the_page(asked: list[tuple[int, int]]) -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    Mind.objects.update(kind="forgotten")
    page = page_of(episode)
    assert state(page.command(CommandMessage(1, ("noop",))))["phase"] == "thinking"
    assert asked == [(episode.pk, 1)]


@pytest.mark.parametrize("words", [("goto", "oven7"), ("fly",)])
def test_nobody_is_asked_for_a_command_that_is_not_taken(
    asked: list[tuple[int, int]], words: tuple[str, ...]
) -> None:
    page = page_of(make_episode(seats=2, minds=(mind("clumsy", 1),)))
    answer = page.command(CommandMessage(1, words))
    assert isinstance(answer, PageAnswer) and "not_offered" in answer.texts[0]
    assert not asked and not SeatCommand.objects.exists()


def test_thinking_time_holds_for_those_who_need_none(
    asked: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kitchen.play.episode.advance_episode.run_step_later", lambda *told: None)
    episode = make_episode(seats=2, minds=(mind("random", 1),), thinking_seconds=30)
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert DecisionRow.objects.count() == 1 and not asked
