"""Queue tasks of live play for the workers.

Every function returns at once: an unresponsive broker delays nobody who plays. A task that could not be
queued is found by the next look (`tasks.pick_up_open_turns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from django.core.cache import cache
from redis.exceptions import RedisError

from kitchen.infra.log_context import with_log_context
from kitchen.infra.task_broker import send_task

DECIDE = "kitchen.decide"
CLOSE_TURN = "kitchen.close_turn"
ANSWER = "kitchen.answer"
RUN_STEP = "kitchen.run_step"
PICK_UP_OPEN_TURNS = "kitchen.pick_up_open_turns"
"""Names of the tasks."""

REPEAT_AFTER_SECONDS = 3
"""A look asks again for the same after this time."""

publisher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="publish")
"""Hands over, one after another, what was asked for."""


_aside: ContextVar[bool] = ContextVar("aside", default=False)


@contextmanager
def playing_offline() -> Iterator[None]:
    """In this block an episode is played that nobody else knows: no worker is asked, no page is told."""
    token = _aside.set(True)
    try:
        yield
    finally:
        _aside.reset(token)


def is_offline() -> bool:
    """Whether nobody else is to know of what is played."""
    return _aside.get()


def ask_coplayers(episode_id: int, step: int, *mind: int) -> None:
    """Queue the co-players' decision of one step, or that of one mind, by its number."""
    _send_later(DECIDE, episode_id, step, *mind)


def ask_answer(episode_id: int, step: int, mind: int) -> None:
    """Queue what one mind, by its number, says in this step before anybody chooses. If the task is lost, the
    next look finds that there is none."""
    _send_later(ANSWER, episode_id, step, mind)


def ask_coplayers_again(episode_id: int, step: int) -> None:
    """Queue it for a step that seems to be forgotten, unless that was done a moment ago: where the queue is
    long, it is not made longer by every look."""
    if _not_lately(DECIDE, episode_id, step):
        ask_coplayers(episode_id, step)


def may_look_for_answers(episode_id: int) -> bool:
    """Whether it is time to look again for answers that nobody is asked for in this episode."""
    return _not_lately(ANSWER, episode_id, 0)


def close_turn_again(episode_id: int, step: int) -> None:
    """Likewise the end of a turn whose time is over."""
    if _not_lately(CLOSE_TURN, episode_id, step):
        close_turn_later(episode_id, step, 0)


def _not_lately(task: str, episode_id: int, step: int) -> bool:
    """Whether no look asked for this within `AGAIN_SECONDS`; a broker that died has forgotten that as well as
    the task."""
    with suppress(OSError, RedisError):
        return bool(cache.add(f"asked.{task}.{episode_id}.{step}", 1, REPEAT_AFTER_SECONDS))
    return True


def close_turn_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the end of a turn's time. If the task is lost, the next look finds the turn overdue."""
    _send_later(CLOSE_TURN, episode_id, step, countdown=seconds)


def run_step_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the run of a step whose commands are all in, for when its co-players have thought long enough.

    No thread waits meanwhile. If the task is lost, the next look finds the step overdue.
    """
    _send_later(RUN_STEP, episode_id, step, countdown=seconds)


def queue_look(expires: float) -> None:
    """Queue a look for what waits, forgotten if nobody has begun it after so many seconds."""
    send_task(PICK_UP_OPEN_TURNS, otherwise="nobody looks for open turns", expires=expires)


def _send_later(task: str, episode_id: int, step: int, *more: int, **options: Any) -> None:
    waits = f"step {step} of episode {episode_id} waits"
    publisher.submit(
        with_log_context(partial(send_task, task, episode_id, step, *more, otherwise=waits, **options))
    )
