"""Measure how fast live play is, over the product's websockets: `python -m tests.live.bench [--database
postgres] [--quick] [--rows alone,twenty] [--strict]`.

The product runs as with `make run`, in a folder of its own. All players are programs in one more process,
whose small share of the processor is printed. A bare echo server is measured in the same run; it shows the
best that the machine can do. Times depend on other work of the machine, so a missed target gives exit code 1
only with `--strict`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from brigade.one_line_parser import OneLineParser
from tests.live import rows
from tests.live.bare import Echoed, echo_measured
from tests.live.books import Books
from tests.live.capacity import capacity
from tests.live.flood import flood
from tests.live.idle import idle
from tests.live.models import models, models_served
from tests.live.options import number, some_of
from tests.live.rows import Bench
from tests.live.stack import running
from tests.live.staff_requests import api, downloads, reports
from tests.live.strangers import logins
from tests.live.table import Figure, table
from tests.live.uploads import uploads

Row = Callable[[Bench], Awaitable[list[Figure]]]

ROWS: Mapping[str, Row] = {
    "alone": rows.alone,
    "random": rows.random,
    "planner": rows.planner,
    "twenty": rows.twenty,
    "crowd": rows.crowd,
    "crowd-planner": rows.crowd_planner,
    "knee": rows.knee,
    "step": rows.step,
    "idle": idle,
    "capacity": capacity,
    "flood": flood,
    "logins": logins,
    "downloads": downloads,
    "reports": reports,
    "api": api,
    "models": models,
    "uploads": uploads,
}
"""The benchmark's rows by name, as in `--rows`."""
USUAL = [name for name in ROWS if name != "capacity"]
"""The rows that are measured by default."""
QUICK = 0.3
"""The fraction of each period that is measured with `--quick`."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print the rows. Return the exit code."""
    asked = parse(arguments)
    figures = asyncio.run(measured(asked))
    print(f"\n{table(figures)}\n\n{time.monotonic() - BEGAN:.0f} s in all", flush=True)
    return int(asked.strict and any(figure.missed for figure in figures))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command-line options."""
    parser = OneLineParser(prog="python -m tests.live.bench", description="How quick live play is.")
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument(
        "--web", type=number(1, 64), default=0, help="web processes; else as many as make run starts"
    )
    parser.add_argument("--quick", action="store_true", help="short stretches, about two minutes in all")
    parser.add_argument("--rows", type=some_of(ROWS), default=USUAL, help=",".join(ROWS))
    parser.add_argument("--strict", action="store_true", help="exit 1 where an aim is missed")
    return parser.parse_args(arguments)


async def measured(asked: argparse.Namespace) -> list[Figure]:
    """Measure every requested row."""
    scale = QUICK if asked.quick else 1.0
    echo = await echo_measured(4 * scale)
    say(f"bare echo: {echo.alone.p50:.2f} ms alone, {echo.twenty.rate:.0f}/s of 20")
    figures = echoes(echo)
    variables = {"BRIGADE_WEB": str(asked.web)} if asked.web else {}
    with (
        models_served("models" in asked.rows) as served,
        running(asked.database, **variables, **served) as stack,
        Books(stack.environment) as books,
    ):
        say(f"{stack.told}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        bench = Bench(stack, books, echo, scale, say)
        for name in asked.rows:
            figures += await ROWS[name](bench)
    return figures


def echoes(echo: Echoed) -> list[Figure]:
    """Measure the echo server, with which the rows are compared."""
    return [
        Figure("bare echo, one socket: p50", echo.alone.p50, "ms"),
        Figure("bare echo, 20 sockets: rate", echo.twenty.rate, "messages/s"),
        Figure("bare echo, 200 sockets every 2 s: p99", echo.crowd.p99, "ms"),
    ]


BEGAN = time.monotonic()


def say(line: str) -> None:
    """Print a line of progress."""
    print(f"{time.monotonic() - BEGAN:5.0f} s  {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
