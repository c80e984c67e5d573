"""A worker outlives its broker, and is there again as soon as that is. Imported by workers only: kombu's
transport takes a second to import.

kombu 5.7 gives messages back while it closes a channel whose connection is gone already, and stumbles over
the connection that is not there (AttributeError: 'NoneType' object has no attribute 'hostname'). Celery does
not take that for a lost connection, and the worker ends. Here it is one, and the worker connects again.
Celery tries that after two seconds, after four more, and so on up to half a minute, while people wait.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker import consumer
from kombu.transport import redis


class Channel(redis.Channel):
    """A channel that says what is wrong when its connection is gone."""

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        """How to connect; ConnectionError where nobody knows any more."""
        if self.connection is None or self.connection.client is None:
            raise ConnectionError("this connection to the broker is closed")
        found: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[no-untyped-call]
        return found


redis.Transport.Channel = Channel

FIRST, LONGER, LONGEST = 0.1, 0.1, 2.0
"""Seconds before a worker tries to connect again, by how many more the next time, and how many at most."""


class Consumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's, which connects again soon, and never gives up."""

    def ensure_connected(self, conn: Any) -> Any:
        """A connection to the broker, when there is one."""
        soon = {"interval_start": FIRST, "interval_step": LONGER, "interval_max": LONGEST}
        conn.ensure_connection = partial(conn.ensure_connection, **soon)
        return super().ensure_connected(conn)
