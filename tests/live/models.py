"""Measure people who play with language models that take three seconds, and with models that never answer.
Two local servers imitate the models, each in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from brigade.paths import base_dir
from kitchen.infra.os_processes import parent_death_hook
from tests.live.crowd import Played, begin_all, connect_all, measure
from tests.live.player import Player
from tests.live.rows import Bench, told
from tests.live.table import Figure

SECONDS = 3.0
"""The time that the slow model takes, in seconds."""
NEVER = 100_000.0
PEOPLE, HANGING, OTHERS = 100, 20, 10
EVERY = 6.0
"""Seconds between two commands of somebody beside the slow model."""
P95 = 1000 * (SECONDS + 0.5)
THINKING = 0.3
"""The minimum time in seconds that planners think, because a worker runs their steps."""


@contextmanager
def models_served(wanted: bool) -> Iterator[dict[str, str]]:
    """Start both model servers, and return the environment variables with their addresses. Empty unless they
    are `wanted`."""
    with ExitStack() as stack:
        if not wanted:
            yield {}
            return
        slow, hanging = (stack.enter_context(_serving(seconds)) for seconds in (SECONDS, NEVER))
        yield {
            "OPENAI_BASE_URL": f"{slow}/v1",
            "ANTHROPIC_BASE_URL": hanging,
            "ANTHROPIC_API_KEY": "not-a-key",
            "NO_PROXY": "127.0.0.1",
        }


@contextmanager
def _serving(seconds: float) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.stand_in_server", "--delay", str(seconds)],
        cwd=base_dir(),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=parent_death_hook(os.getpid()),
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


async def models(bench: Bench) -> list[Figure]:
    """Measure a hundred people with a slow model. Then measure people with planners, alone and beside twenty
    calls that hang."""
    keys = bench.keys(PEOPLE, mates=2, kind="dispatcher", settings={"model": "openai-compatible:slow"})
    what = f"{PEOPLE} people beside a model of {SECONDS:g} s"
    slow = await bench.played(what, keys, html=False, every=EVERY, warm=8, seconds=24)
    figures = [
        Figure(f"{what}: p50", slow.p50, "ms"),
        Figure(f"{what}: p95", slow.quantile(0.95), "ms", P95),
    ]
    table: dict[str, Any] = {"mates": 2, "kind": "planner", "thinking_seconds": THINKING}
    alone, beside = bench.keys(OTHERS, **table), bench.keys(OTHERS, **table)
    what = f"{OTHERS} people beside planners that take {THINKING:g} s"
    before = await bench.played(what, alone, html=False, every=1.0, warm=2, seconds=10)
    after = await _beside_hanging(bench, beside)
    return [
        *figures,
        Figure(f"{what}: p50", before.p50, "ms"),
        Figure(f"{what}, {HANGING} calls hang: p50", after.p50, "ms", before.p50 + 50),
    ]


async def _beside_hanging(bench: Bench, keys: list[list[str]]) -> Played:
    """Measure the players with these keys while others wait for a model that never answers."""
    settings = {"model": "anthropic:claude-sonnet-5-5"}
    waiting = [
        Player(bench.stack.url, own, every=1.0, seed=n)
        for n, own in enumerate(bench.keys(HANGING, mates=2, kind="dispatcher", settings=settings))
    ]
    others = [Player(bench.stack.url, own, every=1.0, seed=n) for n, own in enumerate(keys)]
    try:
        await connect_all([*waiting, *others])
        begin_all(waiting)
        begin_all(others)
        played = await measure(bench.stack, others, warm=max(1.0, 3 * bench.scale), seconds=10 * bench.scale)
    finally:
        for player in [*waiting, *others]:
            player.stop()
    bench.say(f"beside {HANGING} calls that hang: {told(played)}")
    return played
