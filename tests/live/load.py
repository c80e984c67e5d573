"""Measure how many people the app can serve: `python -m tests.live.load [--to 2000] [--database postgres]
[--soak 60]`.

The product runs as with `make run`, in a folder of its own, and programs play over its pages and websockets.
Their number grows until fewer than 99 of 100 steps stay within a time bound. Then twice as many show an
overload. With `--soak`, half as many play for that number of minutes, and the program judges what grows
meanwhile. Exit code 1: a request got an error, or something grew without a reason. Exit code 2: bad
arguments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from brigade.one_line_parser import OneLineParser
from tests.live.books import Books
from tests.live.climb import OVERLOAD, Terms, climbed, measured
from tests.live.company import Company, Stretch
from tests.live.mix import TABLES, USUAL, Mix, mix_named
from tests.live.options import number
from tests.live.printing import bytes_a_step, stretch_table, told, troubles, verdict_table
from tests.live.sampling import Sample
from tests.live.soak import companion_totals, errors_in, soaked, verdicts
from tests.live.soak_companions import TIMES
from tests.live.stack import Running, running
from tests.live.verdicts import BAD, Verdict

BEGAN = time.monotonic()


@dataclass
class Found:
    """All measurements of a load test."""

    machine: dict[str, Any]
    stretches: list[Stretch] = field(default_factory=list)
    knee: int | None = None
    """The largest number of people that was served well; None if it was not searched."""
    overload: Stretch | None = None
    samples: list[Sample] = field(default_factory=list)
    tables: dict[str, float] = field(default_factory=dict)
    """Bytes of each table per step of the log, at the end of a soak test."""
    ended_by: str = ""
    """The type of the exception that ended the test early."""

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the verdicts of the soak test."""
        return verdicts(self.samples)

    @property
    def good(self) -> bool:
        """Return whether the test was completed, all people played without errors, no process was lost, and
        nothing grows without a reason."""
        all_of_them = [*self.stretches, *([self.overload] if self.overload else [])]
        bad = any(verdict.word in BAD for verdict in self.verdicts)
        return not (
            self.ended_by or bad or errors_in(self.samples) or any(stretch.errors for stretch in all_of_them)
        )


def main(arguments: Sequence[str]) -> int:
    """Measure and print the tables. Return the exit code."""
    asked = parse(arguments)
    variables = {"BRIGADE_WEB": str(asked.web)} if asked.web else {}
    try:
        with running(asked.database, **variables) as stack, Books(stack.environment) as books:
            found = measure_and_tell(stack, books, asked)
    except LookupError as error:
        print(f"{command_of(arguments)}: {error}", file=sys.stderr)
        return 2
    return int(not found.good)


def measure_and_tell(stack: Running, books: Books, asked: argparse.Namespace) -> Found:
    """Measure everything that was requested, print the results, and write the file. If an error or Ctrl-C
    ends the test early, do so with the results until then, and raise it."""
    found = Found(machine_of(stack, asked))
    try:
        asyncio.run(find(stack, books, asked, found))
    except BaseException as error:
        found.ended_by = type(error).__name__
        raise
    finally:
        tell(found)
        if asked.json:
            asked.json.write_text(json.dumps(as_json(found), indent=1))
    return found


