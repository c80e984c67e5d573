"""What those who played did in episodes, from the log: refused commands, steps in which nothing was done,
time to think, work. Nothing here changes anything.

A seat's own steps are those that its person, or nobody in their place, commanded: not what a co-player did
who took over, not steps in which there was nothing to choose, nor those that an outage of ours closed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from kitchen.contract.world import World
from kitchen.play.clock import NO_KEY, PERSON, TIMEOUT
from kitchen.play.models import Step
from kitchen.play.stored import read_stored_command
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world

OWN = frozenset((PERSON, TIMEOUT, NO_KEY))
"""`chosen_by` in a seat's own steps."""
AT_ONCE = 200
"""Episodes whose steps one query reads."""
ROWS = 500
"""Steps that are held at once."""


@dataclass(slots=True)
class Conduct:
    """What was counted of one seat's own steps in one episode, and of the work of all seats."""

    steps: int = 0
    commands: int = 0
    """Given by the person, in a plan too."""
    refused: int = 0
    """Of these."""
    idle: int = 0
    """Steps in which it waited, was refused, or gave no command."""
    turns: int = 0
    """In which the person was asked and gave a command, where no clock took the steps."""
    seconds: float = 0.0
    """In all of these, from when they opened to the command."""
    work: int = 0
    """Commands of the person that were carried out and neither waited nor moved."""
    all_work: int = 0
    """Such commands of everybody in the episode."""

    @property
    def refused_share(self) -> float | None:
        """Of the person's commands; None where they gave none."""
        return self.refused / self.commands if self.commands else None

    @property
    def idle_share(self) -> float | None:
        """Of the seat's own steps; None where there is none."""
        return self.idle / self.steps if self.steps else None

    @property
    def thinking_seconds(self) -> float | None:
        """The mean of a turn; None where there is none."""
        return self.seconds / self.turns if self.turns else None

    @property
    def work_share(self) -> float | None:
        """Of everybody's; None where nobody worked, or the person never had this seat."""
        return self.work / self.all_work if self.all_work and self.steps else None


Seated = tuple[int, int]
"""Episode and seat."""


def conduct_by_seat(episodes: Collection[int]) -> dict[Seated, Conduct]:
    """Of every seat that had a step of its own in these episodes; each step is read once. Nothing of worlds
    that are not known here."""
    found: dict[Seated, Conduct] = {}
    wanted = sorted(episodes)
    for first in range(0, len(wanted), AT_ONCE):
        for episode, steps in groupby(_steps(wanted[first : first + AT_ONCE]), itemgetter(0)):
            found |= {(episode, seat): conduct for seat, conduct in _of_episode(steps).items()}
    return found


def _steps(episodes: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Episode, its world, whether a clock took its steps, then what it has of each step."""
    fields = ("episode_id", "episode__world", "episode__tick_ms", "commands", "events", "opened_at")
    return (
        Step.objects.filter(episode__in=episodes)
        .order_by("episode_id", "number")
        .values_list(*fields)
        .iterator(chunk_size=ROWS)
    )


def _of_episode(steps: Iterable[tuple[Any, ...]]) -> Mapping[int, Conduct]:
    by_seat: dict[int, Conduct] = {}
    all_work = 0
    for _, name, tick_ms, commands, events, opened_at in steps:
        world = _world(name)
        if world is None:
            return {}
        refused = {each["seat"] for each in events if each["kind"] == "refused"}
        for given in commands:
            seat = given["seat"]
            kind = _kind(world, given, seat in refused)
            all_work += kind == "work"
            if given["chosen_by"] in OWN:
                _count(by_seat.setdefault(seat, Conduct()), given, kind, None if tick_ms else opened_at)
    for conduct in by_seat.values():
        conduct.all_work = all_work
    return by_seat


def _world(name: str) -> type[World] | None:
    try:
        return get_world(name)
    except UnknownNameError:
        return None


def _kind(world: type[World], given: Mapping[str, Any], refused: bool) -> str:
    """What became of a command: `refused`, `idle`, `moved` or `work`."""
    if refused:
        return "refused"
    kind = world.kind_of(read_stored_command(given["command"]))
    if kind == world.kind_of(world.idle):
        return "idle"
    return "moved" if kind in world.moves else "work"


def _count(conduct: Conduct, given: Mapping[str, Any], kind: str, opened_at: datetime | None) -> None:
    """`opened_at`: of the turn; None under a clock."""
    conduct.steps += 1
    conduct.idle += kind in ("idle", "refused")
    if given["chosen_by"] != PERSON:
        return
    conduct.commands += 1
    conduct.refused += kind == "refused"
    conduct.work += kind == "work"
    if opened_at is not None and given.get("planned_in") is None:
        conduct.turns += 1
        conduct.seconds += max(
            0.0, (datetime.fromisoformat(given["received_at"]) - opened_at).total_seconds()
        )
