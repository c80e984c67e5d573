"""A model that keeps failing is not called for a while, and one call decides when it is called again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from django.core.cache import caches

from kitchen.contract.language_model import (
    BudgetSpentError,
    CallTimeoutError,
    ConnectionLostError,
    ModelError,
    ModelPausedError,
    NoTimeLeftError,
    OverloadedError,
    RateLimitedError,
    RefusedReplyError,
    RejectedError,
    Reply,
    ServerFailedError,
    UnreadableReplyError,
)
from kitchen.llm import circuit_breaker
from kitchen.llm.circuit_breaker import (
    FAILURES,
    PAUSE_SECONDS,
    ModelPause,
    PausingModel,
    ProcessValues,
    paused_models,
    share_pauses,
)
from kitchen.llm.model_wrappers import ask_and_record
from kitchen.llm.recorded_calls import recorded_failure
from tests.kitchen.llm.conftest import request
from tests.kitchen.llm.fakes import Clock, Scripted, failed


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock by which pauses end. Two processes would share these values."""
    clock = Clock()
    monkeypatch.setattr(circuit_breaker, "unix_time", clock)
    share_pauses(ProcessValues(clock))
    return clock


def codes(*answers: Reply | Exception, seconds: float = 20.0) -> tuple[list[str], Scripted]:
    """Return how each of these calls ended, one after another, and the model that gave these answers."""
    model = Scripted(answers)

    async def ask() -> list[str]:
        pausing = PausingModel(model)
        return [(await ask_and_record(pausing, request(seconds=seconds))).error for _ in answers]

    return asyncio.run(ask()), model


def name() -> str:
    return f"anthropic:{request().model}"


def broken(number: int = FAILURES, kind: type[ModelError] = ServerFailedError) -> Sequence[ModelError]:
    return [failed(kind) for _ in range(number)]


SERVER = [CallTimeoutError, ConnectionLostError, RateLimitedError, OverloadedError, ServerFailedError]


@pytest.mark.parametrize("kind", SERVER)
def test_after_five_failures_in_a_row_the_model_is_not_called(clock: Clock, kind: type[ModelError]) -> None:
    ended, model = codes(*broken(kind=kind), Reply("not asked for"))
    assert ended == [kind.code] * FAILURES + ["paused"]
    assert len(model.asked) == FAILURES and paused_models() == (name(),)


def test_a_call_that_is_not_made_costs_nothing_and_replays_as_such(clock: Clock) -> None:
    codes(*broken())
    call = asyncio.run(ask_and_record(PausingModel(Scripted([])), request()))
    assert (call.error, call.cost, [each.outcome for each in call.attempts]) == ("paused", 0.0, ["paused"])
    assert isinstance(recorded_failure(call), ModelPausedError) and call.parameters == {}


@pytest.mark.parametrize("kind", [RejectedError, RefusedReplyError, UnreadableReplyError])
def test_a_server_that_answers_at_all_is_called_on(clock: Clock, kind: type[ModelError]) -> None:
    ended, _ = codes(*broken(4), failed(kind), *broken(4), Reply("ok"))
    assert "paused" not in ended and paused_models() == ()


@pytest.mark.parametrize("kind", [BudgetSpentError, NoTimeLeftError])
def test_money_and_time_of_our_own_say_nothing_about_the_server(clock: Clock, kind: type[ModelError]) -> None:
    ended, _ = codes(*broken(9, kind), *broken(4), failed(kind), *broken(1), Reply("not asked for"))
    assert ended[-2:] == ["5xx", "paused"]


def test_a_call_in_a_hurry_may_end_without_an_answer(clock: Clock) -> None:
    ended, model = codes(*broken(9, CallTimeoutError), Reply("ok"), seconds=1.5)
    assert ended[-1] == "" and len(model.asked) == 10


def test_one_success_forgets_the_failures_before(clock: Clock) -> None:
    ended, _ = codes(*broken(4), Reply("ok"), *broken(4), Reply("ok"))
    assert ended == ["5xx"] * 4 + [""] + ["5xx"] * 4 + [""]


def test_after_the_pause_one_call_decides_for_all(clock: Clock) -> None:
    codes(*broken())
    assert ModelPause(name()).seconds_left == PAUSE_SECONDS
    clock.now += PAUSE_SECONDS
    pause = ModelPause(name())
    assert [pause.admit(20), pause.admit(20)] == [True, None]
    pause.release()
    assert codes(Reply("ok"), Reply("ok"))[0] == ["", ""]
    assert not pause.is_broken and paused_models() == ()


def test_a_failed_trial_begins_the_next_pause(clock: Clock) -> None:
    codes(*broken())
    clock.now += PAUSE_SECONDS
    assert codes(*broken(1), Reply("not asked for"))[0] == ["5xx", "paused"]
    clock.now += PAUSE_SECONDS
    assert codes(Reply("ok"))[0] == [""]


def test_a_trial_that_never_ends_is_made_again(clock: Clock) -> None:
    codes(*broken())
    clock.now += PAUSE_SECONDS
    pause = ModelPause(name())
    assert pause.admit(20) and pause.admit(20) is None
    clock.now += 20 + circuit_breaker.MORE_SECONDS
    assert pause.admit(20)


def test_failures_of_calls_that_began_before_the_pause_do_not_prolong_it(clock: Clock) -> None:
    codes(*broken())
    clock.now += PAUSE_SECONDS - 1
    ModelPause(name()).fail(trial=False)
    assert ModelPause(name()).seconds_left == 1


def test_models_are_paused_one_by_one(clock: Clock) -> None:
    codes(*broken())
    assert ModelPause("anthropic:another").admit(20) is False


@pytest.mark.servers
def test_processes_share_the_pauses_in_redis(valkey: str, settings: Any) -> None:
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": valkey}}
    other = ModelPause("openai-compatible:shared")
    for _ in range(FAILURES):
        share_pauses(caches.create_connection("default"))  # as another process would
        other.fail(trial=False)
    share_pauses(caches.create_connection("default"))
    assert other.admit(20) is None and other.name in paused_models()
    assert PAUSE_SECONDS - 5 < other.seconds_left <= PAUSE_SECONDS
    other.succeed()
    assert other.admit(20) is False and other.name not in paused_models()


def test_without_the_cache_each_process_pauses_by_itself(clock: Clock) -> None:
    class Away(ProcessValues):
        def get_many(self, keys: object) -> Mapping[str, object]:
            raise ConnectionError

    share_pauses(Away())
    assert codes(*broken(), Reply("not asked for"))[0][-1] == "paused"


def test_threads_that_count_at_the_same_time_lose_no_failure() -> None:
    both = threading.Barrier(2)

    class SlowNumber(int):
        def __add__(self, more: int) -> int:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.05)  # the other thread may read the same number now
            return int(self) + more

    values = ProcessValues()
    values.set("failures", SlowNumber(0), 60)
    threads = [threading.Thread(target=values.incr, args=("failures",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values.get_many(["failures"]) == {"failures": 2}
