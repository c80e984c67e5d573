"""Measure how long a person in a real-time world waits from a key to the move on the screen, while many
others play: `python -m tests.live.pressed [--episodes 39] [--keys 150] [--database postgres]`.

A real browser takes part in a study as a person does, through consent and guide. The others are programs
(`tests.live.ticks`). Each key turns the cook in another direction, so that every key is visible. The time
begins at the time stamp of the key. It ends when the browser has drawn the first frame with the cook turned.
The browser and the app share this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

from playwright.async_api import Page as BrowserPage
from playwright.async_api import async_playwright

from brigade.one_line_parser import OneLineParser
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.grids import grid
from tests.journeys.person import Person
from tests.live.books import Books
from tests.live.options import number
from tests.live.painted import DRAWN, drawn_times
from tests.live.stack import Running, running
from tests.live.table import Figure, table
from tests.live.ticks import Page, at

TICK = 167
LONGEST = 2000
"""The number of ticks of an episode."""
PAUSE = (0.3, 0.7)
"""Seconds between two keys."""
TURNS = ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp")
"""The keys that turn a cook, who looks north at first."""
WARM = 8
"""Keys that are not counted."""
PLAYING = "() => !document.getElementById('tick-said').textContent.trim()"
WATCH = (
    DRAWN
    + """  let pressed = null, way = null;
  const own = () => document.querySelector("[data-moves] .actor:has(.ring-you) .nose");
  const nose = () => own()?.getAttribute("transform");
  document.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow")) return;
    pressed = event.timeStamp;
    way = nose();
  }, true);
  new MutationObserver(() => {
    if (pressed === null || nose() === way || !nose()) return;
    drawn(pressed);
    pressed = null;
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["transform"] });
})();
"""
)
"""A script that records the milliseconds from the key to the frame."""


def main(arguments: Sequence[str]) -> int:
    """Play, and print the measured times. Exit with 1 if the target is missed and `--strict` is given."""
    asked = parse(arguments)
    with running(asked.database) as stack, Books(stack.environment) as books:
        times = asyncio.run(measured(stack, books, asked))
    beside = f"beside {asked.episodes} games"
    figures = [
        Figure(f"key to painted move, {beside}: p50", at(times, 0.5), "ms"),
        Figure(f"key to painted move, {beside}: p95", at(times, 0.95), "ms", TICK + 40.0),
        Figure("keys of which the move was seen", len(times), "", asked.keys, more=True),
    ]
    print(f"\n{table(figures)}", flush=True)
    return int(asked.strict and any(figure.missed for figure in figures))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.pressed", description="Key to picture.")
    parser.add_argument("--episodes", type=number(0, 1000), default=39)
    parser.add_argument("--keys", type=number(1, 400), default=150)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--strict", action="store_true", help="exit 1 where the aim is missed")
    return parser.parse_args(arguments)


async def measured(stack: Running, books: Books, asked: argparse.Namespace) -> list[float]:
    """Return the milliseconds of every key of the person at the browser."""
    chosen = {"layout": "cramped_room", "clock": "tick", "tick_ms": TICK, "ticks": LONGEST}
    keys = books.episodes(asked.episodes, world="overcooked", mates=1, kind="random", chosen=chosen)
    others = [Page(key, Random(which)) for which, key in enumerate(keys)]
    playing = [asyncio.create_task(one.play(stack.url)) for one in others]
    try:
        return await in_a_browser(stack, asked.keys)
    finally:
        for one in playing:
            one.cancel()


async def in_a_browser(stack: Running, keys: int) -> list[float]:
    """Take part in a study with one grid, and turn the cook this number of times."""
    with tempfile.TemporaryDirectory() as folder:
        settings = f'ticks = {LONGEST}, clock = "tick", tick_ms = {TICK}'
        slug = await asyncio.to_thread(grid, stack, Path(folder), settings)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = await browser.new_page(base_url=stack.url)
        await page.add_init_script(WATCH)
        person = Person(page)
        await person.agree(slug)
        await person.read_guide()
        await page.wait_for_function(PLAYING)
        times = await turned(page, keys)
        await browser.close()
    if person.problems:
        raise RuntimeError(f"the page complains: {person.problems}")
    return times


async def turned(page: BrowserPage, keys: int) -> list[float]:
    """Turn the cook once after another, with a pause between."""
    chance = Random(7)
    for press in range(keys + WARM):
        await asyncio.sleep(chance.uniform(*PAUSE))
        await page.keyboard.press(TURNS[press % len(TURNS)])
    await asyncio.sleep(1)
    return (await drawn_times(page))[WARM:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
