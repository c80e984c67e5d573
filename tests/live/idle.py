"""Measure the costs of open but idle pages: processor time, memory, and the time to connect."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.live.crowd import connect_all
from tests.live.player import ASKED, PING, Player
from tests.live.rows import Bench
from tests.live.table import Figure

PAGES = 1000
FEW = 250
"""The number of pages with `--quick`."""
SHARE = 2.0
"""The maximum percentage of one core that a thousand pages may use."""


async def idle(bench: Bench) -> list[Figure]:
    """Measure a thousand pages that are silent at first, and then send pings as browsers do."""
    count = PAGES if bench.scale == 1 else FEW
    without_episodes = await share_of_a_core(bench, 20 * bench.scale)
    players = [Player(bench.stack.url, own) for own in bench.keys(count)]
    await asyncio.sleep(2)
    at_rest = await share_of_a_core(bench, 20 * bench.scale)
    used, memory = spent(bench), sum(bench.stack.memory().values())
    try:
        await connect_all(players)
        connecting = spent(bench) - used
        await asyncio.sleep(1)
        silent = await share_of_a_core(bench, 20 * bench.scale) - at_rest
        grown = sum(bench.stack.memory().values()) - memory
        asking = asyncio.create_task(ask(players))
        await asyncio.sleep(PING)
        asked = await share_of_a_core(bench, 20 * bench.scale) - at_rest
        asking.cancel()
    finally:
        for player in players:
            player.stop()
    thousand = PAGES / count
    bench.say(
        f"idle, {count} pages: the stack alone takes {at_rest:.1f} % of a core, they take {silent:.1f} %"
    )
    return [
        Figure(
            "1,000 open episodes without pages: processor",
            (at_rest - without_episodes) * thousand,
            "% of a core",
        ),
        Figure("1,000 silent pages: processor", silent * thousand, "% of a core", SHARE),
        Figure(
            "1,000 pages that ask for a sign of life every 4 s: processor", asked * thousand, "% of a core"
        ),
        Figure("an open page: memory", grown / count / 1024, "kB"),
        Figure("connecting a page: processor", 1000 * connecting / count, "ms"),
    ]


def spent(bench: Bench) -> float:
    """Return the processor seconds of the product so far."""
    return sum(bench.stack.seconds().values())


async def share_of_a_core(bench: Bench, seconds: float) -> float:
    """Return the percentage of one core that the product uses during this number of seconds."""
    before = spent(bench)
    await asyncio.sleep(seconds)
    return 100 * (spent(bench) - before) / seconds


async def ask(players: Sequence[Player]) -> None:
    """Let each page send a ping in turn, without end."""
    while True:
        for player in players:
            if player.line:
                player.line.say(ASKED)
            await asyncio.sleep(PING / len(players))
