"""Log one line when Redis (the broker) is lost and one when it answers again, in place of many.

While Redis is away, channels, Celery, kombu, redis-py and this app report errors again and again: each event
loop once a second, each task, each page. `BrokerLossFilter` is part of the logging settings. It drops these
lines and counts them, while a thread asks Redis whether it answers.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator

from brigade.paths import redis_url

BROKER_ERRORS = {
    "kombu.exceptions.OperationalError",
    "redis.exceptions.ConnectionError",
    "redis.exceptions.TimeoutError",
}
"""Errors that mean that Redis cannot be reached. These are names, because importing redis takes a second."""
BROKER_LOGGERS = (
    "celery.worker.consumer",
    "celery.worker.request",
    "channels_redis",
    "kitchen.infra.task_broker",
    "kitchen.play.turn.page_broadcast",
    "kitchen.realtime",
    "kombu",
)
"""Loggers whose operating system errors and time-outs are about Redis, too."""
EXPLAINED = "worker_cancel_long_running_tasks_on_connection_loss"
"""A setting of which Celery warns in nine lines whenever a worker loses its connection. We keep its default:
tasks go on, and repeating one does no harm."""
LOOK_SECONDS = 0.25
"""Seconds between two questions to Redis."""
PING_SECONDS = 0.8
"""Seconds that Redis has to connect, and to answer."""
CALM_SECONDS = 2.0
"""Seconds without a further error after which Redis counts as back. Some libraries report a loss late."""
MOST_SECONDS = 15.0
"""Seconds after which Redis counts as back if it answers, although errors go on. The next one begins anew."""

log = logging.getLogger(__name__)


class BrokerLossFilter(logging.Filter):
    """A filter that drops log lines about an unreachable Redis, and logs the loss and the return instead."""

    def __init__(self) -> None:
        super().__init__()
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._watched = False
        self._dropped = 0
        self._last = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log this record: False if it is about an unreachable Redis."""
        if record.name == "py.warnings" and EXPLAINED in record.getMessage():
            return False
        error = broker_error(record)
        if error is None or record.name == log.name:
            return True
        self._note(f"{type(error).__name__}: {error}")
        return False

    def _note(self, why: str) -> None:
        """Count a dropped line. If it is the first one, log the loss, and start to ask Redis."""
        with self._lock:
            self._last = time.monotonic()
            self._dropped += 1
            if self._watched:
                return
            self._watched, self._dropped = True, 1
        log.warning("Redis does not answer; errors about it are left out until it does: %s", _one_line(why))
        threading.Thread(target=self._watch, name="broker-loss", daemon=True).start()

    def _watch(self) -> None:
        """Ask Redis until it answers and no further error comes. Then log that it is back."""
        answered = 0.0
        try:
            while not (answered and self._ends(answered)):
                time.sleep(LOOK_SECONDS)
                answered = (answered or time.monotonic()) if redis_answers() else 0.0
        finally:  # whatever happens, later errors are logged
            self._watched = False
        log.warning("Redis answers again; errors left out: %d", self._dropped)

    def _ends(self, answered: float) -> bool:
        """Return whether the loss is over, given the time since which Redis answers. Then the next error
        begins a new one."""
        now = time.monotonic()
        with self._lock:
            calm = now - max(answered, self._last) >= CALM_SECONDS
            if calm or now - answered >= MOST_SECONDS:
                self._watched = False
            return not self._watched


def broker_error(record: logging.LogRecord) -> BaseException | None:
    """Return the error in this log record that means that Redis cannot be reached. Return None if it has
    none."""
    ours = record.name.startswith(BROKER_LOGGERS)
    for error in _errors(record):
        names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
        if names & BROKER_ERRORS or (ours and isinstance(error, OSError)):
            return error
    return None


def _errors(record: logging.LogRecord) -> Iterator[BaseException]:
    """Yield the errors that a log record names: its exception, those that caused it, and its arguments."""
    error = record.exc_info[1] if record.exc_info else None
    while error is not None:
        yield error
        error = error.__cause__  # not its context: a fault of ours may come after an error of Redis
    if isinstance(record.args, tuple):
        yield from (given for given in record.args if isinstance(given, BaseException))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def redis_answers() -> bool:
    """Return whether Redis answers now."""
    from redis import Redis, RedisError  # takes a second, and only processes that lost it need it
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    short = {"socket_connect_timeout": PING_SECONDS, "socket_timeout": PING_SECONDS}
    try:
        with Redis.from_url(redis_url(), retry=Retry(NoBackoff(), 0), **short) as client:
            return bool(client.ping())
    except (RedisError, OSError):
        return False
