"""Writing what must not be lost while the database is away for a moment."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from django.db import Error, connection

from kitchen.machine import metrics
from kitchen.machine.storage import let_go, trouble_of

T = TypeVar("T")

log = logging.getLogger(__name__)

WAITS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
"""Seconds between tries: together about what a database needs to come up again."""


def outlast(act: Callable[[], T], what: str) -> T:
    """What `act` returns, tried again while the database can store nothing; the last error if that stays."""
    for wait in WAITS:
        try:
            return act()
        except Error as error:
            if not (trouble := trouble_of(error)):
                raise
            metrics.away.labels("database").inc()
            log.warning("%s is tried again: %s", what, trouble)
            time.sleep(wait)
            let_go(trouble)
    return act()


def drop_broken_connection() -> None:
    """One that is broken is closed, so that the next query opens another."""
    with suppress(Error):
        connection.close_if_unusable_or_obsolete()
