"""Run coroutines in one asyncio event loop, which the whole process shares and which has its own thread.

Hundreds of language-model calls can wait there without a thread each. Code in the loop must never block it.
Run database work with `db_retry.run_once_in_db_thread`, and long computations with `asyncio.to_thread`.
Imports no Django.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

FINISH_SECONDS = 5.0
"""Seconds beyond the time for a decision that an ending worker waits (`wait_until_idle`)."""

_running: set[Future[Any]] = set()


def start_in_loop(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start the coroutine in the shared event loop, and return a future of its result."""
    made = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    _running.add(made)
    made.add_done_callback(_running.discard)
    return made


def run_in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the shared event loop, and block the thread until the coroutine ends. Return
    its result or raise its error."""
    return start_in_loop(coroutine).result()


async def await_in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the shared event loop and await its result, from any event loop. Use this for
    clients that keep connections open: their connections work in one loop only."""
    if asyncio.get_running_loop() is _loop():
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, _loop()))


async def run_to_its_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the present event loop to its end, even if the caller is cancelled. Use this if an
    interrupted coroutine would leave unclear what was stored."""
    task = asyncio.create_task(coroutine)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def wait_until_idle(seconds: float) -> bool:
    """Wait until all coroutines started by `start_in_loop` have ended, at most `seconds`. Return True if
    they have."""
    return not wait(set(_running), timeout=seconds).not_done


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event-loop", daemon=True).start()
    return loop


def _forget() -> None:
    """Reset this module's variables in a forked process, which does not have the event loop's thread."""
    _loop.cache_clear()
    _running.clear()


os.register_at_fork(after_in_child=_forget)
