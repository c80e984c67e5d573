"""Run database work from async code, limit waits for locks, and retry if the database is unreachable.

- `run_in_db_thread` repeats failed work, so the work must be safe to run twice.
- `run_once_in_db_thread` does not repeat failed work.
- `retry_while_unreachable` repeats a write that must not be lost.

After a lock timeout, this process waits only briefly for locks during the next few seconds.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from logging import DEBUG, WARNING
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponseBase

from kitchen.infra import prometheus_metrics
from kitchen.infra.db_errors import DatabaseProblem, close_failed_connection, database_problem
from kitchen.infra.log_context import with_log_context

HURRIED_SECONDS, HURRIED_MILLISECONDS = 10.0, 200
"""After a lock timeout, statements wait at most `HURRIED_MILLISECONDS` for a lock, for `HURRIED_SECONDS`."""
LOCK_TIMEOUT_SQL = {"sqlite": "PRAGMA busy_timeout = {}", "postgresql": "SET lock_timeout = {}"}

_local = threading.local()
_busy_until = 0.0
"""Monotonic time until which statements of this process wait only briefly."""


def note_lock_timeout(trouble: DatabaseProblem | None) -> None:
    """If the problem is a locked database, let this process wait only briefly for locks during the next
    seconds."""
    global _busy_until
    if trouble is DatabaseProblem.BUSY:
        _busy_until = time.monotonic() + HURRIED_SECONDS


def set_lock_timeout() -> None:
    """Set how long this thread's database connection waits for locks: briefly after a recent lock timeout,
    otherwise the usual time."""
    hurried = time.monotonic() < _busy_until
    if hurried != getattr(_local, "hurried", False):
        _local.hurried = hurried
        _wait_at_most(HURRIED_MILLISECONDS if hurried else round(1000 * settings.LOCK_SECONDS))


def _wait_at_most(milliseconds: int) -> None:
    # an unavailable connection fails again when it is needed
    with suppress(Error), connection.cursor() as cursor:
        cursor.execute(LOCK_TIMEOUT_SQL[connection.vendor].format(milliseconds))


def lock_timeout_middleware(
    page: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Call `set_lock_timeout` before each request (Django middleware)."""

    def wait(request: HttpRequest) -> HttpResponseBase:
        set_lock_timeout()
        return page(request)

    return wait


P = ParamSpec("P")
T = TypeVar("T")

IDLE_CHECK_SECONDS = 5.0
"""Seconds without use after which a connection is checked before it is used again."""
DB_THREADS = 4
"""Number of threads for a database with concurrent writers. SQLite gets one thread."""

THREAD_RETRY_WAITS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0)
"""Seconds between tries while the database is unreachable: together about the time of a restart."""

_connection_use = threading.local()


async def run_in_db_thread(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `act` in a thread with a database connection, and return its result. If the connection is lost,
    the call is repeated for some seconds, so `act` must be safe to run twice."""
    asked_at = time.monotonic()

    def visit() -> T:
        prometheus_metrics.thread_wait_seconds.observe(time.monotonic() - asked_at)
        return _visit(partial(act, *args, **kwargs))

    return await asyncio.get_running_loop().run_in_executor(_pool(), with_log_context(visit))


async def run_once_in_db_thread(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `act` in a thread with a database connection, and return its result. It is not repeated if the
    database fails."""
    visit = with_log_context(partial(_visit_once, partial(act, *args, **kwargs)))
    return await asyncio.get_running_loop().run_in_executor(_pool(), visit)


@cache
def _pool() -> ThreadPoolExecutor:
    at_once = DB_THREADS if connection.features.has_select_for_update else 1
    return ThreadPoolExecutor(at_once, thread_name_prefix="database")


os.register_at_fork(after_in_child=_pool.cache_clear)


def _prepare_connection() -> None:
    now = time.monotonic()
    if now - getattr(_connection_use, "used", now) > IDLE_CHECK_SECONDS:
        connection.close_if_unusable_or_obsolete()
    _connection_use.used = now
    set_lock_timeout()


def _visit_once(act: Callable[[], T]) -> T:
    _prepare_connection()
    try:
        return act()
    except Error as error:
        if trouble := database_problem(error):
            close_failed_connection(trouble)
        raise


def _visit(act: Callable[[], T]) -> T:
    _prepare_connection()
    for number, wait in enumerate(THREAD_RETRY_WAITS):
        try:
            return act()
        except Error as error:
            if (connection.connection is not None and connection.is_usable()) or not database_problem(error):
                trouble = database_problem(error)
                note_lock_timeout(trouble)
                if trouble:
                    close_failed_connection(trouble)
                raise
            if not number:
                prometheus_metrics.outages.labels("database").inc()
            connection.close()
        time.sleep(wait)
    return act()


log = logging.getLogger(__name__)

RETRY_WAITS = (0.1, 0.2, 0.3, *30 * (0.5,))
"""Seconds between tries: short ones, but together more than the database needs to restart."""
MAX_RETRY_SECONDS = 16.0
"""Seconds after which no other try begins. A try that waits for a lock takes up to `LOCK_SECONDS`."""


def retry_while_unreachable(act: Callable[[], T], what: str) -> T:
    """Call `act` and return its result. Repeat it for up to `MAX_RETRY_SECONDS` while the database is
    unavailable; then raise the last error.

    `what` names the work in the log.
    """
    until, waits, known = time.monotonic() + MAX_RETRY_SECONDS, iter(RETRY_WAITS), False
    while True:
        try:
            return act()
        except Error as error:
            trouble, wait = database_problem(error), next(waits, None)
            if not trouble or wait is None or time.monotonic() + wait > until:
                raise
            if not known:
                prometheus_metrics.outages.labels("database").inc()
            log.log(DEBUG if known else WARNING, "%s is tried again: %s", what, trouble)
            known = True
            time.sleep(wait)
            close_failed_connection(trouble)


def drop_broken_connection() -> None:
    """Close this thread's database connection if it is broken, so that the next query opens a new one.

    Does nothing inside a transaction: Django closes the connection when the rollback fails.
    """
    if connection.in_atomic_block:
        return
    with suppress(Error):
        connection.close_if_unusable_or_obsolete()
