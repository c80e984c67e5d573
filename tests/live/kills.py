"""Let programs play over websockets while processes of the app are killed at random moments: `make faults`,
or `python -m tests.live.kills [--database postgres] [--kills 100] [--episodes 40] [--seed N] [--minutes N]
[--victims web,worker,broker,database] [--games 4] [--load 20]`.

Afterwards nothing may be missing. Every step that a page showed is stored and looks the same. Every command
that was confirmed to a page is in the log. Replaying a log from its seed gives every stored state, and every
hash chain is valid. No step ran twice, every episode ended, and no process was left behind. Otherwise the
exit code is 1; 2 if PostgreSQL is missing. With `--load`, so many processes that do nothing else use the
processor all the while. docs/fault-figures.md has the results.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from random import Random

from brigade.one_line_parser import OneLineParser
from tests.live.books import Books
from tests.live.crowd import AT_ONCE
from tests.live.game_witness import GAME, GameSeries, rounds
from tests.live.killing import USUAL, VICTIMS, Blow, living, planned, strike
from tests.live.options import number, some_of
from tests.live.stack import Running, busy_processes, running
from tests.live.stalls import (
    BUSY_GOALS,
    QUIET_GOALS,
    Table,
    longest_after,
    told_longest,
    told_stalls,
    waits_at,
)
from tests.live.witness import Witness
from tests.worlds.beacon.kit import LINE

EVERY = 2.0
"""Seconds between two commands of a person."""
BETWEEN = 5.0
"""Seconds between two kills, unless `--minutes` is given."""
STALLED, BUSY_STALLED = 0.7, 3.0
"""Seconds that a player may wait for a step before the app counts as not recovered. The second number is for
a machine that others keep busy."""
REST = 10.0
"""Seconds of play that are measured before the first kill."""
SEATING = 180.0
"""Seconds in which all pages must be connected at first."""
PREFERENCE = 10
"""The nice levels by which the players come before others."""
PATIENCE = 300.0
"""Seconds that the episodes may take to end after the last kill."""


def main(arguments: Sequence[str]) -> int:
    """Play, kill processes, and check the result. Return the exit code."""
    asked = parse(arguments)
    try:
        return played_and_checked(asked)
    except LookupError as error:
        print(f"faults: {error}", file=sys.stderr)
        return 2
    except TimeoutError as error:
        print(f"faults: {error}", flush=True)
        return 1


def played_and_checked(asked: argparse.Namespace) -> int:
    """Start the app, play, kill and check. Return the exit code. Raises LookupError without PostgreSQL."""
    with running(asked.database, True, BRIGADE_WORLDS=LINE) as stack, Books(stack.environment) as books:
        games = f"{asked.games} games in real time"
        print(
            f"{stack.told}; {asked.episodes} episodes, {games}, {asked.kills} kills, seed {asked.seed}",
            flush=True,
        )
        machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        print(f"{machine}, {asked.load} busy processes of ours", flush=True)
        faults = asyncio.run(played(stack, books, asked))
        time.sleep(1)
        faults += [f"left behind: process {pid}, {name}" for pid, name in stack.left_behind().items()]
    faults += [f"left behind at the end: process {pid}, {name}" for pid, name in stack.left_behind().items()]
    print("\n".join(faults))
    print(
        f"{len(faults)} faults, see above" if faults else "nothing was lost, nothing was doubled", flush=True
    )
    return int(bool(faults))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="make faults", description="Play while all dies.")
    parser.add_argument("--kills", type=number(1, 100_000), default=100)
    parser.add_argument("--episodes", type=number(1, 10_000), default=40)
    games = "games in real time, played at once"
    parser.add_argument("--games", type=number(0, 1000), default=4, help=games)
    minutes = "how long the kills take; about nine otherwise"
    parser.add_argument("--minutes", type=number(0.01, 10_000), help=minutes)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    busy = "processes that use the processor all the while"
    parser.add_argument("--load", type=number(0, 1000), default=0, help=busy)
    parser.add_argument("--victims", type=some_of(VICTIMS), default=list(USUAL))
    parser.add_argument(
        "--seed", type=number(0, 2**63), default=Random().getrandbits(16), help="of the moments and victims"
    )
    return parser.parse_args(arguments)


async def played(stack: Running, books: Books, asked: argparse.Namespace) -> list[str]:
    """Let the players play while processes are killed. Return a line for each fault."""
    chance = Random(asked.seed)
    blows = planned(asked.kills, chance)
    mean = 60 * asked.minutes / len(blows) if asked.minutes else BETWEEN
    steps = int(mean * len(blows) * 1.7 / EVERY) + 30
    laid = await asyncio.to_thread(books.ask, "laid", count=asked.episodes, steps=min(steps, 1000))
    tables, games = seated(stack, laid), await games_laid(stack, books, asked.games, steps * EVERY)
    people = [person for table in tables for person in table.people]
    stalled = BUSY_STALLED if asked.load else STALLED
    with busy_processes(asked.load), favoured():
        await take_seats(people)
        playing = asyncio.create_task(games.play())
        say_absent(stack, asked.victims)
        await asyncio.sleep(mean)
        rest = Blow("rest", time.monotonic())
        await asyncio.sleep(REST)
        struck = await strike(
            stack,
            blows,
            asked.victims,
            chance,
            mean,
            lambda: all_well(people, stalled) and games.is_well(time.monotonic(), stalled),
            lambda: all(person.done for person in people),
        )
        await asyncio.sleep(mean)
        now = time.monotonic()
    games.stop()
    waits = [wait for table in tables for wait in waits_at(table, now)]
    waits += [wait for game in games.games for wait in game.waits_until(now)]
    events = [rest, *struck]
    stalls = longest_after(events, waits, now)
    ended = await to_the_end(people, PATIENCE)
    await asyncio.wait([playing], timeout=PATIENCE)
    playing.cancel()
    goals = BUSY_GOALS if asked.load else QUIET_GOALS
    print(told_stalls(events, stalls, goals), told_longest(events, stalls), sep="\n", flush=True)
    log = await asyncio.to_thread(books.ask, "log_of", keys=[person.key for person in people])
    told(people, struck, log, ended)
    print(games.told, flush=True)
    left_out = f"only {len(struck)} of {len(blows)} kills, pairs and bursts: play did not recover in time"
    shown = [*(person.shown for person in people), *(game.shown for game in games.games)]
    return [
        *await asyncio.to_thread(books.ask, "faults", shown=shown),
        *games.faults,
        *([left_out] if len(struck) < len(blows) else []),
    ]


async def games_laid(stack: Running, books: Books, count: int, seconds: float) -> GameSeries:
    """Create so many series of games in real time that last so many seconds."""
    each = rounds(seconds)
    keys = await asyncio.to_thread(partial(books.episodes, count * each, **GAME))
    return GameSeries(stack.url, [keys[number::count] for number in range(count)])


@contextmanager
def favoured() -> Iterator[None]:
    """Let the players run before all busy processes, if this user may. People's browsers run on other
    machines."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, before - PREFERENCE)
    try:
        yield
    finally:
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


