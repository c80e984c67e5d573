"""Measure the processor time of a run: in seconds, and in units that machines of any speed can compare.

    with measured() as cost:
        ...
    print(cost.seconds, cost.units)

A unit is a share of the time that a fixed piece of Python takes on the same machine during the same run. The
run slows down with the piece where the machine is slow or others use it."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

from kitchen.infra.os_processes import adopt_orphans

UNITS = 1000 / 168_949
"""The number of units for each time that the piece could have run.

`make test` of 24 November 2026, before it was made cheaper, counts as 1,000 units. It took 1,655.2 processor
seconds. The piece took 0.00980 s: the median of 110 runs, one every 10 s, on a machine with two cores.
"""
SECONDS = 10.0
"""Seconds between two measurements of the piece."""
LAST = 5.0
"""Seconds that processes have to end after the run."""

PIECE = """
import time
def piece():
    table = {}
    for number in range(60_000):
        key = str(number % 997)
        table[key] = table.get(key, 0) + len(key) * number
    words = sorted(table, key=lambda key: (table[key], key))
    return sum(len(word) for word in words if word.startswith("1"))
best = []
for _ in range(5):
    began = time.process_time(); piece(); best.append(time.process_time() - began)
print(sorted(best)[2])
"""
"""The piece of Python that is timed. If you change it, measure `UNITS` again."""


@dataclass(slots=True)
class Cost:
    """The processor time of a run. Both numbers are 0 until the run is over."""

    seconds: float = 0.0
    """Processor seconds of this process and all its descendants."""
    units: float = 0.0
    pieces: list[float] = field(default_factory=list)
    """The processor seconds of each run of the piece."""


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure the processor time of this block. At its end, wait for processes that outlived their
    parents."""
    cost, over = Cost(), Event()
    adopt_orphans()
    before = processor_seconds()
    timing = Thread(target=time_pieces, args=(cost.pieces, over))
    timing.start()
    try:
        yield cost
    finally:
        over.set()
        timing.join()
        reap_orphans(LAST)
        cost.seconds = processor_seconds() - before
        cost.units = UNITS * cost.seconds / statistics.median(cost.pieces)


def time_pieces(found: list[float], over: Event) -> None:
    """Time the fixed piece of Python at once, and repeatedly until the run is over."""
    while True:
        command = [sys.executable, "-I", "-S", "-c", PIECE]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(float(done.stdout))
        if over.wait(SECONDS):
            return


def reap_orphans(seconds: float) -> None:
    """Collect all ended child processes; stop after this number of seconds."""
    end = time.monotonic() + seconds
    with suppress(ChildProcessError):  # there is none left
        while time.monotonic() < end:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.05)


def processor_seconds() -> float:
    """Return the processor seconds so far of this process and of all its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
