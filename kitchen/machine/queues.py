"""Redis as it stands, and what waits in its queues. No question takes longer than a second."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings

ANSWER_SECONDS = 0.8
"""Time for Redis to connect, and for each answer."""
ASKED_AT = "brigade_asked_at"
"""Header of a task: when it could be begun, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Tasks that no worker has taken, and for how long the first one has waited; 0 if there is none."""

    tasks: int
    seconds: float


@contextmanager
def asked_redis() -> Iterator[Any]:
    """A connection that gives up soon; RedisError or OSError where Redis does not answer."""
    from redis import Redis  # takes a second to import, and most commands never need it
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    client = Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=ANSWER_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield client
    finally:
        client.close()


def queue_names() -> dict[str, str]:
    """The queues of workers: of people's co-players, and of experiments."""
    return {"people": settings.CELERY_TASK_DEFAULT_QUEUE, "experiments": settings.EXPERIMENTS_QUEUE}


def queue_of(name: str | None) -> str:
    """Which of them has this name; empty for another one."""
    return next((queue for queue, own in queue_names().items() if own == name), "")


def queues_standing(client: Any) -> dict[str, Queue]:
    """What waits in each queue; RedisError or OSError."""
    return {queue: _standing(client, name) for queue, name in queue_names().items()}


def _standing(client: Any, name: str) -> Queue:
    """New tasks come in at the left, workers take them from the right."""
    number, oldest = client.llen(name), client.lindex(name, -1)
    asked_at = _asked_at(oldest) if oldest else None
    return Queue(number, max(0.0, time.time() - asked_at) if asked_at is not None else 0.0)


def _asked_at(message: bytes) -> float | None:
    """None for a task that somebody else sent."""
    try:
        return float(json.loads(message)["headers"][ASKED_AT])
    except (ValueError, KeyError, TypeError):
        return None
