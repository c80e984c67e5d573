"""Compare a game with the best run that is known of its order: a race in which each handover has a time.

`data/best_runs.toml` has these runs. They were found by trying the reference trajectories with the
assistant's work in every order. Dishes of one level have the same steps, so that a run counts for the last
utensil and the rooms. The page tells how far ahead or behind a handover is, but not how many will come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from pydantic import TypeAdapter

from kitchen.contract.data_files import Record, read_toml
from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked.food_rules import DATA
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.room_layout import LAYOUTS


class BestRun(NamedTuple):
    """The best run that is known: its steps, and the step in which each handover was taken."""

    steps: int
    handovers: tuple[int, ...]


class Pace(NamedTuple):
    """A game beside the best run: for each handover the steps behind it (ahead: below 0; None if the best
    run has none), and how many handovers in a row lost no step on it, up to the newest."""

    behind: tuple[int | None, ...] = ()
    combo: int = 0


class _Row(Record):
    level: int
    utensil: str
    layout: str
    steps: int
    handovers: list[int]


class _File(Record):
    runs: list[_Row]


@cache
def _runs() -> Mapping[tuple[int, str, str], BestRun]:
    source, values = read_toml(DATA / "best_runs.toml")
    rows = source.read(TypeAdapter(_File), values).runs
    return {(one.level, one.utensil, one.layout): BestRun(one.steps, tuple(one.handovers)) for one in rows}


def best_run(brief: Mapping[str, Json]) -> BestRun | None:
    """Return the best run of the order that a brief names. None unless the setting `best_run` is on, and
    without a known run."""
    if not brief.get("best_run"):
        return None
    grid = tuple(brief["grid"])
    layout = next((name for name, one in LAYOUTS.items() if one.grid == grid), "")
    return _runs().get((int(brief["level"]), tasks()[str(brief["order"])].last_utensil, layout))


def pace_beside(taken: Sequence[int], run: BestRun | None) -> Pace:
    """Return how handovers that were taken in these steps compare with the best run."""
    if run is None:
        return Pace()
    pairs = list(zip(taken, run.handovers, strict=False))
    behind = [step - best for step, best in pairs]
    lost = [after - before for before, after in pairwise((0, *behind))]
    combo = sum(1 for _ in takewhile(lambda steps: steps <= 0, reversed(lost)))
    is_beyond = len(taken) > len(pairs)
    return Pace((*behind, *[None] * (len(taken) - len(pairs))), 0 if is_beyond else combo)
