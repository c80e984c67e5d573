"""Play one episode over a websocket. The player chooses at random among the offered commands, at once or
every few seconds.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from random import Random
from time import perf_counter
from typing import Any

from websockets.typing import Subprotocol

from kitchen.infra.connection_drain import RESTART_CLOSE_CODE
from tests.live.line import Line, dial
from tests.live.sight import HtmlSight, JsonSight, Reader

ONCE_MORE = 1.0
"""Seconds after which a command that could not be stored is sent again."""
AT_ONCE = 0.05
"""Seconds within which a page connects again if the server asks it to."""
CALM = 1.0
"""Seconds after which the player then chooses again, if its command had no effect or was refused."""
PING, HURRY = 4.0, 0.6
"""Seconds of silence after which a page sends a ping, and the same while a command is on its way."""
UNANSWERED, SPREAD, SILENCE = 6.0, 2.0, 12.0
"""Seconds without an answer to a ping, the random seconds added to them for each page, and seconds of
silence, after which a page connects again."""
OPENING, LONGEST_OPENING = 15.0, 60.0
"""Seconds until a connection must be open: at first, and at most."""
ASKED = b'{"type": "ping"}'
"""The text of the ping."""
FIRST, GROWS, LONGEST = 0.4, 1.4, 5.0
"""Seconds until a page that lost its connection connects again: the first pause, its growth factor, and the
maximum (`play/connection.js`)."""


def pause_before(tries: int, chance: Random) -> float:
    """Return the seconds that a page waits before it connects again, after this number of failed attempts."""
    return min(LONGEST, FIRST * GROWS**tries) * chance.uniform(0.6, 1.0)


def opening_seconds(overdue: int) -> float:
    """Return the seconds that a page waits until its connection is open, after this number of connections
    that were not open in time."""
    return min(LONGEST_OPENING, OPENING * 2.0**overdue)


class Player:
    """A program that plays the seats with these keys, one episode after another.

    It sends a command every `every` seconds, counted from `first`; if `every` is 0, at once. After a lost
    connection it connects again. It then chooses again if its command was not accepted.
    """

    connect_seconds: float | None = None
    """Seconds that a machine has to accept a connection."""

    def __init__(
        self, url: str, keys: Sequence[str], *, as_html: bool = False, every: float = 0.0, seed: int = 0
    ) -> None:
        self.base = url.replace("http", "ws", 1)
        self.keys = list(keys)
        self.as_html, self.every = as_html, every
        self.sight: Reader = HtmlSight() if as_html else JsonSight()
        self.chance = Random(seed)
        self.leaves_after = UNANSWERED + SPREAD * self.chance.random()
        self.page = secrets.token_hex(12)
        self.line: Line | None = None
        self.heard_once = self.stopped = self.refused = self.playing = False
        self.step, self.phase = -1, ""
        self.options: list[Any] = []
        self.option: Any = None
        """The command that was chosen last."""
        self.sent = 0.0
        self.waits_for: int | None = None
        self.due = 0.0
        self.times: list[tuple[float, float]] = []
        """For every played step: when its new state arrived, and seconds since the command was sent."""
        self.bytes_before = 0
        self.reconnects = self.refusals = 0
        self.loop = asyncio.get_running_loop()
        self.heard_at = self.loop.time()
        self.asked_at = 0.0
        """When the first ping was sent since the server said something."""
        self.later: asyncio.TimerHandle | None = None
        self.connecting: asyncio.Task[None] | None = None

    @property
    def done(self) -> bool:
        """Return whether all episodes are over."""
        return not self.keys

    @property
    def bytes_heard(self) -> int:
        """Return the number of bytes received so far."""
        return self.bytes_before + (self.line.bytes_heard if self.line else 0)

    async def connect(self) -> None:
        """Open the page of the present episode. Raises OSError."""
        take = "" if self.heard_once else "&take=1"
        address = f"{self.base}/ws/seat/{self.keys[0]}/?page={self.page}{take}"
        protocols = [] if self.as_html else [Subprotocol("brigade.json")]
        self._use(await dial(address, protocols, self.heard, self.lost, connect_seconds=self.connect_seconds))

    async def open(self) -> None:
        """Connect, and repeat this until it succeeds."""
        await self._connect_again(False)

    def _use(self, line: Line) -> None:
        """Use this open connection, and read what it has received already. Raises OSError if it is closed."""
        if line.transport is None:
            raise ConnectionError("lost as soon as it was open")
        self.line = line
        self._choose_when_due()

    def begin(self, first: float = 0.0) -> None:
        """Play from now on, the first command in `first` seconds."""
        self.playing = True
        self.due = self.loop.time() + first
        self._choose_when_due()

    def pause(self) -> None:
        """Send nothing more; the page stays open."""
        self.playing = False

    def stop(self) -> None:
        """Close the page."""
        self.stopped, self.playing = True, False
        if self.later:
            self.later.cancel()
        if self.connecting:
            self.connecting.cancel()
        if self.line:
            self.line.hang_up()

    @property
    def hears_nothing(self) -> bool:
        """Return whether the server has been silent for so long that a page connects again."""
        now = self.loop.time()
        unanswered = self.asked_at > self.heard_at and now - self.asked_at > self.leaves_after
        return self.line is not None and (unanswered or now - self.heard_at > SILENCE)

    def listen(self) -> None:
        """Check the connection once a second: send a ping after some silence, and connect again after
        more."""
        now = self.loop.time()
        silence = now - self.heard_at
        if self.line and self.hears_nothing:
            self.heard_at = now
            self.line.hang_up()
        elif self.line and silence > (PING if self.waits_for is None else HURRY):
            self.asked_at = self.asked_at if self.asked_at > self.heard_at else now
            self.line.say(ASKED)

    def heard(self, text: bytes) -> None:
        """Handle a received message."""
        now = perf_counter()
        self.heard_once, self.heard_at = True, self.loop.time()
        sight = self.sight.read(text)
        if sight.again and self.waits_for is not None:
            self.waits_for, self.later = None, self.loop.call_later(ONCE_MORE, self._choose)
        elif sight.noticed:
            self.told()
            self.loop.call_later(CALM, self._choose_instead, self.waits_for)
        if sight.options is not None:
            self.options = sight.options
        if sight.step is None:
            return
        self.step, self.phase = sight.step, sight.phase or self.phase
        self.showed(text)
        self._see(now)

    def told(self) -> None:
        """Handle a notice in words: a command was not accepted."""
        if self.waits_for is not None:
            self.refused, self.refusals = True, self.refusals + 1

    def _choose_instead(self, step: int | None) -> None:
        """Choose again for this step if its command was refused, and no new state came."""
        if step is not None and self.waits_for == step and self.refused:
            self._see(perf_counter())

    def showed(self, text: bytes) -> None:
        """Handle a shown state. Subclasses that keep a record override this."""

    def _see(self, now: float) -> None:
        """Record a new step, and choose the next command."""
        if self.waits_for is not None and self.step >= self.waits_for:
            self.times.append((now, now - self.sent))
            self.waits_for, self.refused = None, False
            self.due += self.every
        elif self.waits_for is not None and self.refused and self.phase == "choose":
            self.waits_for, self.refused = None, False
        if self.phase == "over":
            self._next_episode()
        else:
            self._choose_when_due()

    def _choose_when_due(self) -> None:
        if self.waits_for is not None or self.phase != "choose" or not self.playing:
            return
        wait = self.due - self.loop.time() if self.every else 0.0
        if self.later:
            self.later.cancel()
        if wait > 0:
            self.later = self.loop.call_later(wait, self._choose)
        else:
            self._choose()

    def _choose(self) -> None:
        self.later = None
        if not self.playing or self.phase != "choose" or self.waits_for is not None or self.line is None:
            return
        option = self.chance.choice(self.options)
        if self.line.say(self.sight.say(self.step + 1, option)):
            self.waits_for, self.option, self.sent = self.step + 1, option, perf_counter()

    def _next_episode(self) -> None:
        self.keys = self.keys[1:]
        self.heard_once, self.waits_for, self.step, self.phase = False, None, -1, ""
        if self.line:
            self.line.hang_up()

    def lost(self, code: int) -> None:
        """Handle the end of the connection, by this player or by the server."""
        if self.line is None:  # it had hardly begun, and whoever opened it sees that
            return
        self.bytes_before += self.line.bytes_heard
        self.line = None
        if self.keys and not self.stopped:
            self.reconnects += self.heard_once
            self.connecting = self.loop.create_task(self._connect_again(code == RESTART_CLOSE_CODE))

    async def _connect_again(self, asked: bool) -> None:
        """Connect again until it succeeds, at once if the server requested it. Choose again if a sent command
        was not answered."""
        tries, overdue = 0 if self.heard_once else -1, 0
        while self.line is None:
            if tries >= 0:
                pause = AT_ONCE * self.chance.random() if asked else pause_before(tries, self.chance)
                await asyncio.sleep(pause)
            tries, asked, self.refused = tries + 1, False, not asked
            try:
                async with asyncio.timeout(opening_seconds(overdue)):
                    await self.connect()
            except TimeoutError:
                overdue += 1
            except OSError:
                continue
        if not self.refused and (wanted := self.waits_for) is not None:
            await asyncio.sleep(CALM)
            self.refused = self.waits_for == wanted
            self._see(perf_counter())
