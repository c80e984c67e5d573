"""The broker, which hands tasks to workers: asked by whoever has something to be done.

A task is sent by its name, so that services need not know what workers do with it. That the broker is away
breaks nothing: whoever asked is told so, and the log says what waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

AWAY = (OperationalError, OSError)
"""What is raised while the broker is away."""
ANSWER_SECONDS = 3
"""Time for the broker to answer, where somebody only wants to know."""


def task_send(name: str, *args: int | str, otherwise: str, **options: Any) -> bool:
    """Queue a task of this name, without a second try; whether the broker took it. `otherwise` completes, in
    the log, “broker away, …”; `options` are Celery's (`countdown`, `expires`)."""
    return _reached(lambda: current_app.send_task(name, args=args, retry=False, **options), otherwise)


def broker_answers() -> bool:
    """Whether tasks can be queued at all."""
    return _reached(_connect, "nothing can be queued")


def _connect() -> None:
    with current_app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=ANSWER_SECONDS)


def _reached(ask: Callable[[], object], otherwise: str) -> bool:
    try:
        ask()
    except AWAY as error:
        log.warning("broker away, %s: %s", otherwise, error)
        return False
    return True
