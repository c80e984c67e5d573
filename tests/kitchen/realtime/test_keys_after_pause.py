"""The keys that a player pressed while the web process was frozen do not close the player's websocket."""

from __future__ import annotations

import asyncio
import json
import selectors
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kitchen.infra.rate_limits import RATE_CLOSE_CODE
from kitchen.realtime import tick_consumer
from kitchen.realtime.tick_consumer import TickConsumer
from tests.house.test_web_server_limits import Talk, close_code, connected, send

READ_SECONDS = 0.0005
"""Seconds that a process takes to read one message."""


class SimulatedTime(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__(SimulatedSelector(self))
        self.now = 0.0

    def time(self) -> float:
        return self.now


class SimulatedSelector(selectors.SelectSelector):
    """Waits for nothing: it moves the loop's clock."""

    def __init__(self, loop: SimulatedTime) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.loop.now += timeout or 0.0
        return super().select(0)


class KeyTalk(Talk):
    """A server whose pages press keys of a real-time episode. It records which keys it forwards."""

    def __init__(self) -> None:
        super().__init__()
        self.forwarded: list[int] = []

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the messages as the consumer of a real-time page does."""
        consumer, loop = TickConsumer(), asyncio.get_running_loop()
        consumer.page = cast(Any, SimpleNamespace())
        for bucket in [one for one in vars(consumer).values() if hasattr(one, "taken")]:
            bucket.clock, bucket._seen = loop.time, loop.time()
        consumer.notify_owner = self.note  # type: ignore[method-assign]
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await asyncio.sleep(READ_SECONDS)
            await consumer.receive(message["text"])

    async def note(self, kind: str, **more: Any) -> None:
        """Record the number of a forwarded key."""
        self.forwarded.append(more["number"])


def pressed(number: int) -> bytes:
    """The message with this number: keys are pressed and released in turn."""
    command = [("north", "east", "south", "west")[number // 2 % 4]]
    return json.dumps({"type": "key", "command": command, "down": number % 2 == 0, "number": number}).encode()


async def play(freeze: float, rate: float, after: float = 2) -> tuple[int | None, list[int], int]:
    """Press keys at this rate (messages a second), while the process is frozen and `after` seconds more.
    Return the close code, the numbers of the forwarded keys, and how many were pressed."""
    loop, talk = cast(SimulatedTime, asyncio.get_running_loop()), KeyTalk()
    wire, client = await connected(talk)
    total = int((freeze + after) * rate)
    loop.now += freeze  # the whole process does nothing
    for number in range(total):
        if wire.producerState == "paused":
            break
        came = number >= freeze * rate  # the earlier ones are all here at once
        if came:
            await asyncio.sleep(1 / rate)
        send(wire, client, 1, pressed(number))
    await asyncio.sleep(8)
    return close_code(wire, client), talk.forwarded, total


@pytest.mark.parametrize("freeze", [0.0, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("rate", [24.0, 50.0, 90.0])
def test_keys_pressed_during_a_freeze_close_no_websocket(freeze: float, rate: float) -> None:
    with asyncio.Runner(loop_factory=SimulatedTime) as runner:
        code, forwarded, total = runner.run(play(freeze, rate))
    assert code is None
    assert forwarded[-1] == total - 1
    most = tick_consumer.MAX_FORWARDED + tick_consumer.FORWARDED_PER_SECOND * (2 + READ_SECONDS * total)
    assert len(forwarded) <= min(total, most + 2 * tick_consumer.MAX_WAITING_KEYS)


def test_a_page_that_sends_keys_without_end_is_still_closed() -> None:
    with asyncio.Runner(loop_factory=SimulatedTime) as runner:
        code, forwarded, total = runner.run(play(0, 3 * tick_consumer.MESSAGES_PER_SECOND, after=6))
    assert code == RATE_CLOSE_CODE
    assert len(forwarded) < total / 4
