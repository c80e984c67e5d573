"""Let programs play on two machines, of which one vanishes and comes back: `make two-machines`, or `python -m
tests.live.two_machines [--absences 4] [--episodes 8] [--games 4] [--away 15]`.

The machines are network namespaces of this one (`tests.live.network_machines`), so only root can run it. A
third one has PostgreSQL and Redis. A machine vanishes in two ways, in turn: all its processes are killed, or
its link is cut without notice. Players reconnect to the other one. The program prints how long each episode
stood still. Afterwards nothing may be missing (`tests.live.kills` lists the checks); otherwise the exit code
is 1. It is 2 if the machines cannot be made, or PostgreSQL is missing. docs/fault-figures.md has the results.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, count, cycle, islice, pairwise
from typing import Any
from urllib.parse import urlsplit

from brigade.one_line_parser import OneLineParser
from brigade.server_limits import raise_open_file_limit
from tests.live.books import Books
from tests.live.killing import Blow, got_over
from tests.live.kills import BUSY_STALLED, EVERY, PATIENCE, all_well, take_seats, to_the_end
from tests.live.machine_switching_players import TickTraveller, Traveller
from tests.live.network_machines import Machine, Network
from tests.live.options import number
from tests.live.stack import plain_environment
from tests.live.stalls import WORST, Table, Wait, quantile, waits_at
from tests.live.table import markdown
from tests.live.witness import Witness
from tests.needs import postgres, redis_server

TABLES: tuple[Mapping[str, Any], ...] = (
    {"mates": 2, "kind": "planner"},
    {"people": 2, "mates": 1, "kind": "dispatcher", "settings": {"model": "stand-in"}},
    {"mates": 2, "kind": "dispatcher", "settings": {"model": "stand-in", "stand_in_latency": 1.5}},
    {"people": 2, "step_seconds": 10.0},
    {"mates": 1, "kind": "random"},
)
"""The kinds of episode, in turn."""
TICK_MS = 200
MOST_TICKS = 2000
REST = 10.0
"""Seconds of play before the first absence, and after each return."""
RETURN_SECONDS = 12.0
"""Seconds that the start of a machine is expected to take."""
KINDS = ("killed", "cut")
GOALS = {"rest": 3.0, "killed": 3.0, "cut": 10.0, "back": 3.0}
"""The targets for the longest stall, in seconds."""
WORDS = {
    "rest": "at rest",
    "killed": "all processes of a machine are killed",
    "cut": "a machine's link is cut",
    "back": "it comes back",
}
PORT = "8000"


def main(arguments: Sequence[str]) -> int:
    """Play, let machines vanish, and check the result. Return the exit code."""
    asked = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the network is taken down then, too
    try:
        return played_and_checked(asked)
    except LookupError as error:
        print(f"two-machines: {error}", file=sys.stderr)
        return 2


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="make two-machines", description="Play while one of two machines is gone.")
    parser.add_argument("--absences", type=number(1, 100), default=4)
    parser.add_argument("--episodes", type=number(1, 1000), default=8, help="in turns")
    parser.add_argument("--games", type=number(0, 1000), default=4, help="in real time")
    parser.add_argument("--away", type=number(1.0, 600.0), default=15.0, help="seconds of each absence")
    return parser.parse_args(arguments)


def played_and_checked(asked: argparse.Namespace) -> int:
    """Start the machines, play and check. Return the exit code. Raises LookupError if something is
    missing."""
    with two_machines() as (machines, told), Books(machines[0].environment) as books:
        cores = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        print(f"{told}; {asked.episodes} episodes, {asked.games} games; {cores}", flush=True)
        faults = asyncio.run(played(machines, books, asked))
        for machine in machines:
            machine.kill()
            faults += [f"left behind: process {pid}" for pid in machine.processes_left()]
    print("\n".join(faults))
    print(
        f"{len(faults)} faults, see above" if faults else "nothing was lost, nothing was doubled", flush=True
    )
    return int(bool(faults))


@contextmanager
def two_machines() -> Iterator[tuple[list[Machine], str]]:
    """Run the app on two machines, and PostgreSQL and Redis on a third. Return the two, and words about the
    servers."""
    raise_open_file_limit()
    with ExitStack() as stack:
        network = stack.enter_context(Network())
        data, *places = [network.add(name) for name in ("data", "one", "two")]
        with data.entered():
            database, first = stack.enter_context(postgres(True, data.address))
            broker, second = stack.enter_context(redis_server(True, data.address))
        common = {
            "DATABASE_URL": database,
            "REDIS_URL": broker,
            "DJANGO_SETTINGS_MODULE": "brigade.settings",
            "BRIGADE_HOSTS": ",".join(place.address for place in places),
            "BRIGADE_SECRET_KEY": secrets.token_urlsafe(48),
            "BRIGADE_PORT": PORT,
            "BRIGADE_WEB": "1",
            "BRIGADE_TICKERS": "1",
        }
        machines = []
        for place in places:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="brigade-live-"))
            environment = plain_environment(folder) | common | {"BRIGADE_HOST": place.address}
            machines.append(stack.enter_context(Machine(place, environment)))
            machines[-1].wait_until_ready()
        yield machines, f"{first} and {second}"


async def played(machines: Sequence[Machine], books: Books, asked: argparse.Namespace) -> list[str]:
    """Let the players play while machines vanish. Return a line for each fault."""
    urls = [machine.url for machine in machines]
    seconds = REST + asked.absences * (asked.away + RETURN_SECONDS + REST)
    tables = await laid(books, urls, asked.episodes, seconds)
    games = await games_laid(books, urls, asked.games, seconds)
    people = [person for table in tables for person in table.people]
    playing = [asyncio.create_task(game.play()) for game in games]
    await take_seats(people)
    blows = [blow async for blow in absences(machines, people, games, asked)]
    now = time.monotonic()
    print(told_stalls(blows, tables, games, now), flush=True)
    ended = await to_the_end(people, PATIENCE)
    await asyncio.wait(playing, timeout=PATIENCE) if playing else None
    over = [*(game.over for game in games), ended]
    told(people, games, books)
    shown = [person.shown for person in people]
    shown += [{"key": game.key, "steps": [], "views": [], "taken": []} for game in games]
    found = await asyncio.to_thread(books.ask, "faults", shown=shown)
    return [*found, *([] if all(over) else ["NOT all came to the end"])]


async def laid(books: Books, urls: Sequence[str], episodes: int, seconds: float) -> list[Table]:
    """Create episodes in turns that take about so many seconds. Their people begin on different machines."""
    numbers, tables = count(), []
    for table in islice(cycle(TABLES), episodes):
        latency = table.get("settings", {}).get("stand_in_latency", 0.0)
        steps = min(1000, int(seconds / (EVERY + latency)))
        asked = partial(books.ask, "episodes", count=1, steps=steps, **table)
        (keys,) = await asyncio.to_thread(asked)
        people = [traveller(urls, key, next(numbers)) for key in keys]
        tables.append(Table(f"{table.get('kind', 'no agent')}, {len(keys)} people", people))
    return tables


def traveller(urls: Sequence[str], key: str, seat: int) -> Traveller:
    """Return the player of this seat. Every third one uses HTML as a browser does."""
    return Traveller(turned(urls, seat), key, as_html=seat % 3 == 2, every=EVERY, seed=seat)


async def games_laid(books: Books, urls: Sequence[str], games: int, seconds: float) -> list[TickTraveller]:
    """Create games in real time that take so many seconds."""
    ticks = min(MOST_TICKS, int(1000 * seconds / TICK_MS))
    chosen = {"layout": "cramped_room", "clock": "tick", "tick_ms": TICK_MS, "ticks": ticks}
    game = {"world": "overcooked", "mates": 1, "kind": "random", "steps": ticks, "chosen": chosen}
    keys = await asyncio.to_thread(books.episodes, games, **game)
    return [TickTraveller(turned(urls, seat), key, seat) for seat, key in enumerate(keys)]


def turned(urls: Sequence[str], seat: int) -> list[str]:
    """Return the addresses in the order in which this seat's page tries them."""
    first = seat % len(urls)
    return [*urls[first:], *urls[:first]]


