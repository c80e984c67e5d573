"""Play on several machines, as behind a web server that tries another machine if one does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

from tests.live.player import HURRY, PING, SPREAD, UNANSWERED, opening_seconds, pause_before
from tests.live.stalls import Wait
from tests.live.ticks import EVERY, Page
from tests.live.witness import Witness

CONNECT_SECONDS = 1.0
"""Seconds that a machine has to accept a connection, before the next one is tried."""

REAL_TIME = "game in real time"


class Traveller(Witness):
    """A player of turns, whose page reconnects to another machine (`urls`) if its own one is gone."""

    connect_seconds = CONNECT_SECONDS

    def __init__(self, urls: Sequence[str], key: str, **more: Any) -> None:
        super().__init__(urls[0], key, **more)
        self._bases = [url.replace("http", "ws", 1) for url in urls]

    async def connect(self) -> None:
        """Open the page on the first machine that answers. Raises OSError if none does."""
        start = self._bases.index(self.base)
        for base in [*self._bases[start:], *self._bases[:start]]:
            self.base = base
            with suppress(OSError):  # a timeout, too
                async with asyncio.timeout(opening_seconds(0)):
                    return await super().connect()
        raise ConnectionError("no machine answers")


class TickTraveller(Page):
    """A player of a real-time game, whose page reconnects to another machine if its own one is gone."""

    def __init__(self, urls: Sequence[str], key: str, number: int) -> None:
        super().__init__(key, Random(number))
        self._urls = list(urls)
        self._leaves_after = UNANSWERED + SPREAD * self.chance.random()
        self.reconnects = self.lost_steps = 0
        self.waits: list[Wait] = []
        """The times between two new steps on the page."""
        self._heard_at = self._asked_at = 0.0
        self._new_at = 0.0
        self.is_connected = False

    async def play(self, url: str = "") -> None:
        """Connect, and press keys until the game is over. Reconnect if the connection is lost or silent."""
        while not self.over:
            if not self.is_connected:
                await self._connect_again()
            await asyncio.sleep(self.chance.uniform(0, EVERY))
            self.press()
            self._check()

    async def _connect_again(self) -> None:
        tries = 0
        while not self.is_connected:
            for url in list(self._urls):
                self.is_connected = True
                with suppress(OSError):
                    async with asyncio.timeout(opening_seconds(tries)):
                        await self.open(url, self._lost, CONNECT_SECONDS)
                    break
                self.is_connected = False
                self._urls.append(self._urls.pop(0))
            else:
                await asyncio.sleep(pause_before(tries, self.chance))
                tries += 1
        self._heard_at = self._asked_at = self.clock()

    @property
    def base(self) -> str:
        """Return the address of the machine that serves this page, or served it last."""
        return self._urls[0]

    def _lost(self, code: int) -> None:
        self.is_connected, self.reconnects = False, self.reconnects + 1

    def _check(self) -> None:
        """Reconnect if the server has been silent for as long as a page waits."""
        silent = self.clock() - self._heard_at
        if self.line is not None and self.is_connected and silent > HURRY + self._leaves_after:
            self._heard_at = self.clock()
            self.line.hang_up()
        elif self.line is not None and silent > HURRY and self.clock() - self._asked_at > PING:
            self._asked_at = self.clock()
            self.line.say(b'{"type": "ping"}')

    def heard(self, text: bytes) -> None:
        """Handle one message."""
        self._heard_at = self.clock()
        super().heard(text)

    def showed(self, message: dict[str, Any]) -> None:
        """Record how long the page waited for this picture, if it is a later one."""
        now, newest = self.clock(), self.step
        self.lost_steps += message.get("lost_steps", 0)
        super().showed(message)
        if self.step > newest:
            self.waits += [Wait(self._new_at, now, self.step, REAL_TIME)] if self._new_at else []
            self._new_at = now

    def waits_until(self, now: float) -> list[Wait]:
        """Return all waits, and the one that is not over yet."""
        return [
            *self.waits,
            *([] if self.over or not self._new_at else [Wait(self._new_at, now, 0, REAL_TIME)]),
        ]
