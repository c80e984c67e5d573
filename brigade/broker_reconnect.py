"""Keep a Celery worker alive when its broker goes away, and reconnect soon. Imported by workers only,
because kombu's transport takes a second to import.

kombu 5.7 raises AttributeError while it closes a channel whose connection is gone. Celery does not treat
that as a lost connection, and the worker ends. Celery also waits longer between tries, while people wait.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.worker import consumer
from kombu.transport import redis


class ReconnectingChannel(redis.Channel):
    """A channel that raises a proper error when its connection is gone."""

    def close(self) -> None:
        """Close the channel. Raises ConnectionError if its connection is gone."""
        try:
            super().close()  # type: ignore[no-untyped-call]
        except AttributeError as error:
            raise ConnectionError("this connection to the broker is closed") from error


redis.Transport.Channel = ReconnectingChannel

FIRST, LONGER, LONGEST = 0.1, 0.1, 2.0
"""Seconds before a worker tries to reconnect: the first wait, the increase per attempt, and the maximum."""


class ReconnectingConsumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's consumer, which reconnects soon and never gives up."""

    def ensure_connected(self, conn: Any) -> Any:
        """Return a connection to the broker, as soon as there is one."""
        soon = {"interval_start": FIRST, "interval_step": LONGER, "interval_max": LONGEST}
        conn.ensure_connection = partial(conn.ensure_connection, **soon)
        return super().ensure_connected(conn)