def seated(stack: Running, laid: Sequence[tuple[str, Sequence[str]]]) -> list[Table]:
    """Create a `Table` for each episode, with a player for each key. Every third player uses HTML as a
    browser does."""
    numbers = count()
    return [Table(told, [witness(stack.url, key, next(numbers)) for key in keys]) for told, keys in laid]


def witness(url: str, key: str, number: int, every: float = EVERY) -> Witness:
    """Create one player that records everything."""
    return Witness(url, key, as_html=number % 3 == 2, every=every, seed=number)


def say_absent(stack: Running, victims: Sequence[str]) -> None:
    """Print a line for each victim that does not exist in this setup, and leave it out."""
    for name in sorted(set(victims) - living(stack, victims).keys()):
        print(f"no {name} to kill here: it has no process of its own", flush=True)


def all_well(people: Sequence[Witness], stalled: float) -> bool:
    """Return whether no player has waited for a step for longer than `stalled` seconds."""
    now = time.monotonic()
    return not any(
        wanted < now - stalled and step not in person.got
        for person in people
        if not person.done
        for step, wanted in [*person.wanted.items()][-1:]
    )


async def take_seats(people: Sequence[Witness]) -> None:
    """Connect the players, and let them play from now on. Raises TimeoutError after `SEATING` seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SEATING):
            for start in range(0, len(people), AT_ONCE):
                await asyncio.gather(*(person.open() for person in people[start : start + AT_ONCE]))
    if missing := sum(person.line is None for person in people):
        raise TimeoutError(f"{missing} of {len(people)} pages could not connect within {SEATING:g} s")
    for person in people:
        person.begin(person.every * person.chance.random())


async def to_the_end(people: Sequence[Witness], seconds: float) -> bool:
    """Play as fast as possible until all episodes end. Return whether all of them ended."""
    end = time.monotonic() + seconds
    for person in people:
        person.every = 0.0
        person.begin()
    while not all(person.done for person in people) and time.monotonic() < end:
        await asyncio.sleep(0.1)
    for person in people:
        person.stop()
    return all(person.done for person in people)


def told(people: Sequence[Witness], blows: Sequence[Blow], log: dict[str, int], ended: bool) -> None:
    """Describe what happened in three lines."""
    killed = Counter(name for blow in blows for name in blow.killed)
    who = ", ".join(f"{count} {name}" for name, count in killed.most_common())
    print(
        f"killed {killed.total()} processes: {who}; {sum(p.reconnects for p in people)} pages connected again"
    )
    print("stored: " + ", ".join(f"{count} {what}" for what, count in log.items()))
    shown, views = sum(len(person.steps) for person in people), sum(len(person.views) for person in people)
    taken = sum(len(person.taken) for person in people)
    end = "all came to the end" if ended else "NOT all came to the end"
    print(
        f"{len(people)} people were shown {shown} steps, and {taken} commands as taken "
        f"({views} views are compared); {end}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
