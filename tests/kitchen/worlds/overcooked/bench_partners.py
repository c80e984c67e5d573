"""Measure how well pairs of agents play each classic layout over ten seeds, and how long a decision takes.

    python -m tests.kitchen.worlds.overcooked.bench_partners

Exit code 1: a mean is more than one soup below that of the prototype, or a planner needed more than `QUICK`
for a decision. Garbage collection ignores the objects loaded at the start, as in a clock process. ProAgent
plays with a rule in place of its model. The values of the paper, also for learned partners, are printed
below.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from statistics import mean

from kitchen.worlds.overcooked.bench.pairing_benchmark import published_data, published_means
from tests.kitchen.worlds.overcooked.pairs import LAYOUTS, LEAST, PLANNER, PROAGENT, WITH_RULES, play

SEEDS = 10
A_SOUP = 20
QUICK = 5.0
"""The maximum time of a planner's decision, in milliseconds."""


def main() -> int:
    """Print the table. Return 1 if a score is too low or a decision too slow."""
    low, slowest = 0, {PLANNER: 0.0, PROAGENT: 0.0}
    gc.collect()
    gc.freeze()
    print(" ".join(("seat 0, seat 1".ljust(28), *LAYOUTS)))
    for pair, least in {**LEAST, **WITH_RULES}.items():
        cells = []
        for layout, wanted in zip(LAYOUTS, least, strict=True):
            played = [play(layout, pair, seed) for seed in range(SEEDS)]
            kind = PROAGENT if PROAGENT in pair else PLANNER
            slowest[kind] = max(slowest[kind], *(each.slowest for each in played))
            found = mean(each.points for each in played)
            low += found < wanted - A_SOUP
            cells.append(f"{found:.0f} ({wanted})".rjust(len(layout)))
        print(" ".join((", ".join(pair).ljust(28), *cells)))
    for kind, took in slowest.items():
        print(f"slowest decision beside {kind} {took:.1f} ms of processor time")
    for line in printed():
        print(line)
    return int(low > 0 or slowest[PLANNER] > QUICK)


def printed() -> Iterator[str]:
    """Return the paper's table, with one line for each layout and seat."""
    yield f"as printed: {published_data()['source']}"
    for layout in LAYOUTS:
        for seat in (0, 1):
            cells = (
                f"{name} {one.points} ± {one.spread}" for name, one in published_means(layout, seat).items()
            )
            yield f"{layout} {seat}: {', '.join(cells)}"


if __name__ == "__main__":
    sys.exit(main())