def command_of(arguments: Sequence[str]) -> str:
    """Return the command that passes these arguments: `make soak` or `make load`."""
    return "make soak" if any(one.startswith("--soak") for one in arguments) else "make load"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options. A wrong option prints one line, with exit code 2."""
    parser = OneLineParser(prog=command_of(arguments), description="How many people the product carries.")
    add = parser.add_argument
    add("--database", choices=("sqlite", "postgres"), default="sqlite")
    add("--web", type=number(1, 64), default=0, help="web processes; else as many as make run starts")
    add("--mix", type=mix_of, default=USUAL, help=f"weights of {', '.join(TABLES)}: alone=40,planner=60")
    add("--html", type=number(0, 100), default=50, help="of a hundred, how many play by HTML, as browsers do")
    add("--timed", type=number(0, 100), default=25, help="of a hundred, how many have a clock")
    add("--whole", type=number(0, 100), default=10, help="of a hundred, how many go from the link to the end")
    add("--every", type=number(0.1, 60), default=3.0, help="seconds between two commands of a person")
    add("--seconds", type=number(1.0, 3600), default=20.0, help="how long each number of people is measured")
    add(
        "--bound",
        type=number(1.0, 60_000),
        default=250.0,
        help="milliseconds that 99 of 100 steps stay within",
    )
    add("--start", type=number(1, 100_000), default=100, help="the first number of people")
    add("--to", type=number(1, 100_000), default=3000, help="the highest number")
    add("--people", type=people_of, default=[], help="these numbers, and no knee: 100,200")
    add(
        "--soak",
        type=number(0.1, 10_000),
        default=0.0,
        metavar="MINUTES",
        help="at half the knee, or --people",
    )
    add(
        "--json",
        type=Path,
        help="a file for everything that was measured; a soak adds a line each minute to FILE.l",
    )
    asked = parser.parse_args(arguments)
    if asked.soak and len(asked.people) > 1:
        parser.error("--soak takes one number of --people")
    if asked.json and not asked.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {asked.json.parent}")
    return asked


def mix_of(text: str) -> dict[str, float]:
    """Parse a mix of players with weights."""
    try:
        return mix_named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def people_of(text: str) -> list[int]:
    """Parse numbers that are separated by commas."""
    read = number(1, 100_000)
    return [read(part.strip()) for part in text.split(",")]


async def find(stack: Running, books: Books, asked: argparse.Namespace, found: Found) -> None:
    """Measure everything that was requested, and add the results to `found`."""
    say(", ".join(f"{name} {value}" for name, value in found.machine.items()))
    mix = Mix(asked.mix, asked.html, asked.timed, asked.whole)
    terms = Terms(asked.seconds, asked.bound, asked.start, asked.to)
    async with Company(stack, books, mix, every=asked.every) as company:
        if asked.soak and asked.people:
            await soak(company, asked.people[0], asked, found)
        elif asked.people:
            for people in asked.people:
                found.stretches.append(told(say, await measured(company, people, terms)))
        else:
            found.stretches, found.knee = await climbed(company, terms, partial(told, say))
            if asked.soak:
                await soak(company, max(1, found.knee // 2), asked, found)
            elif found.knee:
                found.overload = told(say, await measured(company, round(OVERLOAD * found.knee), terms))


async def soak(company: Company, people: int, asked: argparse.Namespace, found: Found) -> None:
    """Let this number of people play for the requested time."""
    file = asked.json.with_name(f"{asked.json.name}l") if asked.json else None

    def add_minute(sample: Sample) -> None:
        found.samples.append(sample)
        say(
            f"{people} people, minute {sample['minutes']:.0f}: "
            f"{sample['steps a second']:.1f} steps/s, p99 {sample['p99']:.0f} ms; "
            f"beside them {companion_text([sample])}; {errors_in([sample]).total()} errors"
        )

    found.tables = await soaked(company, people, asked.soak, add_minute, file)


def machine_of(stack: Running, asked: argparse.Namespace) -> dict[str, Any]:
    """Describe the machine, and what else runs on it."""
    return {
        "on": stack.told,
        "date": time.strftime("%d %B %Y", time.gmtime()),
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "mix": ", ".join(f"{name} {weight:g}" for name, weight in asked.mix.items()),
        "a command every": f"{asked.every:g} s",
    }


def tell(found: Found) -> None:
    """Print the tables and the verdict."""
    if found.stretches:
        print(f"\n{stretch_table([*found.stretches, *([found.overload] if found.overload else [])])}")
    if found.knee is not None:
        print(f"\nknee: {found.knee} people" if found.knee else "\nno number was served well")
    for stretch in [*found.stretches, *([found.overload] if found.overload else [])]:
        for line in troubles(stretch):
            print(line)
    if found.samples:
        tell_soak(found)
    print(f"\n{time.monotonic() - BEGAN:.0f} s in all; {outcome(found)}", flush=True)


def tell_soak(found: Found) -> None:
    """Print the results of a soak test. The bytes of each step are missing if it ended early."""
    print(f"\n{verdict_table(found.verdicts)}")
    if found.tables:
        print(f"\n{bytes_a_step(found.tables)}")
    print(f"\nbeside the players: {companion_text(found.samples)}")
    for what, times in errors_in(found.samples).items():
        print(f"{times} x {what}")


def companion_text(samples: Sequence[Sample]) -> str:
    """Return the companions' numbers in words."""
    return ", ".join(
        f"{what} {value:,.0f} ms" if what in TIMES else f"{value:,.0f} {what}"
        for what, value in sorted(companion_totals(samples).items())
    )


def outcome(found: Found) -> str:
    """Return the exit code: 0 only if no question is left open."""
    if found.ended_by:
        return f"NOT all is well: ended early by {found.ended_by}"
    if not found.good:
        return "NOT all is well"
    unclear = sum(not verdict.good for verdict in found.verdicts)
    return f"nothing grows, but {unclear} lines are unclear: run it longer" if unclear else "all is well"


def as_json(found: Found) -> dict[str, Any]:
    """Return the results as JSON."""
    return {
        "machine": found.machine,
        "knee": found.knee,
        "numbers": [stretch.as_json for stretch in found.stretches],
        "overload": found.overload.as_json if found.overload else None,
        "soak": found.samples,
        "bytes a step": found.tables,
        "verdicts": [verdict.as_json for verdict in found.verdicts],
    }


def say(line: str) -> None:
    """Print a line of progress."""
    print(f"{time.monotonic() - BEGAN:5.0f} s  {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
