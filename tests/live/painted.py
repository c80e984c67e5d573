"""Measure how long a person waits from a click to the new state on the screen, while many others play:
`python -m tests.live.painted [--people 100] [--steps 100] [--mates 2 --kind planner]`.

A real browser takes part in a study as a person does, through consent and guide. The others are programs with
a command every three seconds. The time begins at the time stamp of the click. It ends when the browser has
drawn the first frame with the new step in the status bar. The browser and the app share this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

from playwright.async_api import Page, async_playwright

from brigade.one_line_parser import OneLineParser
from tests.browser import ARGUMENTS, find_chromium
from tests.journeys.person import Person, condition, load_study
from tests.live.books import Books
from tests.live.crowd import Played, begin_all, connect_all
from tests.live.options import number
from tests.live.player import Player
from tests.live.stack import Running, running
from tests.live.table import Figure, table

EVERY = 3.0
AIM = 60.0
WARM = 10
"""Steps that are not counted."""
PAUSE = (0.2, 0.8)
"""The person's thinking time in seconds."""
DRAWN = """
(() => {
  const times = window.paintedTimes = [];
  const drawn = (since) => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = () => times.push(performance.now() - since);
    after.port2.postMessage(null);
  });
"""
"""The beginning of a script: `drawn` records the milliseconds from a moment to the next frame. A message that
is posted to a channel arrives once the frame is drawn."""
WATCH = (
    DRAWN
    + """  let clicked = null, step = null;
  const shown = () => document.getElementById("bar")?.dataset.step;
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-submit]")) return;
    clicked = event.timeStamp;
    step = shown();
  }, true);
  new MutationObserver(() => {
    if (clicked === null || shown() === step || !shown()) return;
    drawn(clicked);
    clicked = null;
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-step"] });
})();
"""
)
"""A script that records the milliseconds from the click to the frame."""


def main(arguments: Sequence[str]) -> int:
    """Play, and print the measured times. Exit with 1 if the target is missed and `--strict` is given."""
    asked = parse(arguments)
    with running(asked.database) as stack, Books(stack.environment) as books:
        times = asyncio.run(measured(stack, books, asked))
    played = Played(1.0, tuple(times))
    beside = f"beside {asked.people} people"
    figures = [
        Figure(f"click to painted state, {beside}: p50", played.p50, "ms"),
        Figure(f"click to painted state, {beside}: p95", played.quantile(0.95), "ms", AIM),
        Figure("steps", len(times), ""),
    ]
    print(f"\n{table(figures)}", flush=True)
    return int(asked.strict and any(figure.missed for figure in figures))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.painted", description="Click to picture.")
    parser.add_argument("--people", type=number(0, 100_000), default=100)
    parser.add_argument("--steps", type=number(1, 100_000), default=100)
    parser.add_argument("--mates", type=number(0, 100), default=0)
    parser.add_argument("--kind", default="planner", help="of the mates of the person at the browser")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--strict", action="store_true", help="exit 1 where the aim is missed")
    return parser.parse_args(arguments)


async def measured(stack: Running, books: Books, asked: argparse.Namespace) -> list[float]:
    """Return the milliseconds of every step of the person at the browser."""
    keys = books.episodes(asked.people)
    players = [Player(stack.url, [key], every=EVERY, seed=number) for number, key in enumerate(keys)]
    await connect_all(players)
    begin_all(players)
    try:
        return await in_a_browser(stack, asked)
    finally:
        for player in players:
            player.stop()


async def in_a_browser(stack: Running, asked: argparse.Namespace) -> list[float]:
    """Take part in a study of one condition, and play this number of steps."""
    slug, kind = f"painted-{secrets.token_hex(3)}", asked.kind if asked.mates else "none"
    with tempfile.TemporaryDirectory() as folder:
        one = condition("one", kind, asked.mates)
        load_study(stack, Path(folder), slug, one, steps=asked.steps + WARM + 1)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = await browser.new_page(base_url=stack.url)
        await page.add_init_script(WATCH)
        person = Person(page)
        await person.agree(slug)
        await person.read_guide()
        times = await played_by(person, asked.steps)
        await browser.close()
    if person.problems:
        raise RuntimeError(f"the page complains: {person.problems}")
    return times


async def played_by(person: Person, steps: int) -> list[float]:
    """Play one step after another, with a pause before each."""
    chance = Random(7)
    for _ in range(steps + WARM):
        await asyncio.sleep(chance.uniform(*PAUSE))
        await person.play_step()
    await asyncio.sleep(0.2)
    return (await drawn_times(person.page))[WARM:]


async def drawn_times(page: Page) -> list[float]:
    """Return the times that the page has recorded."""
    found: list[float] = await page.evaluate("window.paintedTimes")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
