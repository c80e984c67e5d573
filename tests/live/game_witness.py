"""Play games in real time one after another, and record each step that was shown, or shown and then
lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import ceil
from typing import Any

from tests.live.machine_switching_players import TickTraveller

TICK_MS, TICKS = 200, 300
"""The interval between two steps of a game in milliseconds, and its steps: one minute."""
GAME: dict[str, Any] = {
    "world": "overcooked",
    "mates": 1,
    "kind": "random",
    "steps": TICKS,
    "chosen": {"layout": "cramped_room", "clock": "tick", "tick_ms": TICK_MS, "ticks": TICKS},
}
"""The arguments of `books.table_laid`."""
MOST_LOST_MS = 500 + TICK_MS
"""The most milliseconds of steps that one death may take back: half a second, and the step that was due then
(docs/follow-a-step.md)."""


class GameWitness(TickTraveller):
    """A player of one game. As the real page does, it names the last step that it was shown when it
    reconnects."""

    def __init__(self, url: str, key: str, number: int) -> None:
        super().__init__([url], key, number)
        self.views: dict[int, tuple[Any, Any]] = {}
        """By step, the observation and the score that the page showed, without steps that were lost."""
        self.losses: list[tuple[int, int]] = []
        """For each death of a clock process: the number of lost steps, and the number that the page named."""
        self._source: list[Any] = []
        self._last = 0

    def address_query(self) -> str:
        """Return the last shown step, and the clock process that computed it."""
        return f"?seen={'.'.join(map(str, [*self._source, self._last]))}" if self._source else ""

    def showed(self, message: dict[str, Any]) -> None:
        """Record what the page shows now. If another clock process goes on from an earlier step, later steps
        are lost."""
        super().showed(message)
        if message["type"] == "whole":
            self._take_source(message["source"], message["lost_steps"])
            self._last = message["step"]
            self.views[self._last] = message["observation"], message["score"]
            return
        seen, score = self.views[self._last]
        kept = {name: value for name, value in seen.items() if name not in message["gone"]}
        self._last = message["step"]
        self.views[self._last] = kept | message["changed"], score | message["score"]

    def _take_source(self, source: list[Any], told: int) -> None:
        since = source[2]
        lost = max(0, self._last - since) if self._source and self._source != source else 0
        if lost or told:
            self.losses.append((lost, told))
            self.views = {step: view for step, view in self.views.items() if step <= since}
        self._source = source

    @property
    def faults(self) -> list[str]:
        """Return a line for each loss that was too long, or that the page did not report, and one if the
        game has not ended."""
        words = [
            f"a game in real time lost {lost} steps at once, and its page reported {told}"
            for lost, told in self.losses
            if lost != told or lost * TICK_MS > MOST_LOST_MS
        ]
        return words if self.over else [*words, f"a game in real time has not ended, after step {self.step}"]

    @property
    def shown(self) -> dict[str, Any]:
        """Return the record in the form that `checking.faults_in` reads."""
        views = [(step, *view) for step, view in sorted(self.views.items())]
        return {"key": self.key, "steps": sorted(self.views), "views": views, "taken": []}


def rounds(seconds: float) -> int:
    """Return how many games one after another take at least so many seconds."""
    return ceil(1000 * seconds / (TICKS * TICK_MS))


class GameSeries:
    """Players who play one game after another. `keys` has the keys of each player's seats."""

    def __init__(self, url: str, keys: Sequence[Sequence[str]]) -> None:
        self._url, self._keys = url, keys
        self._is_stopped = False
        self.games: list[GameWitness] = []
        """All games that were begun."""

    async def play(self) -> None:
        """Play all games, or until `stop` is called and the present games are over."""
        await asyncio.gather(*(self._play(player, keys) for player, keys in enumerate(self._keys)))

    async def _play(self, player: int, keys: Sequence[str]) -> None:
        for key in keys:
            if not self._is_stopped:
                self.games.append(game := GameWitness(self._url, key, player))
                await game.play()

    def stop(self) -> None:
        """Begin no further game."""
        self._is_stopped = True

    def is_well(self, now: float, seconds: float) -> bool:
        """Return whether no page has waited for a step for longer than `seconds`."""
        return not any(wait.seconds > seconds for game in self.games for wait in game.waits_until(now)[-1:])

    @property
    def told(self) -> str:
        """Describe the games in one line."""
        shown = sum(len(game.views) for game in self.games)
        losses = [lost for game in self.games for lost, _ in game.losses]
        longest = max(losses, default=0) * TICK_MS / 1000
        return (
            f"{len(self.games)} games in real time: {shown} steps were shown; {sum(losses)} more were lost "
            f"in {len(losses)} deaths, at most {longest:.1f} s at once"
        )

    @property
    def faults(self) -> list[str]:
        """Return a line for each fault that a page saw."""
        return [fault for game in self.games for fault in game.faults]
