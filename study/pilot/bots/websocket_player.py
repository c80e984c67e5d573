"""Play one episode (game) over its websocket as a synthetic participant, step by step or in real time.

A synthetic participant is a program. In real time, it presses one key per tick (step of the clock), or fewer
if it is slow. It always decides from the latest state. `kitchen.realtime.tick_messages` describes the
messages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin, Subprotocol

from kitchen.contract.team_messages import REQUESTS_KEY
from kitchen.contract.world import Command
from study.pilot.bots.http_browser import (
    PatienceLimit,
    WalkedPage,
    origin,
    socket_url,
)
from study.pilot.bots.simulated_person import Player

PROTOCOL = Subprotocol("brigade.json")
QUIET_SECONDS = 5.0
"""Seconds of silence after which the player asks for the present state."""
TURNED_DOWN = frozenset({"not_offered", "unreadable"})
"""Notice codes after which the player must choose another command."""
NOT_YOUR_TURN = "not_your_turn"
"""Notice code after which the player sends the same command again as soon as it may choose."""
NO_SUCH_SEAT = 4404
SLIDER_MOVES = 4
"""Most values of the slider in one session, spread over the episode."""
ENDLESS = 60
"""Assumed length in steps of an endless episode, for players who play a part of it."""


class ConnectionDroppedError(Exception):
    """Raised if the websocket connection is lost. The caller has to open the page again."""


class TurnSession:
    """One websocket connection in which a synthetic participant plays an episode step by step."""

    def __init__(
        self,
        page: WalkedPage,
        player: Player,
        patience: PatienceLimit,
        *,
        think: float = 0.0,
        part: float = 1.0,
    ) -> None:
        self.page = page
        self.player = player
        self.patience = patience
        self.think = think
        """Mean seconds of thinking before a choice."""
        self.part = part
        """Share of the steps to play; 1 for all."""
        self.sent = 0
        """The last step for which this session sent a choice."""
        self.command: list[str] = []
        """The last choice that this session sent."""
        self.held: list[str] | None = None
        """A choice that was refused because another member speaks first. It is sent again afterwards."""
        self.rated = 0
        """Number of times that this session has moved the slider beside the game."""
        self.unanswered = 0
        """Number of the last message to which this session, while busy, gave no answer."""

    async def play(self) -> None:
        """Play until the episode, or the planned part of it, is over. Raises ConnectionDroppedError if the
        connection is lost before. Raises WalkError without progress for too long, or if the server does not
        know the seat."""
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
            raise ConnectionDroppedError(f"{type(error).__name__} {error}".strip()) from error
        except ConnectionClosed as error:
            if error.rcvd and error.rcvd.code == NO_SUCH_SEAT:
                raise self.page.error("the server does not know this seat") from error
            raise ConnectionDroppedError(str(error)) from error

    async def _sit(self, socket: ClientConnection) -> None:
        if socket.subprotocol != PROTOCOL:
            raise self.page.error(f"the websocket does not speak {PROTOCOL}")
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
        """Read one message from the server and answer it. Return True if the episode is over."""
        if message["type"] == "notice":
            self._notice(message)
        if message["type"] != "state":
            return False
        self.player.watch(message)
        self.patience.moved((self.player.episode, message["step"], message["phase"]))
        self.patience.check(f"nothing happens, {self._place()}")
        if message["phase"] == "over" or self._had_enough(message):
            return True
        if message.get("probe"):
            await self._answer_probe(socket, message["probe"])
        await self._rate(socket, message)
        if message["phase"] == "choose" and self.sent <= message["step"]:
            await self._choose(socket, message)
        if message["phase"] == "answer" and self.unanswered < (last := message["messages"][-1]["number"]):
            self.unanswered = last
            await socket.send(json.dumps({"type": "say", "kind": "end"}))
        if message["phase"] == "lead" and self.sent <= message["step"]:
            await self._lead(socket, message)
        return False

    def _had_enough(self, message: Mapping[str, Any]) -> bool:
        return self.part < 1 and message["step"] >= self.part * (message["length"] or ENDLESS)

    async def _choose(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        if self.held is None:
            await self._give_jobs(socket, state)
            self.command = list(self.player.choose(state))
            await self._think(state)
            await self._say_drafts(socket, state)
        command, self.held = self.held or self.command, None
        self.sent = state["step"] + 1
        await socket.send(json.dumps({"type": "command", "step": self.sent, "command": command}))

    async def _answer_probe(self, socket: ClientConnection, probe: Mapping[str, Any]) -> None:
        """Answer the questions that hold the game. A server that has the answers ignores them."""
        answers = {
            one["key"]: {item["key"]: self.player.answer_item(item) for item in one["items"]}
            for one in probe["probes"]
        }
        await socket.send(json.dumps({"type": "probe", "step": probe["step"], "answers": answers}))

    async def _rate(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        """Move the slider beside the game, if the page has one: after the first step, and again in each
        further part of the episode. The server stores so many values at once."""
        part = 1 + state["step"] * SLIDER_MOVES // (state["length"] or ENDLESS) if state["step"] else 0
        if self.page.has_slider and self.rated < min(part, SLIDER_MOVES):
            self.rated = part
            await socket.send(json.dumps({"type": "slider", "value": self.player.rate()}))

    async def _say_drafts(self, socket: ClientConnection, state: Mapping[str, Any]) -> bool:
        """Send what the person writes before the command just chosen. Return whether that was anything."""
        drafts = self.player.messages(state)
        for draft in drafts:
            requests = draft.data.get(REQUESTS_KEY, [])
            said = {"type": "say", "text": draft.text, "kind": draft.kind, REQUESTS_KEY: requests}
            await socket.send(json.dumps(said))
        return bool(drafts)

    async def _think(self, state: Mapping[str, Any]) -> None:
        if self.think:
            rng = self.player.person.chance("think", self.player.episode, state["step"])
            await asyncio.sleep(rng.expovariate(1 / (self.think * self.player.person.temper.pace)))

    async def _give_jobs(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        for member, aim in self.player.jobs(state):
            job = {"type": "say", "kind": "inform", "to": [member], "aim": list(aim)}
            await socket.send(json.dumps(job))

    async def _lead(self, socket: ClientConnection, state: Mapping[str, Any]) -> None:
        """Give a job to each team member who has none. If the step waits for this leader, say that there are
        no more jobs now. This happens at most once per step."""
        self.sent = state["step"] + 1
        await self._give_jobs(socket, state)
        if state["seat"] in state["waiting_for"]:
            await socket.send(json.dumps({"type": "say", "kind": "end", "step": self.sent}))

    def _notice(self, notice: Mapping[str, Any]) -> None:
        if notice["code"] in TURNED_DOWN:
            self.player.refused()
            self.sent -= 1
        elif notice["code"] == NOT_YOUR_TURN and self.command:
            self.held, self.command = self.command, []
            self.sent -= 1
        elif notice["again"]:
            self.sent -= 1

    def _place(self) -> str:
        last = self.player.last
        return f"step {last['step']}, phase {last['phase']}" if last else "before the first step"


ADDRESS = "/ws/ticks/"
"""Part of the websocket's address that marks a real-time episode."""
QUIET_STEPS = 20
"""Steps between two messages that a person writes while the clock runs."""
SHOWN = frozenset({"whole", "tick"})
"""Messages that show the state."""


