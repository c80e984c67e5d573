"""Co-players that need no time decide where the step is taken; whatever goes wrong is left to a worker."""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DataError
from django.utils import timezone

from kitchen.contract.agent import NO_ONE, Agent, Decision, Situation
from kitchen.contract.organisation import Member, make_organisation
from kitchen.infra import process_pool
from kitchen.play.coplayers import agent_situations, instant_decisions
from kitchen.play.coplayers.agent_decisions import decide_step
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


class Apart(Agent):
    """Asked in a process of its own. It can lead."""

    kind = "apart"
    instant = True
    leads = True

    async def decide(self, situation: Situation) -> Decision:
        return Decision(dict.fromkeys(situation.seats, ("noop",)))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of their own begins in its time, however busy the machine is."""
    monkeypatch.setattr(instant_decisions, "QUEUE_SECONDS", 60.0)
    monkeypatch.setattr(instant_decisions, "COMMAND_SECONDS", 60.0)


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes at once when it would wait. The app has its time, too."""

    def __init__(self) -> None:
        self.passed, self.began = 0.0, timezone.now()
        selector = selectors.DefaultSelector()
        super().__init__(selector)
        self._wait, selector.select = selector.select, self.skip  # type: ignore[method-assign]

    def skip(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.passed += timeout or 0.0
        return self._wait(0)

    def time(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return self.began + timedelta(seconds=self.passed)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    monkeypatch.setattr(instant_decisions, "time", SimpleNamespace(monotonic=made.time))
    monkeypatch.setattr(timezone, "now", made.now)
    yield made
    made.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return the list of tasks queued for workers, as episode and step. Tasks for a single agent also have
    its number."""
    told: list[tuple[int, ...]] = []
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act: act())
    monkeypatch.setattr("kitchen.play.turn.page_broadcast.nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: told.append(turn))
    for kind in (Clumsy, Hears, Apart):
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


def test_a_light_co_player_decides_in_the_same_visit(asked: list[tuple[int, ...]]) -> None:
    page = page_of(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert [entry["chosen_by"] for entry in Step.objects.get().commands] == ["person", "random", "random"]
    assert DecisionRow.objects.count() == 2
    assert not asked


def test_they_are_told_what_was_said_in_another_process_meanwhile(asked: list[tuple[int, ...]]) -> None:
    minds = (mind("hears", 1),)
    team = make_organisation("central", members_of_plans(minds, seats=2), seats=2, settings={"talk": True})
    episode = make_episode(seats=2, minds=minds, organisation=team)
    page = page_of(episode)
    Message.objects.create(episode=episode, number=1, step=1, sender=0, to=[1], kind="say", text="fetch rice")
    Episode.objects.filter(pk=episode.pk).update(messages=1)
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert DecisionRow.objects.get().memory == ["fetch rice"]


NOOP = CommandMessage(1, ("noop",))


def apart_decided(page: OpenPage, clock: Clock | None = None) -> dict[str, Any]:
    """What the page shows when those have decided that are asked apart."""
    deciding = page.command(NOOP)
    assert isinstance(deciding, InstantDecisions) and deciding.question
    if clock is None:
        asyncio.run(deciding.finish())
    else:
        clock.run_until_complete(deciding.finish())
    return state(page.decided(NOOP, deciding.asked))


@pytest.mark.usefixtures("patient")
def test_one_that_costs_processor_time_decides_in_a_process_of_its_own(asked: list[tuple[int, ...]]) -> None:
    page = page_of(make_episode(seats=3, minds=(mind("planner", 1), mind("random", 2))))
    assert apart_decided(page)["step"] == 1
    assert [entry["chosen_by"] for entry in Step.objects.get().commands] == ["person", "planner", "random"]
    assert not asked


def test_a_queue_that_is_full_leaves_them_to_a_worker(
    asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*told: Any) -> None:
        raise RuntimeError("full")

    monkeypatch.setattr(process_pool, "submit", full)
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert apart_decided(page_of(episode))["phase"] == "thinking"
    assert asked == [(episode.pk, 1)]


def test_each_agent_s_situation_is_made_once_a_step(
    asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(turn: OpenTurn, mind: Mind) -> Situation:
        made.append(mind.number)
        return current_situation(turn, mind)

    monkeypatch.setattr(agent_situations, "current_situation", counted)
    page = page_of(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    assert state(page.command(CommandMessage(1, ("noop",))))["step"] == 1
    assert made == [0, 1]


Made = tuple[Decision, float]


class Pool(list[Future[Made]]):
    """Instead of child processes: keeps what it was asked for. A child begins each after `queued` seconds,
    and has decided `seconds` later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, queued: float, seconds: float = 0.0) -> None:
        super().__init__()
        self.queued, self.seconds = queued, seconds
        monkeypatch.setattr(process_pool, "submit", self.submit)

    def submit(self, function: Any, kind: str, settings: Any, situation: Situation) -> Future[Made]:
        made = Future[Made]()
        commands = dict.fromkeys(situation.seats, ("noop",))
        asyncio.get_running_loop().call_later(self.queued, self.begin, made, (Decision(commands), 4.5))
        self.append(made)
        return made

    def begin(self, made: Future[Made], answer: Made) -> None:
        if made.set_running_or_notify_cancel():
            asyncio.get_running_loop().call_later(self.seconds, made.set_result, answer)


def test_a_decision_that_a_child_has_begun_is_awaited_and_its_time_in_the_queue_is_not_counted(
    asked: list[tuple[int, ...]], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(monkeypatch, queued=1.4, seconds=1.0)
    page = page_of(make_episode(seats=2, minds=(mind("planner", 1),)))
    assert apart_decided(page, clock)["step"] == 1
    assert (len(pool), DecisionRow.objects.get().milliseconds, asked) == (1, 4.5, [])


def test_one_that_no_child_has_begun_in_time_is_only_made_by_a_worker(
    asked: list[tuple[int, ...]], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(monkeypatch, queued=1.6)
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert apart_decided(page_of(episode), clock)["phase"] == "thinking"
    assert [each.cancelled() for each in pool] == [True]
    assert clock.passed == pytest.approx(1.5)
    assert asked == [(episode.pk, 1)]


@pytest.mark.parametrize(("seconds", "phase", "passed"), [(0.5, "choose", 2.8), (1.0, "thinking", 3.0)])
def test_all_agents_of_a_command_share_its_time(
    asked: list[tuple[int, ...]],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    phase: str,
    passed: float,
) -> None:
    Pool(monkeypatch, queued=0.9, seconds=seconds)
    episode = make_episode(seats=3, minds=(mind("planner", 1), mind("planner", 2)))
    assert apart_decided(page_of(episode), clock)["phase"] == phase
    assert clock.passed == pytest.approx(passed)
    assert asked == ([] if phase == "choose" else [(episode.pk, 1)])


@pytest.mark.parametrize(("after", "passed"), [(0.1, 0.55), (7.0, 8.5)])
def test_a_command_with_a_time_limit_is_stored_before_the_limit(
    asked: list[tuple[int, ...]],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    after: float,
    passed: float,
) -> None:
    Pool(monkeypatch, queued=99.0)
    step_seconds = 1.0 if after < 1 else 60.0
    page = page_of(make_episode(seats=2, minds=(mind("planner", 1),), step_seconds=step_seconds))
    clock.passed += after
    assert apart_decided(page, clock)["phase"] == "thinking"
    assert [row.chosen_by for row in SeatCommand.objects.all()] == ["person"]
    assert clock.passed == pytest.approx(passed)


@pytest.mark.parametrize("number", [0, 1])
def test_an_agent_that_a_worker_asked_meanwhile_does_not_cost_the_person_the_command(
    asked: list[tuple[int, ...]], clock: Clock, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    Pool(monkeypatch, queued=0.0)
    minds = (mind("apart", 1), mind("apart"))  # the second one only leads
    members = [Member(2, (), is_person=False, name="Lead"), *members_of_plans(minds[:1], seats=2)]
    team = make_organisation("tree", members, seats=2, settings={"sees": "all"})
    episode = make_episode(seats=2, minds=minds, organisation=team, knowing=NO_ONE)
    page = page_of(episode)
    deciding = page.command(NOOP)
    assert isinstance(deciding, InstantDecisions)
    clock.run_until_complete(deciding.finish())
    receipt = decide_step(episode_id=episode.pk, step=1, claim="", mind=number)
    assert receipt and receipt.accepted and deciding.asked
    (text,) = page.decided(NOOP, deciding.asked).texts
    assert json.loads(text)["phase"] == "thinking"
    assert SeatCommand.objects.get(seat=0).chosen_by == "person"
    assert asked == [(episode.pk, 1, 1 - number)]


@pytest.mark.parametrize("kinds", [("clumsy",), ("random", "clumsy")])
def test_one_that_fails_is_asked_by_a_worker_and_the_command_is_kept(
    asked: list[tuple[int, ...]], kinds: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    minds = tuple(mind(kind, number) for number, kind in enumerate(kinds, start=1))
    episode = make_episode(seats=1 + len(minds), minds=minds)
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert [row.chosen_by for row in SeatCommand.objects.all()] == ["person"]
    assert asked == [(episode.pk, 1)]
    assert "left to a worker" in caplog.text


def test_what_cannot_be_stored_is_left_to_a_worker_and_the_command_is_kept(
    asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*rows: Any) -> None:
        raise DataError("too long")

    monkeypatch.setattr(decision_records, "insert_rows", full)
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert [row.chosen_by for row in SeatCommand.objects.all()] == ["person"]
    assert asked == [(episode.pk, 1)]


def test_a_kind_that_is_known_no_more_is_no_reason_to_close_the_page(asked: list[tuple[int, ...]]) -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    Mind.objects.update(kind="forgotten")
    page = page_of(episode)
    assert state(page.command(CommandMessage(1, ("noop",))))["phase"] == "thinking"
    assert asked == [(episode.pk, 1)]


@pytest.mark.parametrize("words", [("goto", "oven7"), ("fly",)])
def test_nobody_is_asked_for_a_command_that_is_not_taken(
    asked: list[tuple[int, ...]], words: tuple[str, ...]
) -> None:
    page = page_of(make_episode(seats=2, minds=(mind("clumsy", 1),)))
    answer = page.command(CommandMessage(1, words))
    assert isinstance(answer, PageAnswer) and "not_offered" in answer.texts[0]
    assert not asked and not SeatCommand.objects.exists()


def test_thinking_time_holds_for_those_who_need_none(
    asked: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kitchen.play.episode.advance_episode.run_step_later", lambda *told: None)
    episode = make_episode(seats=2, minds=(mind("random", 1),), thinking_seconds=30)
    told = state(page_of(episode).command(CommandMessage(1, ("noop",))))
    assert (told["phase"], told["step"]) == ("thinking", 0)
    assert DecisionRow.objects.count() == 1 and not asked
