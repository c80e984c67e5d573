"""Count the database statements and thread changes of one step and of one connection.

The app's websocket is called in this process, without a network. A statement is what Django sends to the
database; on SQLite, BEGIN is one. Periodic work of the app, such as a check every few seconds, falls into
some counts and not into others. So the median is used.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from statistics import median
from typing import Any

from channels.testing import WebsocketCommunicator
from django.db.backends.signals import connection_created

from tests.live.sight import HtmlSight, JsonSight, Reader, Sight

STEPS = 12
JSON = "brigade.json"
COUNTED = ("statements", "hops")
REST = 0.15
"""Seconds in which all work that a step starts has ended."""


class Tally:
    """Counts the database statements and thread changes of this process, from `begin` on."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, what: str) -> None:
        """Count one more."""
        with self._lock:
            self.counts[what] += 1

    def take(self) -> dict[str, int]:
        """Return the counts since the last call."""
        with self._lock:
            taken, self.counts = dict(self.counts), Counter()
        return taken

    def begin(self) -> None:
        """Count the statements of every connection opened from now on, and the calls of every thread pool."""
        connection_created.connect(self._opened)
        submit, hand_over = ThreadPoolExecutor.submit, asyncio.run_coroutine_threadsafe

        def counted_submit(pool: Any, *arguments: Any, **more: Any) -> Any:
            self.note("hops")
            return submit(pool, *arguments, **more)

        def counted_hand_over(*arguments: Any, **more: Any) -> Any:
            self.note("hops")
            return hand_over(*arguments, **more)

        ThreadPoolExecutor.submit = counted_submit  # type: ignore[method-assign,assignment]
        asyncio.run_coroutine_threadsafe = counted_hand_over

    def _opened(self, connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(self._executed)

    def _executed(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.note("statements")
        return execute(*arguments)


TALLY = Tally()
"""The counts of this process."""


def counted(key: str, as_html: bool) -> dict[str, float]:
    """Return medians over some steps of this seat, alone in its episode: `statements` and `hops` (changes of
    thread). Also return both for connecting."""
    return asyncio.run(_counted(key, as_html))


async def _counted(key: str, as_html: bool) -> dict[str, float]:
    page = opened(key, as_html)
    reader: Reader = HtmlSight() if as_html else JsonSight()
    TALLY.take()
    assert (await page.connect(timeout=30))[0], "no seat"
    sight = await seen(page, reader, 0)
    await asyncio.sleep(REST)
    connecting, steps, chance = TALLY.take(), [], Random(7)
    options: list[Any] = []
    for number in range(1, STEPS + 1):
        options = sight.options or options
        text = reader.say(number, chance.choice(options))
        await page.send_to(text_data=text.decode())
        sight = await seen(page, reader, number)
        await asyncio.sleep(REST)
        steps.append(TALLY.take())
    await page.disconnect()
    return {what: median(step[what] for step in steps) for what in COUNTED} | {
        f"connecting {what}": connecting[what] for what in COUNTED
    }


def opened(key: str, as_html: bool) -> WebsocketCommunicator:
    """Return a page of this seat that is not connected yet."""
    from brigade.asgi import application  # the app must be loaded first

    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
    path, protocols = f"/ws/seat/{key}/?page={secrets.token_hex(12)}&take=1", None if as_html else [JSON]
    return WebsocketCommunicator(application, path, headers=headers, subprotocols=protocols)


async def seen(page: WebsocketCommunicator, reader: Reader, step: int) -> Sight:
    """Wait until this step is shown, and return the messages and the last menu before it."""
    options = None
    while True:
        sight = reader.read((await page.receive_from(timeout=30)).encode())
        options = sight.options or options
        if sight.step is not None and sight.step >= step:
            return replace(sight, options=options)
