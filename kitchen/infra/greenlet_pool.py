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
"""In which everything is run that waits here: so many can talk to the database at once."""

_running: set[Future[None]] = set()


class _Job(greenlet):
    """What is run in one of our threads; `ready` is what the thread has to do next."""

    ready: Ready


def run_in_background(act: Callable[[], T]) -> Future[T]:
    """Run it in one of our threads, where it gives way to others whenever it waits; what comes of it. It
    knows what is known here (`machine.about`)."""
    made: Future[T] = Future()
    over: Future[None] = Future()
    _running.add(over)
    ready = _threads()[next(_turns) % BACKGROUND_THREADS]
    ready.put(partial(_begin, ready, partial(_carry_out, act, made, over), copy_context()))
    return made


def _carry_out(act: Callable[[], T], made: Future[T], over: Future[None]) -> None:
    """It is over when whoever was to be told of it has been told."""
    try:
        result = act()
    except BaseException as failure:  # it belongs to whoever waits
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
    """Whether this code gives way when it waits."""
    return isinstance(getcurrent(), _Job)


def wait_for(made: Future[T], seconds: float | None = None) -> T:
    """What comes of it, or what it raises; TimeoutError after so many seconds."""
    job = getcurrent()
    if isinstance(job, _Job):
        _give_way(job, made, seconds)
    return made.result(timeout=0 if isinstance(job, _Job) else seconds)


def _give_way(job: _Job, made: Future[Any], seconds: float | None) -> None:
    """Its thread goes on with others until that is there, or the time is over."""
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
    """Wakes somebody after so many seconds, unless it is called off; then it keeps nothing of them."""

    def __init__(self, seconds: float, wake: Callable[[], None]) -> None:
        self.loop = _loop()
        self.handle: asyncio.TimerHandle | None = None
        self.loop.call_soon_threadsafe(self._set, seconds, wake)

    def _set(self, seconds: float, wake: Callable[[], None]) -> None:
        self.handle = self.loop.call_later(seconds, wake)

    def call_off(self) -> None:
        """It was not needed, or has rung."""
        self.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self.handle:
            self.handle.cancel()


def await_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """What comes of it in the event loop that all of this process share; whatever it raises."""
    return wait_for(asyncio.run_coroutine_threadsafe(coroutine, _loop()))


def pause(seconds: float) -> None:
    """Go on after so many seconds."""
    if is_in_background():
        await_coroutine(asyncio.sleep(seconds))
    else:
        time.sleep(seconds)


def wait_until_idle(seconds: float) -> bool:
    """Wait until nothing of what was begun here is left, and so long at most; whether that is so."""
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
    """A process that was forked has none of these threads."""
    for made in (_threads, _loop):
        made.cache_clear()
    _running.clear()


os.register_at_fork(after_in_child=_forget)
