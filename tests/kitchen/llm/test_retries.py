"""Trying again: what for, how long, and never beyond the time of the call."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from kitchen.contract.language_model import (
    BudgetSpentError,
    CallTimeoutError,
    ConnectionLostError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    RejectedError,
    Reply,
    ServerFailedError,
    UnreadableReplyError,
)
from kitchen.llm import provider_registry
from kitchen.llm.model_wrappers import RetryingModel, RetryPolicy, ask_and_record
from tests.kitchen.llm.conftest import Serve, request
from tests.kitchen.llm.fakes import Clock, Scripted, failed
from tests.stand_in_server import reply, status


def retrying(
    *answers: Reply | Exception, takes: float = 0.0, seed: int = 1
) -> tuple[RetryingModel, Scripted, Clock]:
    clock = Clock()
    model = Scripted(answers, clock=clock, takes=takes)
    return RetryingModel(model, Random(seed), clock=clock, sleep=clock.sleep), model, clock


@pytest.mark.parametrize("kind", [ConnectionLostError, RateLimitedError, OverloadedError, ServerFailedError])
def test_what_may_pass_is_tried_again(kind: type[ModelError]) -> None:
    model, _, clock = retrying(failed(kind), failed(kind), Reply("ok"))
    found = asyncio.run(model.ask(request()))
    assert [attempt.outcome for attempt in found.attempts] == [kind.code, kind.code, "ok"]
    assert [attempt.waited for attempt in found.attempts] == [*clock.slept, 0.0]
    assert found.seconds == pytest.approx(sum(clock.slept))


def test_every_attempt_says_when_it_began_and_ended_and_what_time_it_had() -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    clock = Clock()
    within = Scripted([failed(OverloadedError), Reply("ok", request_id="req_2")], clock=clock, takes=2.5)
    model = RetryingModel(
        within,
        Random(1),
        RetryPolicy(first=1, longest=1),
        clock=clock,
        sleep=clock.sleep,
        today=lambda: noon + timedelta(seconds=clock.now - 100),
    )
    first, second = asyncio.run(model.ask(request(seconds=20))).attempts
    assert (first.began, first.ended) == ("2026-11-22T12:00:00.000Z", "2026-11-22T12:00:02.500Z")
    assert (first.allowed, first.request_id, second.request_id) == (20, "", "req_2")
    assert second.began > first.ended and second.allowed == pytest.approx(20 - 2.5 - first.waited)


def test_a_call_that_ended_by_nobodys_attempt_says_when_it_was_all_the_same() -> None:
    model, _, _ = retrying(RuntimeError("broken"))
    (only,) = asyncio.run(ask_and_record(model, request(seconds=7))).attempts
    assert (only.outcome, only.allowed) == ("error", 7)
    assert "" < only.began <= only.ended


@pytest.mark.parametrize("kind", [CallTimeoutError, RejectedError, UnreadableReplyError, BudgetSpentError])
def test_what_will_not_pass_is_not_tried_again(kind: type[ModelError]) -> None:
    model, within, _ = retrying(failed(kind), Reply("ok"))
    with pytest.raises(kind) as caught:
        asyncio.run(model.ask(request()))
    assert [attempt.outcome for attempt in caught.value.attempts] == [kind.code]
    assert len(within.asked) == 1


def test_waits_double_with_jitter_from_the_seed() -> None:
    waits = [retrying(*[failed(OverloadedError)] * 4, Reply("ok"), seed=seed) for seed in (1, 1, 2)]
    slept = []
    for model, _, clock in waits:
        asyncio.run(model.ask(request()))
        slept.append(clock.slept)
    assert slept[0] == slept[1] != slept[2]
    for wait, most in zip(slept[0], (0.5, 1, 2, 4), strict=True):
        assert most / 2 <= wait <= most


def test_the_server_s_own_wish_goes_first() -> None:
    model, _, clock = retrying(failed(RateLimitedError, retry_after=7), Reply("ok"))
    asyncio.run(model.ask(request()))
    assert clock.slept == [7]


def test_what_would_begin_too_late_is_not_waited_for() -> None:
    model, within, clock = retrying(failed(RateLimitedError, retry_after=60), Reply("ok"))
    with pytest.raises(RateLimitedError):
        asyncio.run(model.ask(request(seconds=5)))
    assert clock.slept == []
    assert len(within.asked) == 1


def test_each_try_gets_the_time_that_is_left() -> None:
    model, within, clock = retrying(*[failed(ServerFailedError)] * 9, takes=1.0)
    with pytest.raises(ServerFailedError):
        asyncio.run(model.ask(request(seconds=5)))
    assert [asked.seconds for asked in within.asked] == sorted(
        (asked.seconds for asked in within.asked), reverse=True
    )
    assert clock.now - 100 <= 5


def test_it_gives_up_in_the_end() -> None:
    model, within, _ = retrying(*[failed(OverloadedError)] * 9)
    with pytest.raises(OverloadedError) as caught:
        asyncio.run(model.ask(request(seconds=1000)))
    assert len(within.asked) == len(caught.value.attempts) == RetryPolicy().tries


def test_the_money_of_all_tries_is_added_up() -> None:
    model, _, _ = retrying(failed(ConnectionLostError, cost=0.5), Reply("ok", cost=0.25))
    assert asyncio.run(model.ask(request())).cost == 0.75


def test_a_call_is_written_down_however_it_ends() -> None:
    for answer, error in (
        (Reply("ok", cost=0.1), ""),
        (failed(RejectedError), "4xx"),
        (KeyError("sk-1"), "error"),
    ):
        model, _, _ = retrying(answer)
        call = asyncio.run(ask_and_record(model, request()))
        assert (call.error, call.provider) == (error, "anthropic")
        assert call.request == request()
        assert "sk-1" not in repr(call)
        assert bool(call.attempts)


def test_over_http_529_three_times_and_then_an_answer(anthropic_server: Serve) -> None:
    server = anthropic_server(status(529), status(529), status(429, retry_after="0.3"), reply("noop_agent1"))
    door = provider_registry.make_decision_model("anthropic", rng=Random(1), patience=RetryPolicy(first=0.01))
    began = time.monotonic()
    call = asyncio.run(ask_and_record(door, request(seconds=10)))
    assert [attempt.outcome for attempt in call.attempts] == ["529", "529", "429", "ok"]
    assert call.attempts[2].waited == 0.3
    assert time.monotonic() - began >= 0.3
    assert len(server.asked) == 4
    assert call.cost == pytest.approx((100 * 2 + 20 * 10) / 1e6)


def test_over_http_it_ends_in_time_whatever_the_server_does(anthropic_server: Serve) -> None:
    anthropic_server(status(529), reply("late", delay=30))
    door = provider_registry.make_decision_model("anthropic", rng=Random(1), patience=RetryPolicy(first=0.01))
    began = time.monotonic()
    call = asyncio.run(ask_and_record(door, request(seconds=0.8)))
    assert time.monotonic() - began < 15
    assert [attempt.outcome for attempt in call.attempts] == ["529", "timeout"]
    assert call.error == "timeout"
