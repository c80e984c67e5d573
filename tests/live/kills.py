"""`python -m tests.live.kills [--kills 60] [--episodes 8] [--database postgres] [--victims web,worker]`:
plays over websockets while processes of the running product are killed with SIGKILL at random moments.

Then nothing may be missing: every step that a page showed is stored and looks as it was shown, every stored
state comes out again when the log is played anew from its seed, no step ran twice, every episode came to its
end, and no process was left behind. Exit 1 where that is not so.
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
from random import Random
from typing import Any

from tests.live.books import Books
from tests.live.crowd import AT_ONCE
from tests.live.stack import Running, running
from tests.live.witness import Witness

VICTIMS = ("web", "worker", "planner")
"""`valkey` may be named, too."""
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"mates": 2, "kind": "random"},
    {"mates": 2, "kind": "planner"},
    {"people": 2, "mates": 1, "kind": "planner"},
)
"""Who sits at the tables, in turn."""
EVERY = 0.25
"""Seconds between two commands of a person."""
SHORTEST, LONGEST = 0.2, 4.0
"""Seconds between two kills."""
PATIENCE = 180.0
"""Seconds that the episodes may take to their end after the last kill."""


def main(arguments: Sequence[str]) -> int:
    """Play, kill, check; the exit code."""
    asked = parse(arguments)
    with (
        running(asked.database, "tests.live.impatient") as stack,
        Books(stack.environment) as books,
    ):
        print(f"{stack.told}; seed {asked.seed}", flush=True)
        faults = asyncio.run(played(stack, books, asked))
        time.sleep(1)
        faults += [f"left behind: process {pid}, {name}" for pid, name in stack.left_behind().items()]
    faults += [f"left behind at the end: process {pid}, {name}" for pid, name in stack.left_behind().items()]
    print("\n".join(faults) or "nothing is missing", flush=True)
    return int(bool(faults))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.live.kills", description="Play while all dies.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--victims", type=lambda text: text.split(","), default=VICTIMS)
    parser.add_argument(
        "--seed", type=int, default=Random().getrandbits(16), help="of the moments and victims"
    )
    return parser.parse_args(arguments)


async def played(stack: Running, books: Books, asked: argparse.Namespace) -> list[str]:
    """Let them play while processes die; what is wrong then."""
    steps = int(asked.kills * (SHORTEST + LONGEST) / 2 / EVERY) + 20
    tables = [
        books.ask("episodes", count=1, steps=min(steps, 1000), **TABLES[number % len(TABLES)])[0]
        for number in range(asked.episodes)
    ]
    people = [
        Witness(stack.url, key, as_html=number % 3 == 2, every=EVERY, seed=number)
        for number, key in enumerate(key for keys in tables for key in keys)
    ]
    await take_seats(people)
    killed = await kill(stack, asked.kills, asked.victims, Random(asked.seed))
    ended = await to_the_end(people, PATIENCE)
    told(people, killed, ended)
    return list(await asyncio.to_thread(books.ask, "faults", shown=[person.shown for person in people]))


async def take_seats(people: Sequence[Witness]) -> None:
    """Connect, and play from now on."""
    for start in range(0, len(people), AT_ONCE):
        await asyncio.gather(*(person.connect() for person in people[start : start + AT_ONCE]))
    for person in people:
        person.begin(EVERY * person.chance.random())


async def kill(stack: Running, kills: int, victims: Sequence[str], chance: Random) -> Counter[str]:
    """One process at a time, of a kind drawn first, for some kinds have many; how many of each died."""
    killed: Counter[str] = Counter()
    while killed.total() < kills:
        await asyncio.sleep(chance.uniform(SHORTEST, LONGEST))
        there: dict[str, list[int]] = {}
        for pid, name in stack.processes().items():
            if name in victims:
                there.setdefault(name, []).append(pid)
        if there:
            name = chance.choice(sorted(there))
            os.kill(chance.choice(there[name]), signal.SIGKILL)
            killed[name] += 1
    return killed


async def to_the_end(people: Sequence[Witness], seconds: float) -> bool:
    """As fast as they can from now on; whether all of them came to the end."""
    end = time.monotonic() + seconds
    for person in people:
        person.every = 0.0
        person.begin()
    while not all(person.done for person in people) and time.monotonic() < end:
        await asyncio.sleep(0.1)
    for person in people:
        person.stop()
    return all(person.done for person in people)


def told(people: Sequence[Witness], killed: Counter[str], ended: bool) -> None:
    """What happened, in two lines."""
    who = ", ".join(f"{count} {name}" for name, count in killed.most_common())
    print(
        f"killed {killed.total()}: {who}; {sum(person.reconnects for person in people)} pages connected again"
    )
    shown, views = sum(len(person.steps) for person in people), sum(len(person.views) for person in people)
    end = "all came to the end" if ended else "NOT all came to the end"
    print(f"{len(people)} people were shown {shown} steps ({views} views are compared); {end}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
