"""What waits in the event loop takes no thread, and its result and errors reach whoever began it."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import Future
from contextvars import ContextVar
from weakref import ref

import pytest

from kitchen.infra.event_loop import await_in_loop, run_in_loop, start_in_loop, wait_until_idle
from kitchen.infra.log_context import current_log_context, log_context

MANY = 500


async def opened(gate: Future[str]) -> str:
    return await asyncio.wrap_future(gate)


def test_hundreds_wait_and_cost_no_thread() -> None:
    gate: Future[str] = Future()
    run_in_loop(asyncio.sleep(0))  # its thread is there
    threads = threading.active_count()
    waiting = [start_in_loop(opened(gate)) for _ in range(MANY)]
    assert not wait_until_idle(0.05)
    more = threading.active_count() - threads
    gate.set_result("open")
    assert [each.result(10) for each in waiting] == ["open"] * MANY
    assert wait_until_idle(10)
    assert more <= 0  # what other tests began may end meanwhile


def test_pauses_of_many_pass_side_by_side() -> None:
    began = time.monotonic()
    for each in [start_in_loop(asyncio.sleep(0.2)) for _ in range(400)]:
        each.result(10)
    assert time.monotonic() - began < 10


def test_what_is_raised_belongs_to_whoever_waits() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    async def waits() -> None:
        await asyncio.wrap_future(start_in_loop(fails()))

    with pytest.raises(KeyError):
        run_in_loop(waits())


def test_another_loop_waits_for_the_shared_one() -> None:
    async def thread() -> str:
        return threading.current_thread().name

    async def both() -> tuple[str, str]:
        return await thread(), await await_in_loop(thread())

    assert asyncio.run(both()) == (threading.current_thread().name, "event-loop")
    assert run_in_loop(both()) == ("event-loop", "event-loop")


def test_what_has_ended_is_forgotten() -> None:
    jobs: list[ref[object]] = []

    async def ends() -> None:
        jobs.append(ref(asyncio.current_task()))
        await asyncio.sleep(0)

    run_in_loop(ends())
    assert wait_until_idle(10)
    run_in_loop(asyncio.sleep(0))  # the loop lets go of what it did last
    gc.collect()
    assert jobs[0]() is None


def test_each_knows_what_was_known_where_it_was_begun() -> None:
    mine: ContextVar[int] = ContextVar("mine", default=0)

    async def remember(number: int) -> tuple[int, object]:
        mine.set(number)
        await asyncio.sleep(0.001)
        return mine.get(), current_log_context().get("episode")

    waiting = []
    for number in range(1, 40):
        with log_context(episode=number):
            waiting.append(start_in_loop(remember(number)))
    assert [each.result(10) for each in waiting] == [(number, number) for number in range(1, 40)]
    assert mine.get() == 0
