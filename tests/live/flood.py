"""Measure how players are affected when others request the state without pause (the row `flood` of the
benchmark).

The clients that flood the server run in a process of their own, `python -m tests.live.flood URL KEY…`, until
it is killed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from functools import partial

from websockets.protocol import State

from tests.live.line import Line, dial
from tests.live.rows import Bench
from tests.live.stack import background_module
from tests.live.table import Figure

PEOPLE, FLOODERS = 10, 15
EVERY = 1.0
"""Seconds between two commands of a person."""
SYNC = b'{"type": "sync"}'
AT_ONCE = 100
"""Messages that are sent before checking whether the connection takes more."""
BREATH = 0.02
"""Pause in seconds between such groups of messages, so that the flooding clients leave processor time for the
players."""
AGAIN = 0.4


async def flood(bench: Bench) -> list[Figure]:
    """Measure ten players, first alone and then with fifteen clients that flood the server."""
    figures = []
    for flooders in (0, FLOODERS):
        what = f"{PEOPLE} players, {flooders} sockets that flood"
        keys = [key for (key,) in bench.keys(flooders)]
        with background_module("tests.live.flood", bench.stack.url, *keys):
            played = await bench.played(what, bench.keys(PEOPLE), html=True, every=EVERY, warm=4, seconds=12)
        figures += [
            Figure(f"{what}: p50", played.p50, "ms"),
            Figure(f"{what}: p95", played.quantile(0.95), "ms", 250.0),
        ]
    return figures


# In the process


async def flood_all(url: str, keys: Sequence[str]) -> None:
    """Flood all seats at the same time, without end."""
    addresses = [f"{url.replace('http', 'ws', 1)}/ws/seat/{key}/" for key in keys]
    await asyncio.gather(*(flood_one(address, lambda: SYNC) for address in addresses))


def ignored(given: object) -> None:
    """Ignore an answer, or a close code."""


async def flood_one(
    address: str,
    text: Callable[[], bytes],
    *,
    heard: Callable[[bytes], None] = ignored,
    closed: Callable[[int], None] = ignored,
) -> None:
    """Send as many messages as the connection takes, and connect again whenever it is closed. `text` makes
    the next message."""
    while True:
        lost = asyncio.Event()
        try:
            line = await dial(address, [], heard=heard, lost=partial(ended, lost, closed))
        except OSError:
            lost.set()
        while not lost.is_set():
            say_some(line, text)
            await asyncio.sleep(BREATH)
        await asyncio.sleep(AGAIN)


def ended(lost: asyncio.Event, closed: Callable[[int], None], code: int) -> None:
    """Record that the connection was closed."""
    lost.set()
    closed(code)


def say_some(line: Line, text: Callable[[], bytes]) -> None:
    """Send a hundred messages, unless as many are waiting to be sent or the connection is closing."""
    waiting = line.transport.get_write_buffer_size() if line.transport else 0
    if line.protocol.state is State.OPEN and waiting < AT_ONCE * len(SYNC):
        for _ in range(AT_ONCE):
            line.say(text())


if __name__ == "__main__":
    asyncio.run(flood_all(sys.argv[1], sys.argv[2:]))
