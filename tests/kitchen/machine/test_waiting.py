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

from kitchen.machine.about import about, known
from kitchen.machine.waiting import (
    THREADS,
    all_done,
    awaited,
    in_background,
    is_in_background,
    pause,
    wait_for,
)

MANY = 500


def test_hundreds_wait_and_cost_no_thread() -> None:
    gate: Future[str] = Future()
    wait_for(in_background(lambda: awaited(asyncio.sleep(0))))  # our threads are there
    threads = threading.active_count()
    waiting = [in_background(lambda: wait_for(gate)) for _ in range(MANY)]
    assert not all_done(0.05)
    more = threading.active_count() - threads
    gate.set_result("open")
    assert [wait_for(each, 10) for each in waiting] == ["open"] * MANY
    assert all_done(10)
    assert more <= 0  # what other tests began may end meanwhile


def test_pauses_of_many_pass_side_by_side() -> None:
    began = time.monotonic()
    waiting = [in_background(lambda: pause(0.2)) for _ in range(100 * THREADS)]
    for each in waiting:
        wait_for(each, 10)
    assert time.monotonic() - began < 10


def test_what_is_raised_belongs_to_whoever_waits() -> None:
    def fails() -> None:
        pause(0.0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        wait_for(in_background(lambda: wait_for(in_background(fails))), 10)


def test_time_that_is_over_is_over_and_what_comes_later_wakes_nobody_twice() -> None:
    gate: Future[str] = Future()

    def asks() -> tuple[str, str]:
        try:
            wait_for(gate, 0.01)
        except TimeoutError:
            gate.set_result("late")
        return "over", wait_for(gate, 0.01)

    assert wait_for(in_background(asks), 10) == ("over", "late")


def test_who_was_not_waited_for_in_vain_is_forgotten_before_the_time_is_over() -> None:
    gates: list[Future[str]] = [Future()]
    jobs: list[ref[object]] = []

    def asks() -> str:
        jobs.append(ref(getcurrent()))
        return wait_for(gates[0], 3600)

    waiting = in_background(asks)
    wait_for(in_background(lambda: pause(0.0)))
    gates[0].set_result("there")
    assert wait_for(waiting, 10) == "there"
    assert all_done(10)
    gates.clear()
    awaited(asyncio.sleep(0))  # the alarm is called off in the event loop
    for _ in range(THREADS):  # each of our threads lets go of what it did last when it does something else
        wait_for(in_background(lambda: None), 10)
    gc.collect()
    assert jobs[0]() is None


def test_elsewhere_waiting_holds_its_thread_as_ever() -> None:
    assert not is_in_background()
    assert awaited(asyncio.sleep(0, "there")) == "there"
    with pytest.raises(TimeoutError):
        wait_for(Future(), 0.001)
    assert wait_for(in_background(is_in_background), 10)


def test_each_knows_what_was_known_where_it_was_begun() -> None:
    mine: ContextVar[int] = ContextVar("mine", default=0)

    def remember(number: int) -> tuple[int, object]:
        mine.set(number)
        pause(0.001)
        return mine.get(), known().get("episode")

    waiting = []
    for number in range(1, 40):
        with about(episode=number):
            waiting.append(in_background(lambda number=number: remember(number)))  # type: ignore[misc]
    assert [wait_for(each, 10) for each in waiting] == [(number, number) for number in range(1, 40)]
    assert mine.get() == 0
