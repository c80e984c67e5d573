"""Compute how many people one processor core can serve, from the processor time of a step with and without
agents.

Only a few people play, slowly enough that no step waits for another. The processor time of the idle app is
subtracted. Open pages cost what idle pages were measured to cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from kitchen.contract.world import Json
from tests.live.crowd import begin_all, connect_all, measure
from tests.live.idle import share_of_a_core
from tests.live.player import Player
from tests.live.rows import Bench, told
from tests.live.table import Figure

PEOPLE = 60
EVERY = 3.0
"""Seconds between two commands of a person."""
LOAD = 0.7
"""The share of a core that may be used; the rest is a reserve for bursts."""
MATES = (1, 2, 3)
KINDS: Mapping[str, Mapping[str, Json]] = {"random": {}, "planner": {}, "dispatcher": {}}
"""The agents with their settings. The dispatcher uses the stand-in model, whose own time counts, too."""


async def capacity(bench: Bench) -> list[Figure]:
    """Measure how many people one core can serve: alone, and with one to three agents of each kind."""
    at_rest = await share_of_a_core(bench, 10 * bench.scale) / 100
    tables = [("", 0), *((kind, mates) for kind in KINDS for mates in MATES)]
    return [await people_a_core(bench, kind, mates, at_rest) for kind, mates in tables]


async def people_a_core(bench: Bench, kind: str, mates: int, at_rest: float) -> Figure:
    """Return how many people one core can serve, with HTML pages as in browsers."""
    what = f"people a core, {f'{mates} x {kind}' if mates else 'alone'}"
    keys = bench.keys(PEOPLE, mates=mates, kind=kind, settings=KINDS.get(kind, {}))
    players = [
        Player(bench.stack.url, own, as_html=True, every=EVERY, seed=number)
        for number, own in enumerate(keys)
    ]
    try:
        await connect_all(players)
        begin_all(players)
        played = await measure(bench.stack, players, warm=EVERY, seconds=max(2 * EVERY, 12 * bench.scale))
    finally:
        for player in players:
            player.stop()
        await asyncio.sleep(0.2)
    bench.say(f"{what}: {told(played)}")
    milliseconds = played.milliseconds_a_step - 1000 * at_rest * played.seconds / max(1, len(played.times))
    people = LOAD * 1000 / milliseconds * EVERY
    return Figure(what, people, "people", note=f"{milliseconds:.2f} ms of processor a step")
