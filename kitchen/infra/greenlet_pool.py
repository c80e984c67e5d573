"""Run many waiting jobs in a few threads, with greenlets. Plain Python.

`run_in_background` runs ordinary code in a few threads. When the code waits by `wait_for`, `await_coroutine`
or `pause`, its greenlet is set aside and the thread runs other jobs. So hundreds of jobs can wait for a
language model. Outside these threads the same functions block, so the caller need not know where it runs.

Any other kind of waiting blocks all jobs of its thread. Never wait within a transaction.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import cache, partial
from itertools import count
from queue import SimpleQueue
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

T = TypeVar("T")
Ready = SimpleQueue[Callable[[], object]]

BACKGROUND_THREADS = 4
"""Number of threads for all background jobs, and so of their simultaneous database connections."""

_running: set[Future[None]] = set()


class _Job(greenlet):
    """A job that runs in one of our threads. `ready` is the queue of the thread's next work."""

    ready: Ready


def run_in_background(act: Callable[[], T]) -> Future[T]:
    """Run `act` in one of our threads, and return its future. The job lets others run while it waits.

    It inherits the log context of the caller (`kitchen.infra.log_context`).
    """
    made: Future[T] = Future()
    over: Future[None] = Future()
    _running.add(over)
    ready = _threads()[next(_turns) % BACKGROUND_THREADS]
    ready.put(partial(_begin, ready, partial(_carry_out, act, made, over), copy_context()))
    return made


def _carry_out(act: Callable[[], T], made: Future[T], over: Future[None]) -> None:
    """Run `act` and set its result. The job counts as over after the callbacks of the result have run."""
    try:
        result = act()
    except BaseException as failure:  # the caller that waits raises it
        made.set_exception(failure)
    else:
        made.set_result(result)
    finally:
        _running.discard(over)
        over.set_result(None)


def _begin(ready: Ready, act: Callable[[], None], context: Any) -> None:
    job = _Job(act)
    job.ready, job.gr_context = ready, context
    job.switch()


def is_in_background() -> bool:
    """Return True if this code runs as a background job, which lets others run while it waits."""
    return isinstance(getcurrent(), _Job)


def wait_for(made: Future[T], seconds: float | None = None) -> T:
    """Return the result of a future, or raise its error. Raises TimeoutError after so many seconds."""
    job = getcurrent()
    if isinstance(job, _Job):
        _give_way(job, made, seconds)
    return made.result(timeout=0 if isinstance(job, _Job) else seconds)


def _give_way(job: _Job, made: Future[Any], seconds: float | None) -> None:
    """Let the thread run other jobs until the future is done or the time is over."""
    first = threading.Lock()

    def wake(*_: object) -> None:
        if first.acquire(blocking=False):
            job.ready.put(job.switch)

    made.add_done_callback(wake)
    alarm = None if seconds is None else _Alarm(max(seconds, 0.0), wake)
    assert job.parent is not None  # noqa: S101 - a job's parent is what its thread does
    job.parent.switch()
    if alarm:
        alarm.call_off()


class _Alarm:
    """Calls `wake` after so many seconds, unless it is called off. It then keeps no reference to the job."""

    def __init__(self, seconds: float, wake: Callable[[], None]) -> None:
        self.loop = _loop()
        self.handle: asyncio.TimerHandle | None = None
        self.loop.call_soon_threadsafe(self._set, seconds, wake)

    def _set(self, seconds: float, wake: Callable[[], None]) -> None:
        self.handle = self.loop.call_later(seconds, wake)

    def call_off(self) -> None:
        """Cancel the timer."""
        self.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self.handle:
            self.handle.cancel()


def await_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run the coroutine in the process's shared event loop, and return its result or raise its error."""
    return wait_for(asyncio.run_coroutine_threadsafe(coroutine, _loop()))


def pause(seconds: float) -> None:
    """Continue after so many seconds."""
    if is_in_background():
        await_coroutine(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


def wait_until_idle(seconds: float) -> bool:
    """Wait at most so many seconds until all background jobs have ended. Return True if they have."""
    return not wait(set(_running), timeout=seconds).not_done


@cache
def _threads() -> tuple[Ready, ...]:
    ready: tuple[Ready, ...] = tuple(SimpleQueue() for _ in range(BACKGROUND_THREADS))
    for number, own in enumerate(ready, start=1):
        threading.Thread(target=_serve, args=(own,), name=f"waiting-{number}", daemon=True).start()
    return ready


_turns = count()


def _serve(ready: Ready) -> None:
    while True:
        ready.get()()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event-loop", daemon=True).start()
    return loop


def _forget() -> None:
    """Reset the module in a forked process, which has none of these threads."""
    for made in (_threads, _loop):
        made.cache_clear()
    _running.clear()


os.register_at_fork(after_in_child=_forget)