async def absences(
    machines: Sequence[Machine],
    people: Sequence[Witness],
    games: Sequence[TickTraveller],
    asked: argparse.Namespace,
) -> AsyncIterator[Blow]:
    """Let machines vanish and come back, each time the one that serves more pages. Yield each event, with its
    time."""

    def calm() -> bool:
        return all_well(people, BUSY_STALLED)

    def pages_of(machine: Machine) -> int:
        bases = [*(person.base for person in people), *(game.base for game in games)]
        return sum(urlsplit(base).netloc == urlsplit(machine.url).netloc for base in bases)

    yield Blow("rest", time.monotonic())
    await asyncio.sleep(REST)
    for turn in range(asked.absences):
        await got_over(calm)
        machine, kind = max(machines, key=pages_of), KINDS[turn % len(KINDS)]
        print(f"{machine.place.address}, {pages_of(machine)} pages: {WORDS[kind]}", flush=True)
        yield Blow(kind, time.monotonic(), [machine.place.name])
        machine.kill() if kind == "killed" else machine.place.cut()
        await asyncio.sleep(asked.away)
        yield Blow("back", time.monotonic(), [machine.place.name])
        if kind == "killed":
            machine.start()
            await asyncio.to_thread(machine.wait_until_ready)
        else:
            machine.place.mend()
        await asyncio.sleep(REST)


