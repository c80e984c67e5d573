"""How long somebody waits while nothing moves.

Errors::

    Exception
    └── WalkError           this participant cannot go on; the message is one line
        └── PatienceError   nothing moved for too long
"""

from __future__ import annotations

import asyncio
import time

PAUSES = (0.2, 0.5, 1.0, 2.0)
"""Seconds between one try and the next; the last one is repeated."""


class WalkError(Exception):
    """This participant cannot go on; the message is one line."""


class PatienceError(WalkError):
    """Nothing moved for too long; `why` is what was waited for."""

    def __init__(self, why: str, waited: float) -> None:
        super().__init__(f"nothing moved for {waited:.0f} s: {why}")
        self.why = why


class Patience:
    """One person's. Whoever waits says why; whoever gets on says where."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.place: object = None
        self.retries = 0
        """Times that something had to be tried again, in the whole walk."""
        self._since = time.monotonic()
        self._tries = 0

    def moved(self, place: object) -> None:
        """Being at another place than before gives all the patience back."""
        if place != self.place:
            self.place = place
            self._since = time.monotonic()
            self._tries = 0

    def check(self, why: str) -> None:
        """PatienceError, with the reason, once the patience is used up."""
        waited = time.monotonic() - self._since
        if waited > self.seconds:
            raise PatienceError(why, waited)

    async def pause(self, why: str) -> None:
        """Wait before trying again, a little longer each time; PatienceError as in `check`."""
        self.check(why)
        self.retries += 1
        await asyncio.sleep(PAUSES[min(self._tries, len(PAUSES) - 1)])
        self._tries += 1
