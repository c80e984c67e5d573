"""Queue tasks of live play for the workers.

Every function returns at once: an unresponsive broker delays nobody who plays. The next periodic check
(`tasks.pick_up_open_turns`) finds a turn whose task could not be queued.
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
"""Names of the Celery tasks."""

REPEAT_AFTER_SECONDS = 3
"""Seconds after which a periodic check may queue the same task again."""

publisher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="publish")
"""Sends the tasks in the background, one after another."""


_aside: ContextVar[bool] = ContextVar("aside", default=False)


@contextmanager
def playing_offline() -> Iterator[None]:
    """Play an episode in this block without queueing tasks for workers and without notifying pages."""
    token = _aside.set(True)
    try:
        yield
    finally:
        _aside.reset(token)


def is_offline() -> bool:
    """Return True inside `playing_offline`."""
    return _aside.get()


def ask_coplayers(episode_id: int, step: int, *mind: int) -> None:
    """Queue the agents' decisions for one step, or the decision of one agent by its number."""
    _send_later(DECIDE, episode_id, step, *mind)


def ask_answer(episode_id: int, step: int, mind: int) -> None:
    """Queue the answer of one agent, by number, to messages of this step, before anybody chooses.

    If the task is lost, the next periodic check finds that the answer is missing.
    """
    _send_later(ANSWER, episode_id, step, mind)


def ask_coplayers_again(episode_id: int, step: int) -> None:
    """Queue the agents' decisions for a step that seems forgotten, unless this was done a moment ago.

    If the queue is long, periodic checks therefore do not make it longer.
    """
    if _not_lately(DECIDE, episode_id, step):
        ask_coplayers(episode_id, step)


def may_look_for_answers(episode_id: int) -> bool:
    """Return True if the missing answers of this episode may be searched for again."""
    return _not_lately(ANSWER, episode_id, 0)


def close_turn_again(episode_id: int, step: int) -> None:
    """Queue the end of a turn whose time is over, unless this was done a moment ago."""
    if _not_lately(CLOSE_TURN, episode_id, step):
        close_turn_later(episode_id, step, 0)


def _not_lately(task: str, episode_id: int, step: int) -> bool:
    """Return True if no periodic check queued this within `REPEAT_AFTER_SECONDS`.

    A broker that restarted has forgotten both this mark and the task.
    """
    with suppress(OSError, RedisError):
        return bool(cache.add(f"asked.{task}.{episode_id}.{step}", 1, REPEAT_AFTER_SECONDS))
    return True


def close_turn_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the end of a turn after so many seconds. If the task is lost, the next check finds the turn
    overdue.
    """
    _send_later(CLOSE_TURN, episode_id, step, countdown=seconds)


def run_step_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the run of a step whose commands are all in, for when its agents have thought long enough.

    No thread waits meanwhile. If the task is lost, the next periodic check finds the step overdue.
    """
    _send_later(RUN_STEP, episode_id, step, countdown=seconds)


def queue_look(expires: float) -> None:
    """Queue a periodic check for open turns. It is discarded if no worker starts it within `expires`
    seconds.
    """
    send_task(PICK_UP_OPEN_TURNS, otherwise="nobody looks for open turns", expires=expires)


def _send_later(task: str, episode_id: int, step: int, *more: int, **options: Any) -> None:
    waits = f"step {step} of episode {episode_id} waits"
    publisher.submit(
        with_log_context(partial(send_task, task, episode_id, step, *more, otherwise=waits, **options))
    )
