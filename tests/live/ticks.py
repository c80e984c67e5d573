"""Measure real-time episodes over the product's websockets, with a person and an agent in each: `python -m
tests.live.ticks [--database postgres] [--episodes 40] [--tick 167] [--seconds 20] [--kind random]
[--line-seconds 30] [--strict]`.

The product runs as with `make run`, in a folder of its own. All players are programs in one more process,
which press keys at random moments. Two things are measured: how far the intervals between two ticks (steps)
are from the set interval, and the time from a key to the tick that used it. Then a clock process, or its
program with all processes, is killed three times. The program measures how long pages stood still, and how
many shown ticks were lost. At the end, every log is replayed, and its hash chain and seal are checked. Last,
a program plays in a browser over slow lines (`tests.live.feel`), `--line-seconds` over each; with 0 it does
not. Exit code 1: one of these checks failed or, with `--strict`, a target was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from brigade.one_line_parser import OneLineParser
from tests.live.books import Books
from tests.live.feel import felt
from tests.live.line import Line, dial
from tests.live.options import number
from tests.live.stack import Running, running
from tests.live.table import Figure, table

KEYS = ("north", "south", "east", "west", "interact")
EVERY = 0.5
"""Seconds between two keys of one page, on average."""
WARM = 5.0
"""Seconds until all players play."""
KILLS = 3
BETWEEN = 4.0
"""Seconds between two kills."""
JUSTIFIED = 0.5
"""Seconds of ticks that a kill may lose."""


class Page:
    """The page of one seat, which presses keys."""

    def __init__(self, key: str, chance: Random) -> None:
        self.key, self.chance = key, chance
        self.clock = asyncio.get_running_loop().time
        self.line: Line | None = None
        self.step = self.number = self.heard_number = 0
        self.at = 0.0
        self.gaps: list[float] = []
        self.answers: list[float] = []
        self.pressed: dict[int, float] = {}
        self.back = 0
        """The largest number of steps by which the page was set back."""
        self.over = False

    async def play(self, url: str) -> None:
        """Connect, and press keys until the episode is over."""
        await self.open(url, lambda code: None)
        while not self.over:
            await asyncio.sleep(self.chance.expovariate(1 / EVERY))
            self.press()

    async def open(self, url: str, lost: Callable[[int], None], connect_seconds: float | None = None) -> None:
        """Connect to the app at this address; see `dial`. Raises OSError."""
        address = f"{url.replace('http', 'ws', 1)}/ws/ticks/{self.key}/{self.address_query()}"
        self.line = await dial(address, [], self.heard, lost, connect_seconds=connect_seconds)

    def address_query(self) -> str:
        """Return the query of the address, with `?`, or an empty string."""
        return ""

    def press(self) -> None:
        """Press a key and release it."""
        assert self.line is not None
        command = self.chance.choice(KEYS)
        for down in (True, False):
            self.number += 1
            self.pressed[self.number] = self.clock()
            said = {"type": "key", "command": [command], "down": down, "number": self.number}
            self.line.say(json.dumps(said).encode())

    def heard(self, text: bytes) -> None:
        """Handle one message."""
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "over":
            self.over = True
        elif message["type"] in ("tick", "whole"):
            self.showed(message)

    def showed(self, message: dict[str, Any]) -> None:
        """Handle a tick, or a whole picture."""
        now = self.clock()
        self.back = max(self.back, self.step - message["step"])
        self.step = message["step"]
        if message["type"] == "tick":
            self.gaps += [now - self.at] if self.at else []
            self.at = now
            self._answered(message["key"], now)

    def _answered(self, key: int, now: float) -> None:
        """Record the tick in which this key took effect first."""
        if key > self.heard_number and key in self.pressed:
            self.heard_number = key
            self.answers.append(now - self.pressed[key])

    def begin(self) -> None:
        """Start the measurement."""
        self.gaps, self.answers, self.back = [], [], 0


def main(arguments: Sequence[str]) -> int:
    """Measure and print the results. Return the exit code."""
    asked = parse(arguments)
    with running(asked.database) as stack, Books(stack.environment) as books:
        print(f"{stack.told}; {os.cpu_count()} cores; {asked.episodes} episodes, {asked.tick} ms", flush=True)
        figures, faults = asyncio.run(measured(stack, books, asked))
        figures += asyncio.run(felt(stack, asked.line_seconds)) if asked.line_seconds else []
    print(f"\n{table(figures)}\n", flush=True)
    print("\n".join(faults) or "every log holds, and leads to its states again", flush=True)
    return int(bool(faults) or (asked.strict and any(figure.missed for figure in figures)))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.ticks", description="Play in real time.")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--episodes", type=number(1, 1000), default=40)
    parser.add_argument("--tick", type=number(100, 2000), default=167, help="milliseconds")
    parser.add_argument("--seconds", type=number(1.0, 3600.0), default=20.0, help="that are measured")
    parser.add_argument("--kind", default="random", help="of the co-players")
    parser.add_argument("--line-seconds", type=number(0.0, 300.0), default=30.0, help="of each slow line")
    parser.add_argument("--strict", action="store_true", help="exit 1 where an aim is missed")
    return parser.parse_args(arguments)


async def measured(stack: Running, books: Books, asked: argparse.Namespace) -> tuple[list[Figure], list[str]]:
    """Play, kill clock processes, and check the result."""
    seconds = WARM + asked.seconds + (KILLS + 1) * BETWEEN
    steps = min(2000, round(seconds * 1000 / asked.tick))
    chosen = {"layout": "cramped_room", "clock": "tick", "tick_ms": asked.tick, "ticks": steps}
    keys = books.episodes(
        asked.episodes, world="overcooked", mates=1, kind=asked.kind, steps=steps, chosen=chosen
    )
    pages = [Page(key, Random(number)) for number, key in enumerate(keys)]
    playing = [asyncio.create_task(page.play(stack.url)) for page in pages]
    await asyncio.sleep(WARM)
    figures = await _calm(stack, pages, asked)
    figures += [_late(books, keys)]
    figures += await _killed(stack, pages, asked)
    await asyncio.wait_for(asyncio.gather(*playing), seconds)
    told = [{"key": page.key, "steps": [], "views": [], "taken": []} for page in pages]
    return figures, books.ask("faults", shown=told)


async def _calm(stack: Running, pages: list[Page], asked: argparse.Namespace) -> list[Figure]:
    for page in pages:
        page.begin()
    before, began = stack.seconds(), asyncio.get_running_loop().time()
    await asyncio.sleep(asked.seconds)
    took = asyncio.get_running_loop().time() - began
    used = {name: (spent - before.get(name, 0.0)) / took for name, spent in stack.seconds().items()}
    print("cores: " + ", ".join(f"{name} {share:.2f}" for name, share in used.items()), flush=True)
    ticks = sum(len(page.gaps) for page in pages) / took
    off = [abs(1000 * gap - asked.tick) for page in pages for gap in page.gaps]
    answers = [1000 * each for page in pages for each in page.answers]
    rate = ticks / len(pages)
    return [
        Figure("ticks a second, of each page", rate, "", 0.98 * 1000 / asked.tick, more=True),
        Figure("time between two ticks, off the tick: p50", at(off, 0.5), "ms", 5.0),
        Figure("time between two ticks, off the tick: p99", at(off, 0.99), "ms", 40.0),
        Figure("from a key to its tick: p50", at(answers, 0.5), "ms"),
        Figure("from a key to its tick: p95", at(answers, 0.95), "ms", asked.tick + 40.0),
        Figure("processor time of a tick", 1000 * sum(used.values()) / ticks, "ms"),
        Figure("of that, what takes the ticks", 1000 * used["ticker"] / ticks, "ms"),
        Figure("memory of what takes the ticks", stack.memory()["ticker"] / 2**20, "MB"),
    ]


def _late(books: Books, keys: list[str]) -> Figure:
    told = books.ask("ticked", keys=keys)
    return Figure("ticks that were late", told["late"], "", note=f"{told['lost_ms']} ms lost")


async def _killed(stack: Running, pages: list[Page], asked: argparse.Namespace) -> list[Figure]:
    for page in pages:
        page.begin()
    chance = Random(len(pages))
    for _ in range(KILLS):
        os.kill(chance.choice(clocks(stack)), signal.SIGKILL)
        await asyncio.sleep(BETWEEN)
    longest = max(gap for page in pages for gap in page.gaps)
    back = max(page.back for page in pages) * asked.tick
    print(f"steps back: {sorted(page.back for page in pages)}", flush=True)
    return [
        Figure(f"{KILLS} kills: the longest stand still", 1000 * longest, "ms", 2000.0),
        Figure(f"{KILLS} kills: the most that was gone", back, "ms", max(1000 * JUSTIFIED, asked.tick)),
    ]


def clocks(stack: Running) -> list[int]:
    """Return the processes that compute ticks, and the programs from which they were forked (they end
    together)."""
    return [pid for pid, name in stack.processes().items() if name == "ticker"]


def at(values: list[float], share: float) -> float:
    """Return the value that this share of the values does not exceed; infinite if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
