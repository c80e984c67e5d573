"""Measure how play under a clock feels to a person in a browser, over lines with injected round trips:
`python -m tests.live.feel [--seconds 30] [--trips 0,75,150,300]`. `make bench ticks` prints the rows, too.

Each packet's delay varies by 20 %. Two of 100 packets are lost: a websocket then stands still until the
packet has been sent again. A program presses keys in the browser about twice a second, and holds some of
them. It plays with a co-player that walks at random. The browser and the app share this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from playwright.async_api import Browser, async_playwright
from playwright.async_api import Page as BrowserPage

from brigade.one_line_parser import OneLineParser
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.grids import grid
from tests.journeys.person import Person
from tests.journeys.slow_line import SlowLine
from tests.live.options import number
from tests.live.stack import Running, running
from tests.live.table import Figure, table

TICK = 167
LONGEST = 2000
"""The number of ticks of an episode."""
TRIPS = (0, 75, 150, 300)
"""Injected round trips in milliseconds."""
JITTER, LOSS = 0.2, 0.02
SHORT, HELD = (0.05, 0.12), (0.3, 0.7)
"""Seconds for which a key is down. One in `HOLDS` is held."""
HOLDS = 4
PAUSE = (0.25, 0.5)
"""Seconds between two keys."""
EVEN = 0.25
"""The speed of a walking cook may differ by this share from one cell a tick to count as even."""
PLAYING = "() => !document.getElementById('tick-said').textContent.trim()"
SCRIPT = Path(__file__).with_suffix(".js")


def main(arguments: Sequence[str]) -> int:
    """Play over each line, and print the measured values."""
    parser = OneLineParser(prog="python -m tests.live.feel", description="How a clock feels.")
    parser.add_argument("--seconds", type=number(1.0, 300.0), default=30.0, help="of each line")
    parser.add_argument("--trips", default=",".join(map(str, TRIPS)), help="milliseconds, with commas")
    asked: argparse.Namespace = parser.parse_args(arguments)
    trips = [int(trip) for trip in asked.trips.split(",")]
    with running("sqlite") as stack:
        figures = asyncio.run(felt(stack, asked.seconds, trips))
    print(f"\n{table(figures)}", flush=True)
    return 0


async def felt(stack: Running, seconds: float, trips: Sequence[int] = TRIPS) -> list[Figure]:
    """Return the values of a person who plays this long over each line."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        found = [figure for trip in trips for figure in await over_line(stack, browser, trip, seconds)]
        await browser.close()
    return found


async def over_line(stack: Running, browser: Browser, trip: int, seconds: float) -> list[Figure]:
    """Play over a line with this round trip in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f'ticks = {LONGEST}, clock = "tick", tick_ms = {TICK}'
        slug = await asyncio.to_thread(grid, stack, Path(folder), settings, "random")
    async with SlowLine(stack.url, round_trip=trip / 1000, loss=LOSS, jitter=JITTER) as line:
        context = await browser.new_context(base_url=line.url, viewport={"width": 1440, "height": 900})
        page = await context.new_page()
        await page.add_init_script(path=SCRIPT)
        person = Person(page)
        await person.agree(slug)
        await person.read_guide()
        await page.wait_for_function(PLAYING)
        told, minutes = await played(page, seconds)
        await context.close()
    if person.problems:
        raise RuntimeError(f"the page complains: {person.problems}")
    return figures_of(f"{trip} ms", told, minutes)


async def played(page: BrowserPage, seconds: float) -> tuple[dict[str, Any], float]:
    """Press keys for this long. Return what the page has noted, and the minutes that it took."""
    chance, loop = Random(7), asyncio.get_running_loop()
    began = loop.time()
    presses = 0
    while loop.time() - began < seconds:
        presses += 1
        key = await page.evaluate("chance => window.nextKey(chance)", chance.random())
        if key:
            await page.keyboard.down(key)
            await asyncio.sleep(chance.uniform(*(SHORT if presses % HOLDS or key == " " else HELD)))
            await page.keyboard.up(key)
        await asyncio.sleep(chance.uniform(*PAUSE))
    await asyncio.sleep(1)
    told = await page.evaluate(
        "() => ({ ...window.feel, usual: document.querySelector('[data-play]').roundTrip.usual() })"
    )
    return told, (loop.time() - began) / 60


def at(values: list[float], share: float) -> float:
    """Return the value that this share of the values does not exceed; infinite if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def figures_of(line: str, told: dict[str, Any], minutes: float) -> list[Figure]:
    """Return the rows of one line."""
    even = [abs(speed - 1) <= EVEN for _, speed in told["other"]]
    steps = {name: [px for px, _ in told[name]] for name in ("own", "other")}
    late = f"{len(told['late'])} more were not known early"
    return [
        Figure(f"{line}: own move painted, p50", at(told["moves"], 0.5), "ms"),
        Figure(f"{line}: own move painted, p95", at(told["moves"], 0.95), "ms", 50.0),
        Figure(f"{line}: own interact painted, p50", at(told["interacts"], 0.5), "ms"),
        Figure(f"{line}: own interact painted, p95", at(told["interacts"], 0.95), "ms", 50.0, note=late),
        Figure(f"{line}: own cook put right", told["corrections"] / minutes, "a minute"),
        Figure(f"{line}: of these, because both cooks met", told["met"] / minutes, "a minute"),
        Figure(f"{line}: own hands put right", told["hands"] / minutes, "a minute"),
        Figure(f"{line}: largest jump of one's own cook in a frame", max(steps["own"]), "px"),
        Figure(f"{line}: largest jump of the other cook in a frame", max(steps["other"]), "px"),
        Figure(
            f"{line}: frames in which the other walks evenly", 100 * sum(even) / len(even), "%", more=True
        ),
        Figure(f"{line}: the other is shown later than its tick, p95", at(told["lags"], 0.95), "ms"),
        Figure(f"{line}: round trip that the page measured", told["usual"], "ms"),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
