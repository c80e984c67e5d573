"""Kill processes of a running app with SIGKILL: one, two at once, or several shortly after one another."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from tests.live.stack import Running, parent_of

VICTIMS: Mapping[str, tuple[str, ...]] = {
    "web": ("web",),
    "staff": ("staff",),
    "worker": ("worker",),
    "broker": ("valkey", "redis"),
    "database": ("postgres",),
    "planner": ("planner",),
    "ticker": ("ticker",),
    "fork-server": ("fork-server",),
    "valkey": ("valkey", "redis"),
}
"""The kinds of process that can be killed, with their names in `Running.processes`."""
USUAL = ("web", "staff", "worker", "broker", "database", "fork-server", "ticker")
SHARES = {"single": 0.6, "pair": 0.2, "dense": 0.2}
"""The shares of single kills, pairs and bursts among the kills."""
BURST = 5
DENSE = (0.2, 1.0)
"""Seconds between two kills of a burst."""
BETWEEN = (0.5, 1.5)
"""The range of the pause between two kills, as multiples of the mean."""
LONGEST = 3.0
"""The factor by which all kills together may take longer than planned."""
CALM = 60.0
"""Seconds that a kill waits for the app to recover from the last one."""


@dataclass(slots=True)
class Blow:
    """One kill, one pair of kills, or one burst of kills."""

    kind: str
    at: float = 0.0
    """The time of the kill, in seconds of the monotonic clock."""
    killed: list[str] = field(default_factory=list)


def planned(kills: int, chance: Random) -> list[Blow]:
    """Return this number of kills in random order. A burst counts as several kills, a pair as one."""
    bursts = round(kills * SHARES["dense"] / BURST)
    pairs = min(round(kills * SHARES["pair"]), kills - bursts * BURST)
    singles = kills - pairs - bursts * BURST
    kinds = ["single"] * singles + ["pair"] * pairs + ["dense"] * bursts
    chance.shuffle(kinds)
    return [Blow(kind) for kind in kinds]


async def strike(
    stack: Running,
    blows: Sequence[Blow],
    victims: Sequence[str],
    chance: Random,
    mean: float,
    calm: Callable[[], bool],
    is_over: Callable[[], bool] = lambda: False,
) -> list[Blow]:
    """Kill processes one after another, `mean` seconds apart. Each kill waits until the app has recovered
    from the last (`calm`). Return the kills, fewer if play is over or if all together take too long."""
    end = time.monotonic() + LONGEST * mean * len(blows) + CALM
    for number, blow in enumerate(blows):
        await asyncio.sleep(mean * chance.uniform(*BETWEEN))
        if not await got_over(calm):
            print(
                f"play has not recovered {CALM:g} s after {' and '.join(blows[number - 1].killed)}",
                flush=True,
            )
        if is_over() or time.monotonic() > end:
            return list(blows[:number])
        blow.at = time.monotonic()
        for number in range({"single": 1, "pair": 2, "dense": BURST}[blow.kind]):
            if blow.kind == "dense" and number:
                await asyncio.sleep(chance.uniform(*DENSE))
            blow.killed += kill_one(stack, victims, chance)
    return list(blows)


async def got_over(calm: Callable[[], bool]) -> bool:
    """Wait until the app has recovered, up to a limit. Return whether it has."""
    end = time.monotonic() + CALM
    while not (is_calm := calm()) and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return is_calm


def kill_one(stack: Running, victims: Sequence[str], chance: Random) -> list[str]:
    """Choose a kind of process at random, kill one process of this kind, and return the kind."""
    there = living(stack, victims)
    if not there:
        return []
    name = chance.choice(sorted(there))
    with suppress(ProcessLookupError):
        os.kill(chance.choice(there[name]), signal.SIGKILL)
        return [name]
    return []


def living(stack: Running, victims: Sequence[str]) -> dict[str, list[int]]:
    """Return the running processes by kind, for the kinds that exist."""
    processes = stack.processes()
    found = {
        victim: [pid for pid, name in processes.items() if name in VICTIMS[victim]] for victim in victims
    }
    if servers := found.get("database"):
        found["database"] = _weighed(servers)
    return {victim: pids for victim, pids in found.items() if pids}


def _weighed(pids: Sequence[int]) -> list[int]:
    """Choose a database server's first process as often as all its others together. If another process dies,
    the server restarts; if the first dies, it is gone."""
    first = [pid for pid in pids if parent_of(pid) not in pids]
    return [*pids, *first * (len(pids) - 2)]
