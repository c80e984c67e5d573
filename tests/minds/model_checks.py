"""Check agents with language models against a local server: `make minds`, or `python -m
tests.minds.model_checks [--quick] [--parts styles,hanging]`.

The parts: every style of reply with both providers' SDKs; each style behind each fault of a server; words of
people that give orders; batches; hundreds of calls that hang; and a hundred people who play beside a model of
three seconds. Exit code 1: a command was lost or carried out although it was taken back, a call ended or cost
otherwise than it should, a key was stored, or words did more than words may. docs/model-checks.md has the
results.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import django

from brigade.one_line_parser import OneLineParser
from tests.live.options import some_of
from tests.live.table import markdown, short
from tests.minds.batch_checks import check_batches
from tests.minds.hanging_checks import check_hanging_calls
from tests.minds.injection_checks import check_injections
from tests.minds.reply_checks import Checked, both_providers, check_faults, check_styles
from tests.stand_in_server import StandInServer

HEAD = ("what", "cases", "calls", "wrong", "measured")
MOST_SHOWN = 20
"""Maximum number of wrong cases that are printed for a part."""
BEGAN = time.monotonic()


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is checked: each so many of the styles, alone and behind faults, and the calls that hang."""

    styles: int
    fault_styles: int
    slow_styles: int
    hanging: int
    seconds: float


FULL, QUICK = Amount(1, 1, 20, 500, 15.0), Amount(3, 60, 4, 100, 6.0)
TINY = Amount(120, 600, 1, 20, 0.3)
"""The amount in the test suite."""

Check = Callable[[StandInServer, Amount], Checked]

SERVED: Mapping[str, Check] = {
    "styles": lambda server, amount: check_styles(server, amount.styles),
    "faults": lambda server, amount: check_faults(server, amount.fault_styles, amount.slow_styles),
    "injections": lambda server, _: check_injections(server),
    "batches": lambda server, amount: check_batches(server, amount.styles),
    "hanging": lambda server, amount: check_hanging_calls(server, amount.hanging, amount.seconds),
}
"""The parts that need only the server."""
PEOPLE = "people"
"""The part that starts the whole app."""
PARTS = (*SERVED, PEOPLE)


def main(arguments: Sequence[str]) -> int:
    """Run the parts, print the table, and return the exit code."""
    asked = parse(arguments)
    served = [name for name in asked.parts if name != PEOPLE]
    results = check(served, QUICK if asked.quick else FULL, say)
    if PEOPLE in asked.parts:
        results.append(people(quick=asked.quick))
    print(f"\n{markdown(HEAD, (each.cells for each in results))}", flush=True)
    wrong = sum(len(each.wrong) for each in results)
    print(f"\n{verdict(wrong)}; {time.monotonic() - BEGAN:.0f} s in all", flush=True)
    return int(wrong > 0)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(
        prog="python -m tests.minds.model_checks", description="How models are dealt with."
    )
    parser.add_argument("--quick", action="store_true", help="a part of the cases, in about three minutes")
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), help=",".join(PARTS))
    return parser.parse_args(arguments)


def check(parts: Sequence[str], amount: Amount, told: Callable[[str], None]) -> list[Checked]:
    """Run these parts against one server. `told` gets a line about each result."""
    results = []
    with StandInServer([]) as server, both_providers(server):
        for name in parts:
            found = SERVED[name](server, amount)
            told(f"{name}: {len(found.wrong)} of {found.cases} wrong")
            for line in found.wrong[:MOST_SHOWN]:
                told(f"  {line}")
            results.append(found)
    return results


def people(*, quick: bool) -> Checked:
    """Measure a hundred people beside a model of three seconds, in the whole app (`tests.live.bench`)."""
    from tests.live import bench
    from tests.live.models import PEOPLE as NUMBER

    what, options = (
        f"{NUMBER} people beside a model of 3 s",
        ["--rows", "models", *(["--quick"] if quick else [])],
    )
    try:
        figures = [each for each in asyncio.run(bench.measured(bench.parse(options))) if "model" in each.what]
    except OSError as error:
        return Checked(what, NUMBER, 0, [f"the app could not be reached: {error}"])
    waits = [f"{each.what.partition(': ')[2]} {short(each.value)} {each.unit}" for each in figures]
    missed = [f"{each.what} is above {short(each.aim or 0)} {each.unit}" for each in figures if each.missed]
    note = f"a step's wait: {', '.join(waits)}" + (f" ({'; '.join(missed)})" if missed else "")
    return Checked(what, NUMBER, 0, note=note)


def verdict(wrong: int) -> str:
    """Return the last line's words."""
    return f"{wrong} wrong" if wrong else "nothing was wrong"


def say(line: str) -> None:
    """Print a line of progress."""
    print(f"{time.monotonic() - BEGAN:5.0f} s  {line}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    django.setup()
    sys.exit(main(sys.argv[1:]))
