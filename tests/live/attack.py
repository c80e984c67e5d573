"""Attack a running app while six people play: `make attack`, or `python -m tests.live.attack [--quick]
[--loads logins,files] [--database postgres] [--seconds 15] [--strict]`.

One attack follows the other. For each, the program prints how long the players' steps take beside it, and
how long they took just before. Every answer to the attackers is checked, and what they changed. At the end
of each attack, everything that the players were shown must be stored, and every log must replay. Exit code
1: a check failed or, with `--strict`, a player waited longer than the target. Exit code 2: bad options, or
no PostgreSQL. docs/attack-figures.md has the results.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from brigade.one_line_parser import OneLineParser
from tests.live.attack_clients import Attackers
from tests.live.attack_loads import LOADS, Load
from tests.live.books import Books
from tests.live.crowd import Played, measure
from tests.live.failure_log import FailureLog
from tests.live.kills import take_seats, to_the_end, witness
from tests.live.models import models_served
from tests.live.options import number, some_of
from tests.live.stack import Running, running
from tests.live.strangers import EVERY, MOST
from tests.live.table import markdown
from tests.live.witness import Witness

SECONDS, QUICK = 15.0, 4.0
"""Seconds that the players are measured beside each attack, and before it."""
WARM = 1.0
LONGEST = 180.0
"""Seconds after which an attack ends that has not sent enough."""
STEPS = 1000
"""The largest number of steps of an episode."""
PATIENCE = 180.0
"""Seconds that the players' episodes may take to end after an attack."""
TABLES: Sequence[Mapping[str, Any]] = (
    {},
    {},
    {"people": 2},
    {"mates": 2, "kind": "random"},
    {"mates": 2, "kind": "random"},
)
"""The episodes of the six players."""
HEAD = ("beside", "sent", "answers", "rest p95", "p95", "max", "times the rest")


@dataclass
class Attacked:
    """The results of one attack."""

    words: str
    rest: Played
    beside: Played
    report: Mapping[str, Any]
    faults: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Return the players' p95 beside the attack, divided by that before it."""
        return self.beside.quantile(0.95) / self.rest.quantile(0.95)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        answers = ", ".join(f"{times} {what}" for what, times in sorted(self.report["answers"].items()))
        times = [self.rest.quantile(0.95), self.beside.quantile(0.95), self.beside.quantile(1.0)]
        milliseconds = [f"{each:.0f} ms" for each in times]
        return self.words, f"{self.report['sent']:,}", answers, *milliseconds, f"{self.ratio:.1f}"


def main(arguments: Sequence[str]) -> int:
    """Attack, check, and print the results. Return the exit code."""
    asked = parse(arguments)
    try:
        with (
            models_served("models" in asked.loads) as served,
            running(asked.database, **served) as stack,
            Books(stack.environment) as books,
        ):
            load = os.getloadavg()[0]
            print(f"{stack.told}; {os.cpu_count()} cores, load {load:.1f}; {time.strftime('%d %B %Y')}")
            found = asyncio.run(attacked_by_all(stack, books, asked))
            time.sleep(1)
            left = [f"left behind: process {pid}, {name}" for pid, name in stack.left_behind().items()]
    except LookupError as error:
        print(f"attack: {error}", file=sys.stderr)
        return 2
    print(f"\n{markdown(HEAD, [one.cells for one in found])}\n")
    faults = [fault for one in found for fault in one.faults] + left
    print("\n".join(faults) or "no fault in any answer, log or table")
    print(verdict(found, faults), flush=True)
    return int(bool(faults) or (asked.strict and any(one.ratio > MOST for one in found)))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="make attack", description="Attack while people play.")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--loads", type=some_of(LOADS), default=list(LOADS), help=",".join(LOADS))
    parser.add_argument("--quick", action="store_true", help="a few seconds for each attack")
    parser.add_argument("--seconds", type=number(1.0, 600.0), help=f"of each; {SECONDS:g} otherwise")
    parser.add_argument("--strict", action="store_true", help=f"exit 1 where p95 is over {MOST:g} times rest")
    asked = parser.parse_args(arguments)
    asked.seconds = asked.seconds or (QUICK if asked.quick else SECONDS)
    return asked


def verdict(found: Sequence[Attacked], faults: Sequence[str]) -> str:
    """Return the last line."""
    if faults:
        return f"{len(faults)} faults, see above"
    slow = [one.words for one in found if one.ratio > MOST]
    told = f"beside {len(slow)} of {len(found)} attacks, players' p95 was over {MOST:g} times their rest"
    return f"every answer was right, and nothing was changed or lost; {told}"


