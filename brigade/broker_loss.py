"""A worker outlives its broker. Imported by workers only: kombu's transport takes a second to import.

kombu 5.7 gives messages back while it closes a channel whose connection is gone already, and stumbles over
the connection that is not there (AttributeError: 'NoneType' object has no attribute 'hostname'). Celery does
not take that for a lost connection, and the worker ends. Here it is one, and the worker connects again.
"""

from __future__ import annotations

from typing import Any

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
