"""From an event loop to the database and back in one hop: a small pool of threads that keep their
connections.

A connection is looked at when it was quiet for some time or has failed, not before every hop: that would be a
question more for each step. So one that broke is noticed by the first hop that needs it; it is closed, and
the hop is made again, until the database is back or `WAITS` are over. What hops must therefore be such
that it may run twice.

For what is quick, as play is: it shares these threads. What takes longer (what staff look at) goes through
`channels.db`, in another thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

P = ParamSpec("P")
T = TypeVar("T")

QUIET = 5.0
"""Seconds after which a connection is looked at before it is used again."""
THREADS = 4
"""So many at most wait for a database that serves many at once; SQLite serves one writer at a time."""

WAITS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0)
"""Seconds between tries while the database is away: together about what it needs to come up again."""

_local = threading.local()


async def in_database(act: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What `act` returns, called in a thread that has a connection to the database."""
    return await asyncio.get_running_loop().run_in_executor(_pool(), _visit, partial(act, *args, **kwargs))


@cache
def _pool() -> ThreadPoolExecutor:
    at_once = THREADS if connection.features.has_select_for_update else 1
    return ThreadPoolExecutor(at_once, thread_name_prefix="database")


def _visit(act: Callable[[], T]) -> T:
    now = time.monotonic()
    if now - getattr(_local, "used", now) > QUIET:
        connection.close_if_unusable_or_obsolete()
    _local.used = now
    for wait in WAITS:
        try:
            return act()
        except (OperationalError, InterfaceError):
            if connection.connection is not None and connection.is_usable():
                raise
            connection.close()
        time.sleep(wait)
    return act()
