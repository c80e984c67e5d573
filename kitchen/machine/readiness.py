"""Whether this process can serve people now: what is asked by web servers and orchestrators, again and again.

Each thing is looked at in a thread of its own, and waited for no longer than `SECONDS`. What was found is
good for `FRESH_SECONDS`, however often it is asked for; what has not answered yet is not asked again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait

from django.db import connection

from kitchen.machine.draining import draining
from kitchen.machine.migrated import migrations_missing
from kitchen.machine.queues import asked_redis

SECONDS = 0.9
"""Time for all answers together."""
FRESH_SECONDS = 1.0
LATE = f"no answer within {SECONDS:g} s"

Check = Callable[[], str]
"""What is missing, in a few words; nothing where all is well. May raise anything."""


class Readiness:
    """Things that must be there."""

    def __init__(self, checks: Mapping[str, Check], clock: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._clock = checks, clock
        self._pool = ThreadPoolExecutor(max(1, len(checks)), thread_name_prefix="ready")
        self._asked: dict[str, Future[str]] = {}
        self._lock, self._found = threading.Lock(), (float("-inf"), dict[str, str]())

    def missing(self) -> dict[str, str]:
        """What is missing, by its name."""
        with self._lock:
            at, found = self._found
            if self._clock() - at >= FRESH_SECONDS:
                found = self._look()
                self._found = self._clock(), found
            return found

    def _look(self) -> dict[str, str]:
        for name, check in self._checks.items():
            if name not in self._asked:
                self._asked[name] = self._pool.submit(check)
        done = wait(self._asked.values(), timeout=SECONDS).done
        said = {name: _said(asked) if asked in done else LATE for name, asked in self._asked.items()}
        self._asked = {name: asked for name, asked in self._asked.items() if asked not in done}
        return {name: words for name, words in said.items() if words}


def _said(asked: Future[str]) -> str:
    """Of an error only its kind: there may be an address in its words."""
    error = asked.exception()
    return f"does not answer ({type(error).__name__})" if error else asked.result()


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return ""
    finally:
        connection.close()


def _migrations() -> str:
    try:
        missing = len(migrations_missing())
    finally:
        connection.close()
    return f"{missing} not applied: manage.py migrate" if missing else ""


def _redis() -> str:
    with asked_redis() as client:
        client.ping()
    return ""


_readiness = Readiness({"database": _database, "migrations": _migrations, "redis": _redis})


def missing() -> dict[str, str]:
    """What keeps this process from serving people; nothing where it can."""
    leaving = {"process": "is about to end"} if draining() else {}
    return {**leaving, **_readiness.missing()}
