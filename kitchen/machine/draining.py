"""A process that is to end asks those who are connected to come again: another one takes them. Plain Python.

Whoever has a long connection is a `Guest` from the moment it is open. `draining()` says whether this process
is about to end: whoever hands out work gives it none.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol
from weakref import WeakSet

log = logging.getLogger(__name__)

RESTART = 1012
"""Close code of a websocket, "service restart" (RFC 6455's registry): the page connects again at once."""
AT_ONCE = 10
"""Guests that are asked at a time."""
PAUSE = 0.05
"""Seconds between two askings, so that those who take them are not overrun."""


class Guest(Protocol):
    """Somebody who is connected for long."""

    async def make_way(self) -> None:
        """Finish what is being done, and close with `RESTART`."""


class House:
    """The guests of one process, and whether it is about to end."""

    def __init__(self) -> None:
        self.draining = False
        self._guests: WeakSet[Guest] = WeakSet()

    def come(self, guest: Guest) -> None:
        """Be told when the process is to end."""
        self._guests.add(guest)

    def go(self, guest: Guest) -> None:
        """The connection is over, whoever ended it."""
        self._guests.discard(guest)

    async def empty(self) -> None:
        """Ask all to come again, some at a time, those too who come meanwhile; each is asked once. Nobody
        waits for one who takes long; all have closed or failed then."""
        self.draining = True
        asked: list[asyncio.Task[None]] = []
        async with asyncio.TaskGroup() as asking:
            while self._guests or not all(one.done() for one in asked):
                for guest in list(self._guests)[:AT_ONCE]:
                    self._guests.discard(guest)
                    asked.append(asking.create_task(_ask(guest)))
                await asyncio.sleep(PAUSE)


async def _ask(guest: Guest) -> None:
    """See one out; who fails is noted."""
    try:
        await guest.make_way()
    except Exception:
        log.exception("somebody could not be asked to come again")


house = House()
"""That of this process."""


def draining() -> bool:
    """Whether this process is about to end."""
    return house.draining
