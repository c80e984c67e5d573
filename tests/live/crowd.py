"""Run many players at once, and collect their steps and waiting times in a period."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.live.player import Player
from tests.live.stack import Running

AT_ONCE = 20
"""The number of connections that are opened at a time."""


@dataclass(frozen=True, slots=True)
class Played:
    """The measurements of one period."""

    seconds: float
    times: tuple[float, ...]
    """Milliseconds from each command to its new state."""
    used: dict[str, float] = field(default_factory=dict)
    """Processor seconds of the product, by process."""
    driver: float = 0.0
    """Processor seconds of the players."""
    reconnects: int = 0
    refusals: int = 0
    bytes_heard: int = 0

    @property
    def rate(self) -> float:
        """Return the number of steps per second."""
        return len(self.times) / self.seconds

    def quantile(self, share: float) -> float:
        """Return the milliseconds that this share of the steps did not exceed; infinite if nothing was
        played."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")

    @property
    def p50(self) -> float:
        """Return the median in milliseconds."""
        return self.quantile(0.5)

    @property
    def p99(self) -> float:
        """Return the milliseconds that one of a hundred steps exceeds."""
        return self.quantile(0.99)

    @property
    def milliseconds_a_step(self) -> float:
        """Return the processor time of all product processes per step, in milliseconds."""
        return 1000 * sum(self.used.values()) / len(self.times) if self.times else float("inf")


async def connect_all(players: Sequence[Player]) -> None:
    """Open the players' pages, a few at a time."""
    for start in range(0, len(players), AT_ONCE):
        await asyncio.gather(*(player.connect() for player in players[start : start + AT_ONCE]))
    while any(not player.phase for player in players):
        await asyncio.sleep(0.02)


def begin_all(players: Sequence[Player]) -> None:
    """Let all players begin. Players with a fixed pace begin at random moments of one period."""
    for player in players:
        player.begin(player.every * player.chance.random())


async def measure(stack: Running, players: Sequence[Player], *, warm: float, seconds: float) -> Played:
    """Let the players play for this number of seconds, after `warm` others, and return the results. They
    continue to play afterwards."""
    await asyncio.sleep(warm)
    heard, lost = sum(p.bytes_heard for p in players), sum(p.reconnects for p in players)
    refused = sum(p.refusals for p in players)
    used, own, began = stack.seconds(), time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    ended = time.perf_counter()
    return Played(
        seconds=ended - began,
        times=tuple(1000 * taken for player in players for at, taken in player.times if began < at <= ended),
        used={name: spent - used.get(name, 0.0) for name, spent in stack.seconds().items()},
        driver=time.process_time() - own,
        reconnects=sum(p.reconnects for p in players) - lost,
        refusals=sum(p.refusals for p in players) - refused,
        bytes_heard=sum(p.bytes_heard for p in players) - heard,
    )


async def play(stack: Running, players: Sequence[Player], *, warm: float, seconds: float) -> Played:
    """Connect the players, let them play, measure, and close their pages."""
    try:
        await connect_all(players)
        begin_all(players)
        return await measure(stack, players, warm=warm, seconds=seconds)
    finally:
        for player in players:
            player.stop()
        await asyncio.sleep(0.1)
