"""Co-players decide in bounded time, and what goes wrong is recorded, with its fallback."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kitchen import tasks
from kitchen.contract.agent import Agent, DecisionLimits, Situation
from kitchen.contract.agent import Decision as MindDecision
from kitchen.contract.language_model import Call, Message, Reply, Request, Tool, Usage
from kitchen.contract.world import Event, World
from kitchen.infra.storable_json import storable_text
from kitchen.money.budget_ledger import LARGEST_AMOUNT
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode import advance_episode
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision, Episode, ModelCall, Seat, SeatCommand, Step
from kitchen.play.turn import turn_claims
from kitchen.play.turn.turn_searches import turns_to_decide
from kitchen.registry import agent_registry
from kitchen.worlds.cuisine.dispatcher.agent import Dispatcher
from tests.kitchen.changed_facts import changed
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

KEY = "-".join(["sk", "not", "a", "key"])


class Late(Agent):
    kind = "late"

    async def decide(self, situation: Situation) -> MindDecision:
        time.sleep(0.5)
        return MindDecision({})


class Broken(Agent):
    kind = "broken"

    async def decide(self, situation: Situation) -> MindDecision:
        raise RuntimeError(f"no idea about {KEY}")


class Odd(Agent):
    kind = "odd"

    async def decide(self, situation: Situation) -> MindDecision:
        commands: Any = {seat: ["goto", 3] for seat in situation.seats}
        return MindDecision(commands)


class Greedy(Agent):
    """Wants to command seats that are not its own, and forgets its last one."""

    kind = "grasping"

    async def decide(self, situation: Situation) -> MindDecision:
        everybody = {0: ("goto", "pot0"), situation.seats[0]: ("goto", "pot1")}
        return MindDecision(everybody, memory={"seen": situation.step, "before": situation.memory})


@pytest.fixture(autouse=True)
def more_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Late, Broken, Odd, Greedy, BrokenDispatcher, LateDispatcher):
        path = f"{__name__}:{kind.__name__}"
        monkeypatch.setitem(agent_registry.AGENTS, kind.kind, path)


def play_step(episode: Episode, step: int = 1) -> Step:
    submit(episode, step, "noop")
    receipt = agent_decisions.decide_step(episode_id=episode.pk, step=step)
    assert receipt and receipt.accepted
    found: Step = Step.objects.get(episode=episode, number=step)
    return found


@pytest.mark.parametrize(("kind", "fallback"), [("late", "timeout"), ("broken", "error"), ("odd", "error")])
def test_a_mind_that_does_not_decide_is_replaced_by_noop_and_named(kind: str, fallback: str) -> None:
    episode = make_episode(seats=3, minds=(mind(kind, 1, 2),))
    Episode.objects.update(decision_seconds=0.05 if kind == "late" else 30.0)
    step = play_step(episode)
    assert [entry["fallback"] for entry in step.commands] == ["", fallback, fallback]
    assert [entry["command"] for entry in step.commands] == [["noop"]] * 3
    decision = Decision.objects.get()
    assert decision.fallback == fallback
    assert decision.error


def test_of_an_error_nothing_is_told_but_which_and_where(caplog: pytest.LogCaptureFixture) -> None:
    play_step(make_episode(seats=2, minds=(mind("broken", 1),)))
    error = Decision.objects.get().error
    assert re.fullmatch(r"RuntimeError in test_agent_decisions\.py, line \d+", error)
    assert "in decide" in caplog.text and KEY not in caplog.text


class BrokenDispatcher(Dispatcher):
    kind = "broken-dispatcher"

    async def decide(self, situation: Situation) -> MindDecision:
        raise RuntimeError("no idea")


class LateDispatcher(Dispatcher):
    kind = "late-dispatcher"

    async def decide(self, situation: Situation) -> MindDecision:
        await asyncio.sleep(2.0)
        return MindDecision({})


@pytest.mark.parametrize(("kind", "code"), [("broken-dispatcher", "error"), ("late-dispatcher", "timeout")])
@pytest.mark.parametrize("by", ["planner", "noop"])
def test_where_nothing_comes_out_the_conditions_fallback_plays_and_is_named(
    kind: str, code: str, by: str
) -> None:
    episode = make_episode(seats=3, minds=(mind(kind, 1, 2, model="stand-in", fallback=by),))
    Episode.objects.update(decision_seconds=0.5 if code == "timeout" else 60.0)
    step = play_step(episode)
    planned = [entry["command"] for entry in step.commands[1:]]
    assert (planned == [["noop"], ["noop"]]) is (by == "noop")
    assert [(entry["chosen_by"], entry["fallback"]) for entry in step.commands[1:]] == [(by, code)] * 2
    decision = Decision.objects.get()
    assert (decision.played_by, decision.fallback) == (by, code)
    assert decision.note == {"fallback": {"by": by, "code": code}}
    assert "feedback" in (decision.memory or {})


def test_a_dispatchers_decision_that_cannot_be_stored_is_replaced_by_its_fallback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(advance_episode, "store_calls", not_the_first(OverflowError("no room")))
    step = play_step(make_episode(seats=2, minds=(mind("dispatcher", 1, model="stand-in"),)))
    entry = step.commands[1]
    assert (entry["chosen_by"], entry["fallback"]) == ("planner", "error") and entry["command"] != ["noop"]


def not_the_first(error: Exception) -> Callable[..., None]:
    """Something that fails when it is first called."""
    failures = [error]

    def store(decided: object) -> None:
        if decided and failures:
            raise failures.pop()

    return store


def test_a_fallback_that_fails_too_leaves_the_agents_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BrokenDispatcher, "fall_back", BrokenDispatcher.decide)
    step = play_step(make_episode(seats=2, minds=(mind("broken-dispatcher", 1, model="stand-in"),)))
    assert (step.commands[1]["command"], step.commands[1]["fallback"]) == (["noop"], "error")


def test_a_cost_that_cannot_be_is_stored_as_the_most_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request("m", [Message("user", "?")])
    call = Call("p", request, Reply("ok", usage=Usage(output=10**30)), cost=1e24)

    class Dear(Agent):
        kind = "dear"

        async def decide(self, situation: Situation) -> MindDecision:
            return MindDecision({situation.seats[0]: ("goto", "pot0")}, calls=(call,))

    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Dear({}))
    step = play_step(make_episode(seats=2, minds=(mind("random", 1),)))
    assert (step.commands[1]["command"], step.commands[1]["fallback"]) == (["goto", "pot0"], "")
    assert ModelCall.objects.get().cost == LARGEST_AMOUNT


def test_an_unreadable_answer_is_stored_with_what_came_and_was_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = Request("m", [Message("user", "?")], tool=Tool("go", "Goes.", {"type": "object"}), effort="low")
    calls = (
        Call("p", request, error="unreadable", raw='{"content": []}', usage=Usage(7, 3, 2, 1, 2), cost=0.5),
        Call("p", replace(request, tool=None, effort=None), Reply("ok")),
    )

    class Asking(Agent):
        kind = "asking"

        async def decide(self, situation: Situation) -> MindDecision:
            return MindDecision({}, calls=calls)

    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Asking({}))
    play_step(make_episode(seats=2, minds=(mind("random", 1),)))
    first, second = ModelCall.objects.order_by("number")
    assert (first.reply, first.error) == ('{"content": []}', "unreadable")
    counted = (first.tokens_input, first.tokens_output, first.tokens_cache_read, first.tokens_cache_write)
    assert (*counted, first.tokens_thinking) == (7, 3, 2, 1, 2)
    assert (first.sampling["effort"], second.sampling["effort"]) == ("low", "least")
    sent = [(each.role, each.prompt.text) for each in first.messages.select_related("prompt")]
    tool = {"name": "go", "description": "Goes.", "schema": {"type": "object"}}
    assert sent[0] == ("user", "?") and sent[1][0] == "tool" and json.loads(sent[1][1]) == tool
    assert [each.role for each in second.messages.all()] == ["user"]


def test_a_mind_commands_its_own_seats_only_and_a_seat_it_leaves_out_does_nothing() -> None:
    episode = make_episode(seats=3, minds=(mind("grasping", 1, 2),))
    step = play_step(episode)
    assert [(entry["seat"], entry["command"], entry["fallback"]) for entry in step.commands] == [
        (0, ["noop"], ""),
        (1, ["goto", "pot1"], ""),
        (2, ["noop"], ""),
    ]
    assert {entry["chosen_by"] for entry in step.commands[1:]} == {"grasping"}


def test_what_a_mind_remembers_comes_back_to_it_at_the_next_step() -> None:
    episode = make_episode(seats=3, minds=(mind("grasping", 1, 2),))
    play_step(episode, 1)
    play_step(episode, 2)
    memories = list(Decision.objects.values_list("memory", flat=True))
    assert memories == [{"seen": 0, "before": None}, {"seen": 1, "before": {"seen": 0, "before": None}}]


def test_later_minds_know_what_earlier_ones_commanded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[int, Any]] = []

    class Curious(Agent):
        kind = "curious"

        async def decide(self, situation: Situation) -> MindDecision:
            seen.append(dict(situation.commanded))
            return MindDecision(dict.fromkeys(situation.seats, ("goto", "pot0")))

    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Curious({}))
    play_step(make_episode(seats=3, minds=(mind("random", 1), mind("random", 2))))
    assert seen == [{0: ("noop",)}, {0: ("noop",), 1: ("goto", "pot0")}]


def test_a_decision_for_a_step_that_is_over_changes_nothing() -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    play_step(episode)
    assert agent_decisions.decide_step(episode_id=episode.pk, step=1) is None
    assert SeatCommand.objects.count() == 2


def test_a_task_that_runs_twice_decides_once() -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    submit(episode, 1, "noop")
    tasks.decide(episode.pk, 1)
    tasks.decide(episode.pk, 1)
    assert Decision.objects.count() == 1
    assert Step.objects.count() == 1


def test_the_dispatched_say_that_a_stand_in_plays_for_them() -> None:
    step = play_step(make_episode(seats=2, minds=(mind("dispatcher", 1, model="stand-in"),)))
    assert step.commands[1]["chosen_by"] == "stand-in"
    assert Decision.objects.get().played_by == "stand-in"


def test_open_turns_are_those_that_wait_for_co_players_only() -> None:
    waiting = make_episode(seats=2, minds=(mind("planner", 1),))
    submit(waiting, 1, "noop")
    no_person = make_episode(seats=1, minds=(mind("planner", 0),))
    make_episode(seats=2, minds=(mind("planner", 1),))
    make_episode(seats=1)
    claimed = make_episode(seats=1, minds=(mind("planner", 0),))
    Episode.objects.update(turn_opened_at="2020-01-01T00:00:00Z")
    turn_claims.claim_decision(episode_id=claimed.pk, step=1)
    assert sorted(turns_to_decide()) == [(waiting.pk, 1), (no_person.pk, 1)]


def test_an_episode_without_a_person_plays_itself_to_the_end(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: asked.append(turn)
    )
    with django_capture_on_commit_callbacks(execute=True):
        episode = make_episode(seats=2, minds=(mind("planner", 0), mind("random", 1)), steps=5)
    while asked:
        with django_capture_on_commit_callbacks(execute=True):
            tasks.decide(*asked.pop())
    episode.refresh_from_db()
    assert (episode.status, episode.step) == (Episode.Status.OVER, 5)


@pytest.mark.parametrize("text", ["a\x00b", "half a pair \ud800"])
def test_what_a_database_cannot_store_is_left_out_of_a_note(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Strange(Agent):
        kind = "strange"

        async def decide(self, situation: Situation) -> MindDecision:
            return MindDecision({situation.seats[0]: ("goto", "pot0")}, note={"said": text})

    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Strange({}))
    step = play_step(make_episode(seats=2, minds=(mind("random", 1),)))
    assert step.commands[1]["command"] == ["goto", "pot0"]
    assert Decision.objects.get().note == {"said": storable_text(text)}


def test_a_decision_that_cannot_be_stored_is_given_up_and_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(decided: list[tuple[Decision, object]]) -> None:
        if decided and decided[0][0].fallback != "error":
            raise OverflowError("too many tokens")

    monkeypatch.setattr(advance_episode, "store_calls", full)
    step = play_step(make_episode(seats=2, minds=(mind("random", 1),)))
    assert [entry["fallback"] for entry in step.commands] == ["", "error"]
    assert Decision.objects.get().error.startswith("OverflowError in ")


def test_a_slow_mind_takes_no_time_from_the_others() -> None:
    episode = make_episode(seats=3, minds=(mind("late", 1), mind("random", 2)))
    Episode.objects.update(decision_seconds=0.4)
    step = play_step(episode)
    assert [entry["fallback"] for entry in step.commands] == ["", "timeout", ""]


def test_minds_that_never_end_keep_no_later_one_waiting() -> None:
    situation = Situation("cuisine", 0, (0,), {}, {}, {0: [("noop",)]}, limits=DecisionLimits(seconds=0.01))
    for _ in range(40):
        assert agent_decisions.ask_mind("late", {}, situation).fallback == "timeout"
    assert agent_decisions.ask_mind("random", {}, changed(situation, seconds=1.0)).fallback == ""


def test_a_seat_and_its_mind_know_only_what_the_world_lets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def own_only(world: World, seat: int, event: Event) -> bool:
        return event.seat in {seat, None}

    seen: list[Situation] = []

    class Curious(Agent):
        kind = "curious"

        async def decide(self, situation: Situation) -> MindDecision:
            seen.append(situation)
            return MindDecision({})

    monkeypatch.setattr("kitchen.worlds.cuisine.world.CuisineWorld.visible", own_only)
    monkeypatch.setattr(agent_decisions, "make_agent", lambda kind, settings: Curious({}))
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    play_step(episode, 1)
    play_step(episode, 2)
    assert seen[1].commanded == {}
    assert {event.seat for event in seen[1].events} <= {1, None}
    view = current_seat_view(Seat.objects.get(episode=episode, number=0))
    assert set(view.history[0].commands) == {0}
