"""The clock process and the broker of a real-time game are killed together: no page shows an old picture."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.servers import PATIENCE, Stack, kill

MAKE = """
from kitchen.play.episode.create_episode import MindPlan, create_episode
episode = create_episode(
    world="overcooked", settings={"layout": "cramped_room", "ticks": 2000, "clock": "tick", "tick_ms": 100},
    seats=2, seed=1, minds=[MindPlan("random", (1,), {})],
)
print(episode.seats.get(number=0).key)
"""


class Picture:
    """What a page of this websocket shows, by step."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.step = 0
        self.seen: dict[int, Any] = {}

    async def hear(self) -> dict[str, Any]:
        """Show the next message, and return it."""
        message: dict[str, Any] = json.loads(await self.socket.recv())
        if message["type"] == "whole":
            self.step, self.seen = message["step"], {message["step"]: message["observation"]}
        elif message["type"] == "tick":
            assert message["step"] == self.step + 1
            before = {
                name: value for name, value in self.seen[self.step].items() if name not in message["gone"]
            }
            self.step += 1
            self.seen[self.step] = before | message["changed"]
        return message

    async def whole(self) -> dict[str, Any]:
        """Show messages until a whole picture comes, and return it."""
        while (message := await self.hear())["type"] != "whole":
            pass
        return message

    async def steps(self, number: int) -> None:
        """Show this number of steps more."""
        last = self.step + number
        while self.step < last:
            await self.hear()


@pytest.mark.nightly  # tests/kitchen/realtime/test_lost_ticks.py proves it without processes
async def test_no_page_shows_changes_of_a_picture_that_was_lost(live_stack: Stack) -> None:
    live_stack.start_ticker()
    key = live_stack.manage("shell", "-v", "0", "-c", MAKE).split()[-1]
    address = f"{live_stack.url.replace('http', 'ws', 1)}/ws/ticks/{key}/"
    async with asyncio.timeout(PATIENCE), connect(address, origin=live_stack.url, proxy=None) as socket:  # type: ignore[arg-type]
        page = Picture(socket)
        await page.whole()
        await page.steps(10)
        kill(live_stack.ticker)
        live_stack.kill_valkey()
        live_stack.restart()
        live_stack.start_ticker()
        whole = await page.whole()
        assert 0 <= whole["lost_steps"] <= 20
        await page.steps(10)
        await socket.send('{"type": "sync"}')
        seen = page.seen
        whole = await page.whole()
        assert seen[whole["step"]] == whole["observation"]
    live_stack.leave()
