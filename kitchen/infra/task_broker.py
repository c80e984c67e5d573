"""Send tasks to workers, measure the task queues, and check whether workers answer.

A task is sent by its name, so that services need not import the workers' code. If the broker is unreachable,
the caller gets False and the log says what waits.

No question to Redis takes longer than a second. The health of the workers is asked in the background and
cached for a few seconds: asking all workers takes as long as the slowest answer.
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
"""Time for Redis to connect, and for each answer."""
SENT_AT_HEADER = "brigade_asked_at"
"""Header of a task: when it could be begun, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """Tasks that no worker has taken, and for how long the first one has waited; 0 if there is none."""

    tasks: int
    seconds: float


@contextmanager
def redis_connection() -> Iterator[Any]:
    """A connection that gives up soon; RedisError or OSError where Redis does not answer."""
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
    """The queues of workers: of people's co-players, and of experiments."""
    return {"people": settings.CELERY_TASK_DEFAULT_QUEUE, "experiments": settings.EXPERIMENTS_QUEUE}


def known_queue(name: str | None) -> str:
    """Which of them has this name; empty for another one."""
    return next((queue for queue, own in queue_names().items() if own == name), "")


def queue_statuses(client: Any) -> dict[str, QueueStatus]:
    """What waits in each queue; RedisError or OSError."""
    return {queue: _standing(client, name) for queue, name in queue_names().items()}


def _standing(client: Any, name: str) -> QueueStatus:
    """New tasks come in at the left, workers take them from the right."""
    number, oldest = client.llen(name), client.lindex(name, -1)
    asked_at = _asked_at(oldest) if oldest else None
    return QueueStatus(number, max(0.0, time.time() - asked_at) if asked_at is not None else 0.0)


def _asked_at(message: bytes) -> float | None:
    """None for a task that somebody else sent."""
    try:
        return float(json.loads(message)["headers"][SENT_AT_HEADER])
    except (ValueError, KeyError, TypeError):
        return None


log = logging.getLogger(__name__)

BROKER_ERRORS = (OperationalError, OSError)
"""What is raised while the broker is away."""
REQUEST_HEADER = "brigade_request"
"""Header of a task: the request that it was asked for in."""
BROKER_TIMEOUT_SECONDS = 3
"""Time for the broker to answer, where somebody only wants to know."""


def send_task(name: str, *args: int | str, otherwise: str, **options: Any) -> bool:
    """Queue a task of this name, without a second try; whether the broker took it. `otherwise` completes, in
    the log, “broker away, …”; `options` are Celery's (`countdown`, `expires`)."""
    asked = {
        SENT_AT_HEADER: time.time() + options.get("countdown", 0),
        REQUEST_HEADER: current_log_context().get("request", ""),
    }
    return _reached(
        lambda: current_app.send_task(name, args=args, retry=False, headers=asked, **options), otherwise
    )


def is_broker_reachable() -> bool:
    """Whether tasks can be queued at all."""
    return _reached(_connect, "nothing can be queued")


def _connect() -> None:
    with current_app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, timeout=BROKER_TIMEOUT_SECONDS)


def _reached(ask: Callable[[], object], otherwise: str) -> bool:
    try:
        ask()
    except BROKER_ERRORS as error:
        prometheus_metrics.outages.labels("broker").inc()
        log.warning("broker away, %s: %s", otherwise, error)
        return False
    return True


HEALTH_CACHE_KEY = "kitchen.infra.task_broker"
HEALTH_KEPT_SECONDS = 60
"""What was found is shown for so long at most."""
HEALTH_FRESH_SECONDS = 8
"""After so long it is asked anew."""
WORKER_TIMEOUT_SECONDS = 1.0
"""Time for workers to answer."""

_asker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="health")


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """How many workers take up co-players' decisions, and how many play experiments; None if that is not
    known."""

    workers: int | None = None
    problem: str = ""
    experimenters: int | None = None

    @property
    def words(self) -> str:
        """For a page."""
        if self.problem:
            return self.problem
        if self.workers is None:
            return "being asked"
        return f"{self.workers} answering" if self.workers else "none answers"


def cached_worker_health() -> WorkerHealth:
    """What was found lately; asked again in the background if that is some seconds ago."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        if cache.add(f"{HEALTH_CACHE_KEY}.asked", 1, HEALTH_FRESH_SECONDS):
            _asker.submit(_ask)
        kept = cache.get(HEALTH_CACHE_KEY)
    except (RedisError, OSError):
        return WorkerHealth(problem="Redis does not answer")
    return _read(kept)


def _read(kept: Any) -> WorkerHealth:
    """What `_ask` kept; nothing known where it is something else."""
    try:
        return WorkerHealth(**kept)
    except TypeError:
        return WorkerHealth()


def _ask() -> None:
    try:
        cache.set(HEALTH_CACHE_KEY, asdict(ask_worker_health()), HEALTH_KEPT_SECONDS)
    except Exception as error:  # the next look asks again
        log.warning("workers could not be asked: %s: %s", type(error).__name__, error)


def ask_worker_health() -> WorkerHealth:
    """Ask every worker which queues it takes from, and wait for the answers."""
    replies = current_app.control.broadcast("active_queues", reply=True, timeout=WORKER_TIMEOUT_SECONDS) or []
    answers = [queues for reply in replies for queues in reply.values()]  # workers may have the same name
    names = [{queue["name"] for queue in queues} for queues in answers]
    return WorkerHealth(
        workers=sum(settings.CELERY_TASK_DEFAULT_QUEUE in queues for queues in names),
        experimenters=sum(settings.EXPERIMENTS_QUEUE in queues for queues in names),
    )
