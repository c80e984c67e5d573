"""Play one episode after another. When a player finishes an episode, it gets the next one.

The player reconnects as a browser does: if it hears nothing, it first pings and then connects again
(`static/js/play/connection.js`).
"""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress

from tests.live.books import Books
from tests.live.mix import CLOCK, TABLES, Mix
from tests.live.player import Player

STEPS = 60
"""The number of steps of an episode, as in the demo study."""
LOOK = 1.0
"""Seconds between two checks of which players have finished or hear nothing."""
SILENT = "silent for too long"
_NOTICE = re.compile(rb'<[^<>]*\bid="notice"[^<>]*>\s*<p>([^<]+)')


class Regular(Player):
    """A player with a place in the mix, which records unexpected events."""

    def __init__(self, url: str, number: int, mix: Mix, *, every: float) -> None:
        self.table, as_html, self.timed = mix.seat(number)
        super().__init__(url, [], as_html=as_html, every=every, seed=number)
        self.hung_up = False
        self.troubles: Counter[str] = Counter()
        """Notices on the page, and reasons for lost connections."""

    async def sit_down(self, key: str) -> None:
        """Open the page of a new episode, and continue to play. Raises OSError."""
        self.keys.append(key)
        self.heard_at = self.loop.time()
        await self.connect()

    def heard(self, text: bytes) -> None:
        """Handle a received message."""
        refused = self.refusals
        super().heard(text)
        if self.refusals > refused:
            self.troubles[said(text)] += 1

    def listen(self) -> None:
        """Check the connection as any page does, and record a silence that was too long."""
        self.hung_up = self.hears_nothing
        self.troubles[SILENT] += self.hung_up
        super().listen()

    def lost(self, code: int) -> None:
        """Handle the end of the connection."""
        if self.line and self.keys and not self.stopped and not self.hung_up:
            self.troubles[f"closed with {code}"] += 1
        self.hung_up = False
        super().lost(code)


def said(text: bytes) -> str:
    """Return the notice in a message as its reader sees it."""
    if text.startswith(b"{"):
        return str(json.loads(text).get("text", ""))
    found = _NOTICE.search(text)
    return html.unescape(found[1].decode()).strip() if found else ""


class Tables:
    """Creates episodes for regular players, and finds players who need a new one."""

    def __init__(self, books: Books) -> None:
        self.books = books
        self.asking = asyncio.Lock()

    async def seat(self, players: Sequence[Regular]) -> None:
        """Create a new episode for each player."""
        kinds: dict[tuple[str, bool], list[Regular]] = defaultdict(list)
        for player in players:
            kinds[player.table, player.timed].append(player)
        for (table, timed), same in kinds.items():
            for start in range(0, len(same), AT_ONCE):
                await self._lay(table, timed, same[start : start + AT_ONCE])

    async def _lay(self, table: str, timed: bool, players: Sequence[Regular]) -> None:
        clock = {"step_seconds": CLOCK} if timed else {}
        async with self.asking:
            keys = await asyncio.to_thread(
                self.books.episodes, len(players), steps=STEPS, **TABLES[table], **clock
            )
        await asyncio.gather(*(sit(player, key) for player, key in zip(players, keys, strict=True)))

    async def keep_going(self, players: Sequence[Regular]) -> None:
        """Give each player who has finished a new episode, and let silent pages check their connection,
        without end."""
        while True:
            await asyncio.sleep(LOOK)
            for player in players:
                player.listen()
            if idle := [player for player in players if player.done and not player.stopped]:
                await self.seat(idle)


AT_ONCE = 20
"""The number of episodes created, and of pages opened, at a time."""


async def sit(player: Regular, key: str) -> None:
    """Open a player's page. If this fails, the player gets another episode."""
    with suppress(OSError):
        await player.sit_down(key)
        return
    player.troubles["no connection"] += 1
    player.keys.clear()