def session_for_page(page: WalkedPage) -> type[TurnSession]:
    """Return the class that plays this page's episode: `TickSession` in real time, else `TurnSession`."""
    return TickSession if ADDRESS in page.socket else TurnSession


class TickSession(TurnSession):
    """One websocket connection in which a synthetic participant plays a real-time episode."""

    number = 0
    """Number of the last message sent."""
    quiet_until = 0
    """The step before which the person writes no further message."""
    pressing: asyncio.Task[None] | None = None

    async def _sit(self, socket: ClientConnection) -> None:
        self.state: dict[str, Any] = {}
        """The present state as a `kitchen.play.turn.websocket_messages.StateMessage`; empty before the first
        one."""
        self.fresh = asyncio.Event()
        """Set when a tick is shown for which no key was chosen yet."""
        self.pressing = asyncio.create_task(self._press_on(socket))
        try:
            await super()._sit(socket)
        finally:
            self.pressing.cancel()
            await asyncio.wait([self.pressing])

    async def _hear(self, socket: ClientConnection, message: Mapping[str, Any]) -> bool:
        """Read one message from the server. Return True if the episode is over, or the part of it that this
        participant plays."""
        if self.pressing and self.pressing.done():
            self.pressing.result()  # an error in the task ends the session
        if message["type"] == "state":
            self.state = dict(message)
            if message.get("probe"):
                await self._answer_probe(socket, message["probe"])
        elif message["type"] == "probe" and message["probe"]:
            await self._answer_probe(socket, message["probe"])
        elif message["type"] in SHOWN and self.state:
            self.state = shown_state(self.state, message)
            self.fresh.set()
        if self.state:
            self.player.watch(self.state)
            self.patience.moved((self.player.episode, self.state["step"], self.state["phase"]))
            self.patience.check(f"nothing happens, {self._place()}")
        over = message["type"] == "over" or self.state.get("phase") == "over"
        if self.state and not over:
            await self._rate(socket, self.state)
        return over or self._had_enough(self.state or {"step": 0, "length": None})

    async def _press_on(self, socket: ClientConnection) -> None:
        """Send one key press for each state that the page shows, until this task is cancelled."""
        while True:
            await self.fresh.wait()
            self.fresh.clear()
            await self._think(self.state)
            command = self.player.press(self.state)
            if self.state["step"] >= self.quiet_until and await self._say_drafts(socket, self.state):
                self.quiet_until = self.state["step"] + QUIET_STEPS
            for down in (True, False):
                await self._say(socket, command, down=down)
            await asyncio.sleep(0)  # first read what has arrived meanwhile

    async def _say(self, socket: ClientConnection, command: Command, *, down: bool) -> None:
        self.number += 1
        word = {"type": "key", "command": list(command), "down": down, "number": self.number}
        await socket.send(json.dumps(word))


def shown_state(state: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the state, updated by a message of a real-time episode: `whole` has a complete state,
    `tick` has changes."""
    if message["type"] == "whole":
        seen, score = message["observation"], message["score"]
    else:
        unchanged = {
            name: value for name, value in state["observation"].items() if name not in message["gone"]
        }
        seen, score = {**unchanged, **message["changed"]}, {**state["score"], **message["score"]}
    return {**state, "step": message["step"], "observation": seen, "score": score}
