"""Ask open connections to reconnect before this process ends. Plain Python.

Register every long connection as a `DrainableConnection` as soon as it is open. `is_draining()` says whether
this process is about to end, so that it is given no new work.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol
from weakref import WeakSet

log = logging.getLogger(__name__)

RESTART_CLOSE_CODE = 1012
"""Close code of a websocket, "service restart" (RFC 6455's registry): the page connects again at once."""
DRAIN_BATCH = 10
"""Guests that are asked at a time."""
DRAIN_PAUSE_SECONDS = 0.05
"""Seconds between two askings, so that those who take them are not overrun."""


class DrainableConnection(Protocol):
    """Somebody who is connected for long."""

    async def make_way(self) -> None:
        """Finish what is being done, and close with `RESTART_CLOSE_CODE`."""


class ConnectionDrain:
    """The guests of one process, and whether it is about to end."""

    def __init__(self) -> None:
        self.draining = False
        self._guests: WeakSet[DrainableConnection] = WeakSet()

    def come(self, guest: DrainableConnection) -> None:
        """Be told when the process is to end."""
        self._guests.add(guest)

    def go(self, guest: DrainableConnection) -> None:
        """The connection is over, whoever ended it."""
        self._guests.discard(guest)

    async def empty(self) -> None:
        """Ask all to come again, some at a time, those too who come meanwhile; each is asked once. Nobody
        waits for one who takes long; all have closed or failed then."""
        self.draining = True
        asked: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as asking:
            while self._guests or not all(one.done() for one in asked):
                for guest in list(self._guests)[:DRAIN_BATCH]:
                    self._guests.discard(guest)
                    asked.append(asking.create_task(_ask(guest)))
                await asyncio.sleep(DRAIN_PAUSE_SECONDS)


async def _ask(guest: DrainableConnection) -> None:
    """See one out; who fails is noted."""
    try:
        await guest.make_way()
    except Exception:
        log.exception("somebody could not be asked to come again")


connection_drain = ConnectionDrain()
"""That of this process."""


def is_draining() -> bool:
    """Whether this process is about to end."""
    return connection_drain.draining
