"""What waits gives its thread to others, and goes on as if it had not."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import Future
from contextvars import ContextVar
from weakref import ref

import pytest
from greenlet import getcurrent

from kitchen.infra.greenlet_pool import (
    BACKGROUND_THREADS,
    await_coroutine,
    is_in_background,
    pause,
    run_in_background,
    wait_for,
    wait_until_idle,
)
from kitchen.infra.log_context import current_log_context, log_context

MANY = 500


def test_hundreds_wait_and_cost_no_thread() -> None:
    gate: Future[str] = Future()
    wait_for(run_in_background(lambda: await_coroutine(asyncio.sleep(0))))  # our threads are there
    threads = threading.active_count()
    waiting = [run_in_background(lambda: wait_for(gate)) for _ in range(MANY)]
    assert not wait_until_idle(0.05)
    more = threading.active_count() - threads
    gate.set_result("open")
    assert [wait_for(each, 10) for each in waiting] == ["open"] * MANY
    assert wait_until_idle(10)
    assert more <= 0  # what other tests began may end meanwhile


def test_pauses_of_many_pass_side_by_side() -> None:
    began = time.monotonic()
    waiting = [run_in_background(lambda: pause(0.2)) for _ in range(100 * BACKGROUND_THREADS)]
    for each in waiting:
        wait_for(each, 10)
    assert time.monotonic() - began < 10


def test_what_is_raised_belongs_to_whoever_waits() -> None:
    def fails() -> None:
        pause(0.0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        wait_for(run_in_background(lambda: wait_for(run_in_background(fails))), 10)


def test_time_that_is_over_is_over_and_what_comes_later_wakes_nobody_twice() -> None:
    gate: Future[str] = Future()

    def asks() -> tuple[str, str]:
        try:
            wait_for(gate, 0.01)
        except TimeoutError:
            gate.set_result("late")
        return "over", wait_for(gate, 0.01)

    assert wait_for(run_in_background(asks), 10) == ("over", "late")


def test_who_was_not_waited_for_in_vain_is_forgotten_before_the_time_is_over() -> None:
    gates: list[Future[str]] = [Future()]
    jobs: list[ref[object]] = []

    def asks() -> str:
        jobs.append(ref(getcurrent()))
        return wait_for(gates[0], 3600)

    waiting = run_in_background(asks)
    wait_for(run_in_background(lambda: pause(0.0)))
    gates[0].set_result("there")
    assert wait_for(waiting, 10) == "there"
    assert wait_until_idle(10)
    gates.clear()
    await_coroutine(asyncio.sleep(0))  # the alarm is called off in the event loop
    for _ in range(
        BACKGROUND_THREADS
    ):  # each of our threads lets go of what it did last when it does something else
        wait_for(run_in_background(lambda: None), 10)
    gc.collect()
    assert jobs[0]() is None


def test_elsewhere_waiting_holds_its_thread_as_ever() -> None:
    assert not is_in_background()
    assert await_coroutine(asyncio.sleep(0, "there")) == "there"
    with pytest.raises(TimeoutError):
        wait_for(Future(), 0.001)
    assert wait_for(run_in_background(is_in_background), 10)


def test_each_knows_what_was_known_where_it_was_begun() -> None:
    mine: ContextVar[int] = ContextVar("mine", default=0)

    def remember(number: int) -> tuple[int, object]:
        mine.set(number)
        pause(0.001)
        return mine.get(), current_log_context().get("episode")

    waiting = []
    for number in range(1, 40):
        with log_context(episode=number):
            waiting.append(run_in_background(lambda number=number: remember(number)))  # type: ignore[misc]
    assert [wait_for(each, 10) for each in waiting] == [(number, number) for number in range(1, 40)]
    assert mine.get() == 0
