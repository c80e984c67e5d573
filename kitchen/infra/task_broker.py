"""Send tasks to Celery workers, measure the task queues, and check whether workers answer.

A task is sent by its name, so that the sender need not import the workers' code. If the broker (Redis) is
unreachable, `send_task` returns False and logs a warning. No request to Redis takes longer than a second.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError

from kitchen.infra import prometheus_metrics
from kitchen.infra.log_context import current_log_context

REDIS_TIMEOUT_SECONDS = 0.8
"""Seconds that Redis has to connect, and for each answer."""
SENT_AT_HEADER = "brigade_asked_at"
"""Task header with the earliest start time, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """The number of waiting tasks in a queue, and the seconds that the oldest one has waited (0 if there
    is none)."""

    tasks: int
    seconds: float


@contextmanager
def redis_connection() -> Iterator[Any]:
    """Yield a Redis client with short timeouts. Its calls raise RedisError or OSError if Redis does not
    answer."""
    from redis import Redis  # takes a second to import, and most commands never need it
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    client = Redis.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        socket_timeout=REDIS_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield client
    finally:
        client.close()


def queue_names() -> dict[str, str]:
    """Return the Celery queue names by purpose: `people` for episodes with people, `experiments` for
    experiments."""
    return {"people": settings.CELERY_TASK_DEFAULT_QUEUE, "experiments": settings.EXPERIMENTS_QUEUE}


def known_queue(name: str | None) -> str:
    """Return the purpose (`people` or `experiments`) of the Celery queue with this name. Empty for another
    queue."""
    return next((queue for queue, own in queue_names().items() if own == name), "")


def queue_statuses(client: Any) -> dict[str, QueueStatus]:
    """Return the status of each queue by its purpose. `client` is a Redis client. Raises RedisError or
    OSError if Redis does not answer."""
    return {
        # workers take tasks from the right
        queue: QueueStatus(client.llen(name), _seconds_waited(client.lindex(name, -1)))
        for queue, name in queue_names().items()
    }


def _seconds_waited(message: bytes | None) -> float:
    """Return for how many seconds a task has waited in the queue, according to the time in its header. Return
    0 without a task or without such a time."""
    try:
        return max(0.0, time.time() - float(json.loads(message or "")["headers"][SENT_AT_HEADER]))
    except (ValueError, KeyError, TypeError):
        return 0.0


log = logging.getLogger(__name__)

BROKER_ERRORS = (OperationalError, OSError)
"""Errors raised while the broker is unreachable."""
REQUEST_HEADER = "brigade_request"
"""Task header with the id of the HTTP request that queued it."""
BROKER_TIMEOUT_SECONDS = 3
"""Seconds that the broker has to answer a check."""


def send_task(name: str, *args: int | str, otherwise: str, is_frequent: bool = False, **options: Any) -> bool:
    """Queue the Celery task with this name. Return False if the broker is unreachable; there is no second
    attempt.

    `otherwise` completes the log message “broker away, …”. Messages about frequent tasks are only counted
    during an outage (`brigade.broker_loss_log`). `options` are Celery's options, such as `countdown` and
    `expires`.
    """
    asked = {
        SENT_AT_HEADER: time.time() + options.get("countdown", 0),
        REQUEST_HEADER: current_log_context().get("request", ""),
    }
    return _reached(
        lambda: current_app.send_task(name, args=args, retry=False, headers=asked, **options),
        otherwise,
        is_frequent=is_frequent,
    )


def is_broker_reachable() -> bool:
    """Return whether the broker answers, so that tasks can be queued. Otherwise log a warning."""

    def connect() -> None:
        with current_app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=BROKER_TIMEOUT_SECONDS)

    return _reached(connect, "nothing can be queued", is_frequent=True)


def _reached(ask: Callable[[], object], otherwise: str, *, is_frequent: bool) -> bool:
    try:
        ask()
    except BROKER_ERRORS as error:
        prometheus_metrics.outages.labels("broker").inc()
        why = error if is_frequent else str(error)  # the error itself would be counted, not logged
        log.warning("broker away, %s: %s", otherwise, why)
        return False
    return True


HEALTH_CACHE_KEY = "kitchen.infra.task_broker"
HEALTH_KEPT_SECONDS = 60
"""Maximum seconds for which a result is shown."""
HEALTH_FRESH_SECONDS = 8
"""Seconds after which the workers are asked again."""
WORKER_TIMEOUT_SECONDS = 1.0
"""Seconds that workers have to answer."""

_asker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="health")


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """The number of workers that answer: for episodes with people (`workers`) and for experiments
    (`experimenters`). None if unknown."""

    workers: int | None = None
    problem: str = ""
    experimenters: int | None = None

    @property
    def words(self) -> str:
        """Return the result for staff as text, such as `2 answering` or the problem."""
        if self.problem:
            return self.problem
        if self.workers is None:
            return "being asked"
        return f"{self.workers} answering" if self.workers else "none answers"


def cached_worker_health() -> WorkerHealth:
    """Return how many workers answered when they were last asked, within the last minute. If this was more
    than some seconds ago, they are asked again in the background."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        if cache.add(f"{HEALTH_CACHE_KEY}.asked", 1, HEALTH_FRESH_SECONDS):
            _asker.submit(_ask)
        kept = cache.get(HEALTH_CACHE_KEY)
    except (RedisError, OSError):
        return WorkerHealth(problem="Redis does not answer")
    return _read(kept)


def _read(kept: Any) -> WorkerHealth:
    """Return the health of the workers from a cached value. If the value is not valid, the health is
    unknown."""
    try:
        return WorkerHealth(**kept)
    except TypeError:
        return WorkerHealth()


def _ask() -> None:
    try:
        cache.set(HEALTH_CACHE_KEY, asdict(ask_worker_health()), HEALTH_KEPT_SECONDS)
    except Exception as error:  # the next call asks again
        log.warning("workers could not be asked: %s: %s", type(error).__name__, error)


def ask_worker_health() -> WorkerHealth:
    """Ask all workers which queues they serve, wait about a second, and count the answers."""
    replies = current_app.control.broadcast("active_queues", reply=True, timeout=WORKER_TIMEOUT_SECONDS) or []
    # a list, because workers may have the same name
    answers = [queues for reply in replies for queues in reply.values()]
    names = [{queue["name"] for queue in queues} for queues in answers]
    return WorkerHealth(
        workers=sum(settings.CELERY_TASK_DEFAULT_QUEUE in queues for queues in names),
        experimenters=sum(settings.EXPERIMENTS_QUEUE in queues for queues in names),
    )