def told_stalls(
    blows: Sequence[Blow], tables: Sequence[Table], games: Sequence[TickTraveller], end: float
) -> str:
    """Return a table of how long each episode stood still after each kind of event."""
    in_turns = [longest_during(blows, waits_at(table, end), end) for table in tables]
    in_time = [longest_during(blows, game.waits_until(end), end) for game in games]
    rows = []
    for kind in WORDS:
        if events := [number for number, blow in enumerate(blows) if blow.kind == kind]:
            goal = f"{GOALS[kind]:g} s"
            cells = [cell for longest in (in_turns, in_time) for cell in _quantiles(longest, events)]
            rows.append((WORDS[kind], str(len(events)), *cells, goal))
    head = ("", "times", "episodes in turns: p50", "max", "games in real time: p50", "max", "goal of max")
    found = chain.from_iterable(zip(longest, blows, strict=True) for longest in (*in_turns, *in_time))
    worst = sorted(found, key=lambda each: -each[0].seconds)[:WORST]
    lines = [
        f"{wait.seconds:.1f} s ({WORDS[blow.kind]}): {wait.table}, step {wait.step}, "
        f"wanted {wait.wanted - blow.at:+.1f} s from then"
        for wait, blow in worst
    ]
    return "\n".join([markdown(head, rows), *lines])


def longest_during(blows: Sequence[Blow], waits: Iterable[Wait], end: float) -> list[Wait]:
    """Return for each event the longest wait in the time until the next one. A wait belongs to the time in
    which most of it lies."""
    times = [*pairwise([*(blow.at for blow in blows), end])]
    longest = [Wait(begin, begin) for begin, _ in times]
    for wait in waits:
        shares = [min(wait.got, until) - max(wait.wanted, begin) for begin, until in times]
        most = shares.index(max(shares))
        longest[most] = max(longest[most], wait, key=lambda each: each.seconds)
    return longest


def _quantiles(longest: Iterable[Sequence[Wait]], events: Sequence[int]) -> tuple[str, str]:
    seconds = [waits[number].seconds for waits in longest for number in events]
    return f"{quantile(seconds, 0.5):.1f} s", f"{max(seconds, default=0.0):.1f} s"


def told(people: Sequence[Witness], games: Sequence[TickTraveller], books: Books) -> None:
    """Describe what happened in two lines."""
    log = books.ask("log_of", keys=[person.key for person in people])
    print("stored: " + ", ".join(f"{times} {what}" for what, times in log.items()))
    shown, taken = sum(len(person.steps) for person in people), sum(len(person.taken) for person in people)
    again = sum(person.reconnects for person in people) + sum(game.reconnects for game in games)
    lost = sum(game.lost_steps for game in games)
    print(
        f"{len(people)} people were shown {shown} steps, and {taken} commands as taken; "
        f"{again} pages connected again; {lost} ticks were shown and taken back",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
