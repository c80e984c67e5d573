"""Writing what must not be lost while the database is away for a moment."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from logging import DEBUG, WARNING
from typing import TypeVar

from django.db import Error, connection

from kitchen.machine import metrics
from kitchen.machine.storage import Trouble, let_go, trouble_of
from kitchen.machine.waiting import pause

T = TypeVar("T")

log = logging.getLogger(__name__)

WAITS = (0.1, 0.2, 0.3, *30 * (0.5,))
"""Seconds between tries: together more than what a database needs to come up again. People wait for what is
handed in, so nobody waits long for a database that is there."""
PATIENCE_SECONDS = 16.0
"""After so long no other try begins, however long each of them took: one that waits for a lock takes
`LOCK_SECONDS`."""


def outlast(act: Callable[[], T], what: str) -> T:
    """What `act` returns, tried again while the database can store nothing; the last error if that stays."""
    until, waits, known = time.monotonic() + PATIENCE_SECONDS, iter(WAITS), False
    while True:
        try:
            return act()
        except Error as error:
            trouble, wait = trouble_of(error), next(waits, None)
            if not trouble or wait is None or time.monotonic() + wait > until:
                raise
            _note(what, trouble, known=known)
            known = True
            pause(wait)
            let_go(trouble)


def _note(what: str, trouble: Trouble, *, known: bool) -> None:
    """One outage is counted, and told aloud, once."""
    if not known:
        metrics.away.labels("database").inc()
    log.log(DEBUG if known else WARNING, "%s is tried again: %s", what, trouble)


def drop_broken_connection() -> None:
    """One that is broken is closed, so that the next query opens another."""
    with suppress(Error):
        connection.close_if_unusable_or_obsolete()
