"""The broker, which hands tasks to workers: asked by whoever has something to be done.

A task is sent by its name, so that services need not know what workers do with it. That the broker is away
breaks nothing: whoever asked is told so, and the log says what waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from celery import current_app
from kombu.exceptions import OperationalError

from kitchen.machine import metrics
from kitchen.machine.about import known
from kitchen.machine.queues import ASKED_AT

log = logging.getLogger(__name__)

AWAY = (OperationalError, OSError)
"""What is raised while the broker is away."""
REQUEST = "brigade_request"
"""Header of a task: the request that it was asked for in."""
ANSWER_SECONDS = 3
"""Time for the broker to answer, where somebody only wants to know."""


def task_send(name: str, *args: int | str, otherwise: str, **options: Any) -> bool:
    """Queue a task of this name, without a second try; whether the broker took it. `otherwise` completes, in
    the log, “broker away, …”; `options` are Celery's (`countdown`, `expires`)."""
    asked = {ASKED_AT: time.time() + options.get("countdown", 0), REQUEST: known().get("request", "")}
    return _reached(
        lambda: current_app.send_task(name, args=args, retry=False, headers=asked, **options), otherwise
    )


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
        metrics.away.labels("broker").inc()
        log.warning("broker away, %s: %s", otherwise, error)
        return False
    return True
