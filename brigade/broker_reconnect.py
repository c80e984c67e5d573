"""Keep a Celery worker alive when it loses its connection to Redis, and let it reconnect soon.

Redis is the message broker of the workers. The library kombu 5.7 raises AttributeError when this connection
is lost. Celery does not handle this error, so the worker would end. Only workers import this module, because
kombu's Redis transport takes a second to import.
"""

# kombu 5.7 raises AttributeError while it closes a channel whose connection is lost, and when a task that
# ends later is confirmed there. Celery does not treat that as a lost connection, and the worker ends. Celery
# also waits longer between attempts than people should wait.

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker import consumer
from kombu.transport import redis

CLOSED = "this connection to the broker is closed"


class ReconnectingChannel(redis.Channel):
    """A kombu channel that raises ConnectionError if its connection is lost."""

    def close(self) -> None:
        """Close the channel. Raises ConnectionError if its connection is lost."""
        try:
            super().close()  # type: ignore[no-untyped-call]
        except AttributeError as error:
            raise ConnectionError(CLOSED) from error

    def _connparams(self, asynchronous: bool = False) -> Any:
        """Return the arguments of a new connection. Raises ConnectionError if this channel's own connection
        is closed."""
        if self.connection.client is None:
            raise ConnectionError(CLOSED)
        return super()._connparams(asynchronous)  # type: ignore[no-untyped-call]


redis.Transport.Channel = ReconnectingChannel

FIRST, LONGER, LONGEST = 0.1, 0.1, 2.0
"""Seconds before a worker tries to reconnect: the first wait, the increase per attempt, and the maximum."""


class ReconnectingConsumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's consumer of tasks, with short waits between attempts to reconnect. It tries to reconnect
    without limit."""

    def ensure_connected(self, conn: Any) -> Any:
        """Wait until the broker can be reached, and return the connection."""
        soon = {"interval_start": FIRST, "interval_step": LONGER, "interval_max": LONGEST}
        conn.ensure_connection = partial(conn.ensure_connection, **soon)
        return super().ensure_connected(conn)