async def attacked_by_all(stack: Running, books: Books, asked: argparse.Namespace) -> list[Attacked]:
    """Let six people play beside one attack after another."""
    found, log = [], FailureLog(stack)
    async with trap() as caught:
        for name in asked.loads:
            one = await attacked(stack, books, name, asked, caught)
            one.faults += [f"{times} x in the logs: {line}" for line, times in log.failures().items()]
            if len(caught) > 1:
                one.faults.append(f"{len(caught) - 1} connections to a hostile model address")
                del caught[1:]
            print(f"{one.words}: {', '.join(one.cells[1:])}", flush=True)
            found.append(one)
    return found


@asynccontextmanager
async def trap() -> AsyncIterator[list[int]]:
    """Listen on a free port until the block ends. Provide a list of this port and of one number for each
    connection to it."""
    caught: list[int] = []

    async def catch(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caught.append(1)
        writer.close()

    server = await asyncio.start_server(catch, "127.0.0.1", 0)
    async with server:
        caught.append(server.sockets[0].getsockname()[1])
        yield caught


async def attacked(
    stack: Running, books: Books, name: str, asked: argparse.Namespace, caught: Sequence[int]
) -> Attacked:
    """Let six people play, first alone and then beside one attack. Check everything afterwards."""
    load = LOADS[name]
    plan = await asyncio.to_thread(plan_of, stack, books, load, caught[0])
    before = await asyncio.to_thread(stored, books, load, plan)
    people = await seated(stack, books, asked.seconds, load)
    try:
        rest = await measure(stack, people, warm=WARM, seconds=asked.seconds)
        with Attackers(name, plan, stack.environment) as attackers:
            enough = 0 if asked.quick else enough_of(load, plan)
            beside, report = await measured_beside(stack, people, attackers, asked.seconds, enough)
        ended = await to_the_end(people, PATIENCE)
    finally:
        for person in people:
            person.stop()
    one = Attacked(f"{load.clients} {load.words}" if load.clients else load.words, rest, beside, report)
    one.faults += report["faults"] if ended else [*report["faults"], "NOT all players came to the end"]
    if report["sent"] < enough:
        one.faults.append(f"only {report['sent']} of {enough} were sent")
    after = await asyncio.to_thread(stored, books, load, plan)
    one.faults += [f"changed: {what}" for what in before if before[what] != after[what]]
    one.faults += await asyncio.to_thread(books.ask, "faults", shown=[person.shown for person in people])
    one.faults = [f"{name}: {fault}" for fault in one.faults]
    return one


def plan_of(stack: Running, books: Books, load: Load, port: int) -> dict[str, Any]:
    """Make what an attack needs, and return its plan."""
    socket = stack.url.replace("http", "ws", 1)
    given = {"url": stack.url, "socket": socket, "clients": load.clients, "trap": port}
    return {**given, **load.needs(books, given)}


def enough_of(load: Load, plan: Mapping[str, Any]) -> int:
    """Return how many messages or requests an attack has to send."""
    return len(plan["visits"]) if load.is_whole else load.enough


def stored(books: Books, load: Load, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the attack must not change, by name."""
    rows: dict[str, Any] = books.ask("stored_rows")
    kept = {name: digest for name, digest in rows.items() if not name.startswith(load.changes)}
    if load.watched:
        kept["attacked episodes"] = books.ask("seat_states", keys=plan[load.watched])
    return kept


async def seated(stack: Running, books: Books, seconds: float, load: Load) -> list[Witness]:
    """Create the episodes of six people, and let them play."""
    most = LONGEST if load.enough or load.is_whole else seconds
    steps = min(STEPS, int((WARM + seconds + most + 5) / EVERY))
    tables = [
        await asyncio.to_thread(books.ask, "episodes", count=1, steps=steps, **table) for table in TABLES
    ]
    keys = [key for table in tables for episode in table for key in episode]
    people = [witness(stack.url, key, number, every=EVERY) for number, key in enumerate(keys)]
    await take_seats(people)
    return people


async def measured_beside(
    stack: Running, people: Sequence[Witness], attackers: Attackers, seconds: float, enough: int
) -> tuple[Played, Mapping[str, Any]]:
    """Measure the players until the attackers have sent enough. Return what was measured, and their last
    report."""
    await attackers.begun()
    end = time.monotonic() + LONGEST
    parts = [await measure(stack, people, warm=WARM, seconds=seconds)]
    while (report := await attackers.report())["sent"] < enough and time.monotonic() < end:
        parts.append(await measure(stack, people, warm=0, seconds=seconds))
    times = tuple(taken for part in parts for taken in part.times)
    return Played(sum(part.seconds for part in parts), times), report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
