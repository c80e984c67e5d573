"""Let programs play while all web processes and workers are replaced one after another, as by `make restart`:
`python -m tests.live.rolling [--people 20] [--every 1.0] [--times 3] [--database postgres]`.

The program prints how long players waited for a step, at rest and during the restart, and how long the
restart took. Afterwards nothing may be missing (`tests.live.kills` lists the checks). No command may be
refused. No connection may break without a request to reconnect. Otherwise the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brigade.one_line_parser import OneLineParser
from kitchen.infra.connection_drain import RESTART_CLOSE_CODE
from tests.live.books import Books
from tests.live.kills import take_seats, to_the_end
from tests.live.options import number
from tests.live.stack import Running, running
from tests.live.witness import Witness

TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"mates": 2, "kind": "random"},
    {"mates": 2, "kind": "planner"},
    {"people": 2, "mates": 1, "kind": "planner"},
)
"""The kinds of episode, in turn."""
STEPS = 400
"""The number of steps of an episode, which is never reached during the measurement."""
REST = 10.0
"""Seconds of play before the first restart, for comparison."""
PATIENCE = 240.0
"""Seconds that a restart, or the end, may take."""


class Guest(Witness):
    """A player that records the delay of every step, and how connections ended."""

    def __init__(self, url: str, key: str, **more: Any) -> None:
        super().__init__(url, key, **more)
        self.ends: Counter[int] = Counter()
        self.shown_at = 0.0
        self.waits: list[tuple[float, float]] = []
        """For every played step: when its new state arrived, and seconds since it was due."""

    def _see(self, now: float) -> None:
        if self.waits_for is not None and self.step >= self.waits_for:
            self.waits.append((now, now - max(self.due, self.shown_at)))
            self.shown_at = now
        super()._see(now)

    def lost(self, code: int) -> None:
        """Count the end of a connection. A player without a key has played to the end and closed it
        itself."""
        self.ends[code] += self.line is not None and not self.stopped and bool(self.keys)
        super().lost(code)


def main(arguments: Sequence[str]) -> int:
    """Play, replace the processes, and check the result. Return the exit code."""
    asked = parse(arguments)
    with running(asked.database) as stack, Books(stack.environment) as books:
        print(f"{stack.told}; {asked.people} people, a command every {asked.every:g} s", flush=True)
        faults = asyncio.run(played(stack, books, asked))
    print("\n".join(faults) or "nothing is missing", flush=True)
    return int(bool(faults))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options. Raises SystemExit for a wrong option."""
    parser = OneLineParser(prog="python -m tests.live.rolling")
    parser.add_argument("--people", type=number(1, 100_000), default=20)
    parser.add_argument(
        "--every", type=number(0.01, 600), default=1.0, help="seconds between two commands of a person"
    )
    parser.add_argument("--times", type=number(1, 10_000), default=3, help="how often all is exchanged")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    return parser.parse_args(arguments)


async def played(stack: Running, books: Books, asked: argparse.Namespace) -> list[str]:
    """Return a line for everything that is missing afterwards."""
    people = [
        Guest(stack.url, key, as_html=number % 3 == 2, every=asked.every, seed=number)
        for number, key in enumerate(seats(books, asked.people))
    ]
    await take_seats(people)
    await asyncio.sleep(REST)
    told("at rest", people, time.perf_counter() - REST)
    for turn in range(1, asked.times + 1):
        began = time.perf_counter()
        if not await exchanged(stack, turn):
            return [f"exchange {turn} had not ended after {PATIENCE:g} s"]
        told(f"exchange {turn} of {asked.times}, {time.perf_counter() - began:.1f} s", people, began)
    ended = await to_the_end(people, PATIENCE)
    missing = await asyncio.to_thread(books.ask, "faults", shown=[person.shown for person in people])
    return [*missing, *unpleasant(people, ended)]


def seats(books: Books, people: int) -> list[str]:
    """Return the keys of this number of people's seats, in episodes of all kinds."""
    keys: list[str] = []
    while len(keys) < people:
        table = TABLES[len(keys) % len(TABLES)]
        keys += [key for one in books.ask("episodes", count=1, steps=STEPS, **table) for key in one]
    return keys


async def exchanged(stack: Running, number: int) -> bool:
    """Request the replacement of all processes, and wait until it is done. Return False if this takes too
    long."""
    log, end = Path(stack.environment["BRIGADE_VAR"]) / "runner.log", time.monotonic() + PATIENCE
    os.kill(stack.pid, signal.SIGUSR1)
    while log.read_text().count("all restarted after") < number:
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.1)
    return True


def told(when: str, people: Sequence[Guest], began: float) -> None:
    """Print in one line how long people have waited since `began`: for a step, and each person's longest
    wait."""
    waits = {person.key: [1000 * wait for at, wait in person.waits if at >= began] for person in people}
    steps = sorted(wait for each in waits.values() for wait in each)
    longest = sorted(max(each, default=0) for each in waits.values())
    ends = sum((person.ends for person in people), Counter[int]())
    print(
        f"{when}: {len(steps)} steps, p50 {quantile(steps, 0.5):.0f}, p99 {quantile(steps, 0.99):.0f} ms; "
        f"a person's longest stall p50 {quantile(longest, 0.5):.0f}, max {quantile(longest, 1):.0f} ms; "
        f"connections ended so far: {dict(ends) or 'none'}",
        flush=True,
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value that this share of the values does not exceed; infinite if there are none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def unpleasant(people: Sequence[Guest], ended: bool) -> list[str]:
    """Return a line for everything that people should not have met, such as a refused command."""
    refused = sum(person.refusals for person in people)
    ends = sum((person.ends for person in people), Counter[int]())
    broken = {code: n for code, n in ends.items() if code != RESTART_CLOSE_CODE}
    return [
        *(["not all came to the end"] if not ended else []),
        *([f"{refused} commands were refused"] if refused else []),
        *([f"connections broke off: {broken}"] if broken else []),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
