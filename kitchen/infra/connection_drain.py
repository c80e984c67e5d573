"""Close this process's connections before it ends, so that clients reconnect to another process.

Register every long-lived connection in `connection_drain` as soon as it opens. `is_draining()` returns True
once the process is about to end. After that, start no new work. Imports no Django.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol
from weakref import WeakSet

log = logging.getLogger(__name__)

RESTART_CLOSE_CODE = 1012
"""Websocket close code "service restart" (registry of RFC 6455): the page reconnects at once."""
DRAIN_BATCH = 10
"""Number of connections asked to close at a time."""
DRAIN_PAUSE_SECONDS = 0.05
"""Seconds between two batches, so that the processes that take over are not overloaded."""


class DrainableConnection(Protocol):
    """A long connection, such as a websocket, that can be closed so that its client reconnects."""

    async def close_for_restart(self) -> None:
        """Finish the work in progress, then close the connection with `RESTART_CLOSE_CODE`."""


class ConnectionDrain:
    """All registered connections of one process. `draining` is True if the process is about to end."""

    def __init__(self) -> None:
        self.draining = False
        self._connections: WeakSet[DrainableConnection] = WeakSet()

    def add(self, connection: DrainableConnection) -> None:
        """Register an open connection."""
        self._connections.add(connection)

    def remove(self, connection: DrainableConnection) -> None:
        """Remove a connection that has closed. Does nothing if it is not registered."""
        self._connections.discard(connection)

    async def drain(self) -> None:
        """Close all connections in batches, including new ones, and return when none is open any more. A slow
        connection does not delay the others. Failures are logged."""
        self.draining = True
        asked: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as asking:
            while self._connections or not all(one.done() for one in asked):
                for connection in list(self._connections)[:DRAIN_BATCH]:
                    self._connections.discard(connection)
                    asked.append(asking.create_task(_ask(connection)))
                await asyncio.sleep(DRAIN_PAUSE_SECONDS)


async def _ask(connection: DrainableConnection) -> None:
    """Ask one connection to close. If this fails, log the failure."""
    try:
        await connection.close_for_restart()
    except Exception:
        log.exception("somebody could not be asked to come again")


connection_drain = ConnectionDrain()
"""The connections of this process."""


def is_draining() -> bool:
    """Return whether this process is about to end."""
    return connection_drain.draining
