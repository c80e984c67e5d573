"""Playing one episode whose steps a clock takes: a key for every tick, as far as one thinks quickly enough.

What goes over the socket is told in `kitchen.ticking.wire`. Whoever needs longer than a tick chooses by what
is shown then, never by what was shown before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection

from kitchen.contract.world import Command
from study.trying_out.walk.pages import WalkedPage
from study.trying_out.walk.play import Sitting

ADDRESS = "/ws/ticks/"
"""Where the websocket of such an episode is."""
SHOWN = frozenset({"whole", "tick"})
"""Messages that show how things are."""


def sitting_at(page: WalkedPage) -> type[Sitting]:
    """How one plays on this page."""
    return TickSitting if ADDRESS in page.socket else Sitting


class TickSitting(Sitting):
    """One sitting where nobody is waited for."""

    number = 0
    """Of the word that was sent last."""
    pressing: asyncio.Task[None] | None = None

    async def _sit(self, socket: ClientConnection) -> None:
        self.state: dict[str, Any] = {}
        """What the page shows now, as a `kitchen.play.told.StateMessage`; nothing before the first one."""
        self.fresh = asyncio.Event()
        """Set once a tick is shown for which no key was chosen yet."""
        self.pressing = asyncio.create_task(self._press_on(socket))
        try:
            await super()._sit(socket)
        finally:
            self.pressing.cancel()
            await asyncio.wait([self.pressing])

    async def _hear(self, socket: ClientConnection, message: Mapping[str, Any]) -> bool:
        """Take in one message; whether the episode, or the part of it that is played, is over."""
        if self.pressing and self.pressing.done():
            self.pressing.result()  # whatever ended it ends the sitting
        if message["type"] == "state":
            self.state = dict(message)
        elif message["type"] in SHOWN and self.state:
            self.state = shown(self.state, message)
            self.fresh.set()
        if self.state:
            self.player.watch(self.state)
            self.patience.moved((self.player.episode, self.state["step"], self.state["phase"]))
            self.patience.check(f"nothing happens, {self._place()}")
        over = message["type"] == "over" or self.state.get("phase") == "over"
        return over or self._had_enough(self.state or {"step": 0, "length": None})

    async def _press_on(self, socket: ClientConnection) -> None:
        """A key for what is shown, again and again."""
        while True:
            await self.fresh.wait()
            self.fresh.clear()
            await self._think(self.state)
            command = self.player.press(self.state)
            for down in (True, False):
                await self._say(socket, command, down=down)
            await asyncio.sleep(0)  # what came meanwhile is heard first

    async def _say(self, socket: ClientConnection, command: Command, *, down: bool) -> None:
        self.number += 1
        word = {"type": "key", "command": list(command), "down": down, "number": self.number}
        await socket.send(json.dumps(word))


def shown(state: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """What a page shows after this message."""
    if message["type"] == "whole":
        seen, score = message["observation"], message["score"]
    else:
        kept = {name: value for name, value in state["observation"].items() if name not in message["gone"]}
        seen, score = {**kept, **message["changed"]}, {**state["score"], **message["score"]}
    return {**state, "step": message["step"], "observation": seen, "score": score}
