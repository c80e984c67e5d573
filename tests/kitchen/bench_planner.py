"""`python -m tests.kitchen.bench_planner`: how strong the planner is over the paper's 36 cells, and how long
it thinks with four agents on the largest level.

Same seeds, same score: a lower one than before is the planner's own doing. Times are this machine's. More
`--seeds` (episodes for each cell and interval) make the means firmer. Exit 1 where a mean is below the aim.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from statistics import median, quantiles

from kitchen.coplayers.evaluate import play_alone
from kitchen.experiments import paper
from kitchen.experiments.plan import jobs_of
from kitchen.experiments.play import play
from kitchen.experiments.results import CellResult, by_agents, mean_of, results_of
from kitchen.experiments.setup import ALPHAS, WORLD, Setup, checked
from kitchen.experiments.summary import last_line
from kitchen.worlds.registry import get_world

AIM = {2: 0.83, 3: 0.91, 4: 0.93}
"""The least mean CoS over the 12 levels, by agents."""
MILLISECONDS = 20
"""The longest median decision with AGENTS on the largest level."""
AGENTS = 4


def size_of(level: str) -> int:
    """What there is to plan with: places to go to, and things that go into dishes or come out."""
    brief = get_world(WORLD).create(seats=AGENTS, settings={"level": level}).brief(0)
    return len(brief["locations"]) + len(brief["base"]) + len(brief["recipes"])


def thinking() -> str:
    """One episode at each interval on the largest level, alone on this processor."""
    largest = max(paper.levels(), key=size_of)
    times = [
        spent
        for alpha in ALPHAS
        for spent in play_alone(
            "planner", seats=AGENTS, settings={"level": largest, "alpha": alpha}, seed=1
        ).milliseconds
    ]
    return (
        f"planner: median {median(times):.1f} ms, p90 {quantiles(times, n=10)[8]:.1f} ms a decision"
        f" ({AGENTS} agents on {largest}, the largest with {size_of(largest)} places and items,"
        f" {len(times)} decisions; aim: median {MILLISECONDS} ms)"
    )


def scores(seeds: int, processes: int) -> tuple[CellResult, ...]:
    """Every cell played, as an experiment plays it."""
    setup = checked(Setup(episodes=seeds))
    one = partial(play, coplayer=setup.coplayer, settings=setup.settings)
    with multiprocessing.Pool(processes, initializer=warnings.simplefilter, initargs=("ignore",)) as pool:
        return results_of(setup, pool.map(one, jobs_of(setup), chunksize=5))


def missed(results: Sequence[CellResult]) -> list[str]:
    """Which means are below the aim, in words."""
    means = {agents: mean_of(each.cos for each in cells) for agents, cells in by_agents(results).items()}
    return [
        f"{agents} agents: {means[agents]:.3f} is below the aim of {aim}"
        for agents, aim in AIM.items()
        if (means[agents] or 0.0) < aim
    ]


def main() -> int:
    """Print both, the mean CoS last; 1 if it is below the aim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="episodes for each cell and interval (2)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many play at once")
    given = parser.parse_args()
    if given.seeds < 1:
        parser.error("--seeds: at least 1")
    warnings.simplefilter("ignore")
    print(thinking(), flush=True)
    results = scores(given.seeds, given.processes)
    below = missed(results)
    aims = ", ".join(f"{agents} agents {aim}" for agents, aim in AIM.items())
    print(f"aim: {aims}; played: {given.seeds} episodes for each cell and interval")
    print("\n".join([*below, last_line(results)]))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
