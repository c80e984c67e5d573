"""Delay the packets between a browser and a server on this machine, and send some packets twice.

TCP hides a lost packet from both ends: it arrives later, and everything sent after it waits for it.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Self
from urllib.parse import urlsplit

PACKET = 1460
AGAIN = 2
"""Round trips until a lost packet has been sent again and has arrived."""


class SlowLine:
    """A proxy that forwards connections with a delay, which varies by the share `jitter`. `down` counts the
    bytes from the server."""

    def __init__(
        self, url: str, *, round_trip: float, loss: float, jitter: float = 0.0, seed: int = 1
    ) -> None:
        self._far, self._half, self._loss = urlsplit(url), round_trip / 2, loss
        self._jitter = jitter
        self._chance = Random(seed)
        self._tasks: set[asyncio.Task[None]] = set()
        self.down = 0
        self.lost = 0
        self.whole = asyncio.Event()
        self.whole.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Hold back all packets. Neither end is notified."""
        self.whole.clear()

    def mend(self) -> None:
        """Deliver the packets that were held back, and all later ones."""
        self.whole.set()

    async def _meet(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2 * self._half)  # for the handshake
        far, there = await asyncio.open_connection(self._far.hostname, self._far.port)
        for reader, writer, is_down in ((near, there, False), (far, back, True)):
            task = asyncio.create_task(self._carry(reader, writer, is_down))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_down: bool) -> None:
        way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        arriving = asyncio.create_task(self._arrive(way, writer))
        try:
            while packet := await reader.read(PACKET):
                self.down += len(packet) * is_down
                is_lost = self._chance.random() < self._loss
                self.lost += is_lost
                usual = self._half * (1 + self._chance.uniform(-self._jitter, self._jitter))
                took = usual * (1 + 2 * AGAIN * is_lost)
                way.put_nowait((asyncio.get_running_loop().time() + took, packet))
            way.put_nowait((0, b""))
            await arriving
        except ConnectionError:
            writer.close()
        finally:
            arriving.cancel()

    async def _arrive(self, way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
        while True:
            due, packet = await way.get()
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))
            await self.whole.wait()
            if not packet:
                return writer.close()
            writer.write(packet)
