"""How long a statement waits for somebody else's lock: `LOCK_SECONDS`, and hardly any time while it is known
that the database is locked for longer. Many wait for the same few threads, and each of them is to be told
soon.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponseBase

from kitchen.machine.storage import Trouble

HURRIED_SECONDS, HURRIED_MILLISECONDS = 10.0, 200
"""After a lock that lasted too long, so long nobody waits longer than that for another one."""
WAIT = {"sqlite": "PRAGMA busy_timeout = {}", "postgresql": "SET lock_timeout = {}"}

_local = threading.local()
_busy_until = 0.0
"""By the clock that nobody can set; of this process."""


def locked_too_long(trouble: Trouble | None) -> None:
    """Somebody has met this: for some time nobody here waits long."""
    global _busy_until
    if trouble is Trouble.BUSY:
        _busy_until = time.monotonic() + HURRIED_SECONDS


def be_patient() -> None:
    """This thread's connection waits for locks as long as it is to now; a statement only where that is
    another time than before."""
    hurried = time.monotonic() < _busy_until
    if hurried != getattr(_local, "hurried", False):
        _local.hurried = hurried
        _wait_at_most(HURRIED_MILLISECONDS if hurried else round(1000 * settings.LOCK_SECONDS))


def _wait_at_most(milliseconds: int) -> None:
    with suppress(Error), connection.cursor() as cursor:  # one that is away says so to who needs it
        cursor.execute(WAIT[connection.vendor].format(milliseconds))


def patient(page: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Django's middleware: every page waits as long as it is to."""

    def wait(request: HttpRequest) -> HttpResponseBase:
        be_patient()
        return page(request)

    return wait
