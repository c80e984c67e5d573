"""Queue the Celery tasks of live play, which workers then run.

Every function returns immediately, even if the broker (Redis) does not respond. If a task cannot be queued,
the periodic task `tasks.pick_up_open_turns` does its work later.
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
DECIDE_LATER = "kitchen.decide_later"
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
    """Context manager: inside the block, no tasks are queued and no pages are notified. For programs that
    play whole episodes themselves."""
    token = _aside.set(True)
    try:
        yield
    finally:
        _aside.reset(token)


def is_offline() -> bool:
    """Return True if the code runs inside `playing_offline`."""
    return _aside.get()


def ask_coplayers(episode_id: int, step: int, *mind: int) -> None:
    """Queue the task in which all agents decide one step. With `mind` (an agent's number), only that agent
    decides."""
    _send_later(DECIDE, episode_id, step, *mind)


def ask_answer(episode_id: int, step: int, mind: int) -> None:
    """Queue the task in which the agent with number `mind` answers the messages of this step."""
    _send_later(ANSWER, episode_id, step, mind)


def ask_for_later(episode_id: int, step: int, mind: int) -> None:
    """Queue the task in which the agent with number `mind` decides on its open question from this step."""
    _send_later(DECIDE_LATER, episode_id, step, mind)


def ask_for_later_again(episode_id: int, step: int, mind: int) -> None:
    """Queue the task in which an agent decides on its open question. Do nothing if this was queued in the
    last `REPEAT_AFTER_SECONDS`."""
    if _not_lately(f"{DECIDE_LATER}.{mind}", episode_id, step):
        ask_for_later(episode_id, step, mind)


def ask_coplayers_again(episode_id: int, step: int) -> None:
    """Queue the task in which all agents decide a step. Do nothing if this was done in the last
    `REPEAT_AFTER_SECONDS`.

    Periodic checks use this, so that they do not fill a long queue with repetitions.
    """
    if _not_lately(DECIDE, episode_id, step):
        ask_coplayers(episode_id, step)


def may_look_for_answers(episode_id: int) -> bool:
    """Return whether a periodic check may look for missing answers in this episode now. Return False if a
    check did so in the last `REPEAT_AFTER_SECONDS`."""
    return _not_lately(ANSWER, episode_id, 0)


def close_turn_again(episode_id: int, step: int) -> None:
    """Queue the task that closes a turn whose time is over. Do nothing if this was done in the last
    `REPEAT_AFTER_SECONDS`."""
    if _not_lately(CLOSE_TURN, episode_id, step):
        close_turn_later(episode_id, step, 0)


def _not_lately(task: str, episode_id: int, step: int) -> bool:
    """Return True if no periodic check queued this task in the last `REPEAT_AFTER_SECONDS`. After a restart
    of the broker the result is True, because the task is lost, too."""
    with suppress(OSError, RedisError):
        return bool(cache.add(f"asked.{task}.{episode_id}.{step}", 1, REPEAT_AFTER_SECONDS))
    return True


def close_turn_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the task that closes a turn, to run in `seconds`. If the task is lost, a periodic check closes
    the turn."""
    _send_later(CLOSE_TURN, episode_id, step, countdown=seconds)


def run_step_later(episode_id: int, step: int, seconds: float) -> None:
    """Queue the task that runs a step in which all commands are given, to run in `seconds`. If the task is
    lost, a periodic check runs the step."""
    _send_later(RUN_STEP, episode_id, step, countdown=seconds)


def queue_look(expires: float) -> None:
    """Queue one check for turns that are late or stuck. The check is discarded if no worker starts it within
    `expires` seconds."""
    send_task(PICK_UP_OPEN_TURNS, otherwise="nobody looks for open turns", is_frequent=True, expires=expires)


def _send_later(task: str, episode_id: int, step: int, *more: int, **options: Any) -> None:
    waits = f"step {step} of episode {episode_id} waits"
    publisher.submit(
        with_log_context(
            partial(send_task, task, episode_id, step, *more, otherwise=waits, is_frequent=True, **options)
        )
    )
