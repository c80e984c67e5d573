"""What seats did in an episode, in runs of the same kind of action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from kitchen.contract.world import World
from kitchen.play.models import Step
from kitchen.play.stored import read_stored_command
from kitchen.registry.worlds import get_world
from kitchen.replaying.record import Record

REFUSED, OTHER = "refused", "other"
MOST = 4
"""Kinds of action that are told apart, the most frequent ones, beside what was refused and waiting."""


@dataclass(frozen=True, slots=True)
class Run:
    """Steps `first` to `last`, both included, in which a seat did the same kind of thing."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True)
class Activity:
    """What all seats did. `idle` is the kind of what a seat does that waits."""

    runs: Mapping[int, tuple[Run, ...]]
    """By seat, in order."""
    idle: str

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """All kinds that there are, by name; waiting is the last."""
        found = {run.kind for runs in self.runs.values() for run in runs}
        return tuple(sorted(found, key=lambda kind: (kind == self.idle, kind)))

    def name_of(self, kind: str) -> str:
        """The kind as figures call it."""
        return f"waits ({kind})" if kind == self.idle else kind

    def steps_of(self, seat: int) -> dict[str, int]:
        """In how many steps a seat did each of `kinds`."""
        total = Counter[str]()
        for run in self.runs[seat]:
            total[run.kind] += run.last - run.first + 1
        return {kind: total[kind] for kind in self.kinds}


def activity_of(record: Record) -> Activity:
    """From the log. UnknownNameError for a world that is not known here."""
    world = get_world(record.episode.world)
    done = [(row.number, _done(row, world)) for row in record.steps]
    idle = world.kind_of(world.idle)
    own = Counter(kind for _, kinds in done for kind in kinds.values() if kind not in {idle, REFUSED})
    told = {idle, REFUSED, *(kind for kind, _ in own.most_common(MOST if len(own) > MOST + 1 else None))}
    seats = sorted({seat for _, kinds in done for seat in kinds})
    return Activity({seat: tuple(_runs(done, seat, told)) for seat in seats}, idle)


def _done(row: Step, world: type[World]) -> dict[int, str]:
    """By seat: the kind of its command, or that it was refused."""
    kinds = {each["seat"]: world.kind_of(read_stored_command(each["command"])) for each in row.commands}
    return kinds | {each["seat"]: REFUSED for each in row.events if each["kind"] == REFUSED}


def _runs(done: list[tuple[int, dict[int, str]]], seat: int, told: set[str]) -> Iterator[Run]:
    known = [(step, kinds[seat]) for step, kinds in done if seat in kinds]
    for kind, steps in groupby(known, lambda each: each[1] if each[1] in told else OTHER):
        numbers = [step for step, _ in steps]
        yield Run(kind, numbers[0], numbers[-1])
