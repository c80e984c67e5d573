"""Playing one episode over its websocket, as long as the connection holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin, Subprotocol

from study.trying_out.walk.browser import origin, shown, socket_url
from study.trying_out.walk.pages import WalkedPage
from study.trying_out.walk.patience import Patience, WalkError
from study.trying_out.walk.player import Player

PROTOCOL = Subprotocol("brigade.json")
QUIET_SECONDS = 5.0
"""After so long without a word the present state is asked for."""
TURNED_DOWN = frozenset({"not_offered", "unreadable"})
"""Notices that mean: choose something else."""
NO_SUCH_SEAT = 4404
ENDLESS = 60
"""Steps that an episode without an end counts as, for who plays a part of it."""


class DroppedError(Exception):
    """The connection is gone; the page has to be opened again."""


class Sitting:
    """One sitting at one websocket: `play` until the episode is over, or this part of it."""

    def __init__(
        self, page: WalkedPage, player: Player, patience: Patience, *, think: float = 0.0, part: float = 1.0
    ) -> None:
        self.page = page
        self.player = player
        self.patience = patience
        self.think = think
        """Mean seconds of thinking before a choice."""
        self.part = part
        """Of the steps; 1 for all of them."""
        self.sent = 0
        """The step that a choice was sent for last in this sitting."""

    async def play(self) -> None:
        """Returns when the episode, or the part of it that is played, is over.

        DroppedError when the connection is lost before; WalkError when nothing moves for too long, or when
        the server does not know the seat.
        """
        try:
            async with connect(
                socket_url(self.page),
                origin=Origin(origin(self.page.url)),
                subprotocols=[PROTOCOL],
                compression=None,
                proxy=None,
                max_size=2**24,
            ) as socket:
                await self._sit(socket)
        except (OSError, InvalidHandshake, TimeoutError) as error:
            raise DroppedError(f"{type(error).__name__} {error}".strip()) from error
        except ConnectionClosed as error:
            if error.rcvd and error.rcvd.code == NO_SUCH_SEAT:
                raise WalkError(f"{shown(self.page.url)}: the server does not know this seat") from error
            raise DroppedError(str(error)) from error

    async def _sit(self, socket: ClientConnection) -> None:
        if socket.subprotocol != PROTOCOL:
            raise WalkError(f"{shown(self.page.url)}: the websocket does not speak {PROTOCOL}")
        over = False
        while not over:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    text = await socket.recv()
            except TimeoutError:
                self.patience.check(f"the websocket is silent, {self._place()}")
                await socket.send(json.dumps({"type": "sync"}))
            else:
                over = await self._hear(socket, json.loads(text))

    async def _hear(self, socket: ClientConnection, message: Mapping[str, Any]) -> bool:
        """Take in one message and answer it; whether the episode is over."""
        if message["type"] == "notice":
            self._notice(message)
        if message["type"] != "state":
            return False
        self.player.watch(message)
        self.patience.moved((self.player.episode, message["step"], message["phase"]))
        self.patience.check(f"nothing happens, {self._place()}")
        if message["phase"] == "over" or self._had_enough(message):
            return True
        if message["phase"] == "choose" and self.sent <= message["step"]:
            await self._choose(socket, message)
        if message["phase"] == "lead" and self.sent <= message["step"]:
            await self._lead(socket, message)
        return False

    def _had_enough(self, message: Mapping[str, Any]) -> bool:
        return self.part < 1 and message["step"] >= self.part * (message["length"] or ENDLESS)

    async def _choose(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        command = self.player.choose(state)
        await self._think(state)
        self.sent = state["step"] + 1
        await socket.send(json.dumps({"type": "command", "step": self.sent, "command": list(command)}))

    async def _think(self, state: Mapping[str, Any]) -> None:
        if self.think:
            rng = self.player.person.chance("think", self.player.episode, state["step"])
            await asyncio.sleep(rng.expovariate(1 / (self.think * self.player.person.temper.pace)))

    async def _lead(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        """Jobs for those who have none, once in a step."""
        self.sent = state["step"] + 1
        for member, aim in self.player.jobs(state):
            job = {"type": "say", "kind": "inform", "to": [member], "aim": list(aim)}
            await socket.send(json.dumps(job))

    def _notice(self, notice: Mapping[str, Any]) -> None:
        if notice["code"] in TURNED_DOWN:
            self.player.refused()
            self.sent -= 1
        elif notice["again"]:
            self.sent -= 1

    def _place(self) -> str:
        last = self.player.last
        return f"step {last['step']}, phase {last['phase']}" if last else "before the first step"
