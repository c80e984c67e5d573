"""Measure how long players waited for their steps, and which waits followed a killed process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from tests.live.killing import Blow
from tests.live.table import markdown
from tests.live.witness import Witness

QUIET_GOALS, BUSY_GOALS = (2.0, 6.0), (1.5, 8.0)
"""The targets, in seconds, for the longest stall after a single kill: the median over the kills, and the
maximum. The second pair is for a machine that others keep busy."""
WORST = 5
"""The number of the longest waits that are listed."""
HEAD = ("what was killed", "times", "processes", "longest stall, p50", "max")


@dataclass(frozen=True, slots=True)
class Table:
    """People who play one episode together."""

    told: str
    """The people and agents of the episode, in words."""
    people: Sequence[Witness]


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait for one step: from the moment when all people wanted to choose, until all pages showed the
    result. Times are in seconds of the monotonic clock."""

    wanted: float
    got: float
    step: int = 0
    table: str = ""

    @property
    def seconds(self) -> float:
        """Return how long the wait took."""
        return self.got - self.wanted


def waits_at(table: Table, now: float) -> list[Wait]:
    """Return the waits for every step that was expected by now."""
    people = table.people
    waits = [
        Wait(
            max(person.wanted.get(step, -inf) for person in people),
            max(person.got.get(step, now) for person in people),
            step,
            table.told,
        )
        for step in {step for person in people for step in person.wanted}
    ]
    return [wait for wait in waits if wait.wanted < now]


def longest_after(blows: Sequence[Blow], waits: Sequence[Wait], end: float) -> list[Wait]:
    """Return for each kill the longest wait for a step in the time until the next kill. A wait belongs to the
    time in which most of it lies."""
    times = [*pairwise([*(blow.at for blow in blows), end])]
    longest = [Wait(begin, begin) for begin, _ in times]
    for wait in waits:
        shares = [min(wait.got, until) - max(wait.wanted, begin) for begin, until in times]
        if shares and max(shares) > 0:
            most = shares.index(max(shares))
            longest[most] = max(longest[most], wait, key=lambda each: each.seconds)
    return longest


def quantile(values: Iterable[float], share: float) -> float:
    """Return the value that this share of the values does not exceed; 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def told_stalls(
    blows: Sequence[Blow], longest: Sequence[Wait], goals: tuple[float, float] = QUIET_GOALS
) -> str:
    """Return a table of the time before the first kill, single kills by victim, all single kills beside the
    targets, pairs, and dense kills."""
    every_one = [*zip(blows, longest, strict=True)]
    singles = [(blow, stall) for blow, stall in every_one if blow.kind == "single"]
    rows = [_row("at rest, before the first kill", [each for each in every_one if each[0].kind == "rest"])]
    rows += [
        _row(name, [each for each in singles if each[0].killed == [name]])
        for name in sorted({name for blow, _ in singles for name in blow.killed})
    ]
    every = _row("**single kills**", singles)
    rows.append((*every[:3], f"{every[3]} (goal {goals[0]:g})", f"{every[4]} (goal {goals[1]:g})"))
    for kind, words in {"pair": "pairs at once", "dense": "one after the other, dense"}.items():
        rows.append(_row(words, [each for each in every_one if each[0].kind == kind]))
    return markdown(HEAD, [row for row in rows if row[1] != "0"])


def told_longest(blows: Sequence[Blow], longest: Sequence[Wait]) -> str:
    """Name the players who had the longest waits after single kills."""
    singles = [each for each in zip(blows, longest, strict=True) if each[0].kind == "single"]
    worst = sorted(singles, key=lambda each: -each[1].seconds)[:WORST]
    return "\n".join(
        f"{wait.seconds:.1f} s after {' and '.join(blow.killed)}: {wait.table}, step {wait.step}, "
        f"wanted {wait.wanted - blow.at:+.1f} s from the kill"
        for blow, wait in worst
    )


def _row(words: str, those: Sequence[tuple[Blow, Wait]]) -> tuple[str, ...]:
    stalls, processes = [wait.seconds for _, wait in those], sum(len(blow.killed) for blow, _ in those)
    seconds = (f"{quantile(stalls, 0.5):.1f} s", f"{max(stalls, default=0.0):.1f} s")
    return words, str(len(those)), str(processes), *seconds
