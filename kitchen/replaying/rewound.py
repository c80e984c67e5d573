"""The turn of an episode as it was open after so many steps: for what was seen and decided then.

It is read from a record alone, and nothing of it is ever stored.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from kitchen.contract.agent import PLAN_BROKEN, TO_ANSWER
from kitchen.contract.plans import WORLD, Plan, may_act
from kitchen.contract.world import Intent, Json, World
from kitchen.machine.statements import Statements
from kitchen.play.intents import KEY as INTENTS
from kitchen.play.models import Episode, Mind, SeatCommand
from kitchen.play.past import PastStep
from kitchen.play.stored import read_stored_command
from kitchen.play.turns import HISTORY, OpenTurn
from kitchen.replaying.record import Record


class NothingIsStoredError(RuntimeError):
    """Somebody wanted to change a turn that is over."""


class _Nowhere(Statements):
    def insert(self, model: Any, rows: Any) -> None:
        raise NothingIsStoredError

    def change(self, model: Any, fresh: Any, *, where: Any) -> bool:
        raise NothingIsStoredError


class Rewound(OpenTurn):
    """The step after `steps`, with the commands that seats had when it opened; at least so many `messages`
    had been said, and all of the steps before it. `world` is as it was then. There is no money in it."""

    store = _Nowhere()

    def __init__(self, record: Record, steps: int, world: World, messages: int = 0) -> None:
        episode = _as_it_was(record, steps, world)
        episode.messages = max(messages, sum(each.step <= steps for each in record.messages))
        super().__init__(episode, record.seats)
        self.record, self.steps = record, steps
        self._world, self.is_read = world, True
        self._sent = [each for each in record.messages if each.number <= episode.messages]
        self.given = {row.seat: row for row in _settled(record, steps + 1)}
        self._unasked = {
            seat for seat, row in self.given.items() if row.chosen_by == WORLD and may_act(world, seat)
        }
        for seat in self._unasked:  # it was given only when the step ran
            del self.given[seat]

    @property
    def may_act(self) -> set[int]:
        """Seats that the step did not wait for, and that did nothing although they could."""
        return self._unasked

    @cached_property
    def past(self) -> deque[PastStep]:
        """The last steps, newest first."""
        rows = self.record.steps[max(0, self.steps - HISTORY) : self.steps]
        past = (PastStep(row.number, row.commands, row.events, row.chain) for row in reversed(rows))
        return deque(past, HISTORY)

    @cached_property
    def minds(self) -> list[Mind]:
        """The co-players in order."""
        return self.record.minds

    @cached_property
    def memories(self) -> dict[int, Json]:
        """What each mind wanted to remember of the steps before, and of its answers in this one."""
        known = (
            row
            for row in self.record.decisions
            if not row.dropped
            and (row.step <= self.steps or (row.step == self.step and row.because == TO_ANSWER))
        )
        return {mind.pk: None for mind in self.minds} | {row.mind_id: row.memory for row in known}

    @cached_property
    def intents(self) -> dict[int, Intent]:
        """What co-players said of what they will do next, where the episode showed it."""
        if not self.episode.shows_intents:
            return {}
        of_step = (row for row in self.record.decisions if row.step == self.steps and not row.dropped)
        notes = [row.note for row in sorted(of_step, key=lambda row: row.pk)]
        said = [note[INTENTS] for note in notes if isinstance(note, dict) and INTENTS in note]
        return {int(seat): intent for each in said for seat, intent in each.items()}

    @property
    def plans(self) -> dict[int, Plan]:
        """What seats did next, after this step, without being asked: as it came, or was dropped."""
        found = {seat: _plan_of(self.record, seat, self.steps) for seat in self.numbers}
        return {seat: plan for seat, plan in found.items() if plan is not None}


def _as_it_was(record: Record, steps: int, world: World) -> Episode:
    """The episode's row as it stood after so many steps."""
    episode, is_last = copy.copy(record.episode), steps >= record.episode.step
    episode.step, episode.score, episode.budget_id = steps, world.score(), None
    if is_last:  # with the figures that were computed from the log
        episode.score = {**record.episode.score, **episode.score}
    episode.turn_closes_at = episode.asked_at = None
    if steps:
        episode.turn_opened_at = record.steps[steps - 1].taken_at
    if not is_last:
        episode.status, episode.ended_because = Episode.Status.PLAYING, ""
    gone = {seat: each for seat, each in (episode.gone or {}).items() if each["step"] <= steps + 1}
    episode.gone = gone or None
    return episode


def _settled(record: Record, step: int) -> Iterable[SeatCommand]:
    """The commands that a step opened with: of seats with a plan, or without anything to choose."""
    of_step = (row for row in record.commands if row.step == step)
    return [row for row in of_step if row.chosen_by == WORLD or row.planned_in is not None]


def _plan_of(record: Record, seat: int, steps: int) -> Plan | None:
    """What was left of a seat's plan when the step after these had opened, as far as the log tells: what it
    did of it later, and what was then dropped."""
    later = [row for row in record.commands if row.seat == seat and row.step > steps + 1]
    given = next((row.planned_in for row in later if row.planned_in is not None), None)
    broken = _broken(record, seat, steps)
    made_in = given if given is not None else (broken or {}).get("planned_in")
    if made_in is None or made_in > steps:
        return None
    then = [read_stored_command(row.command) for row in later if row.planned_in == made_in]
    if broken and broken["planned_in"] == made_in:
        then += map(read_stored_command, broken["left"])
    first = next(row for row in record.commands if row.seat == seat and row.step == made_in)
    return Plan(tuple(then), first.chosen_by, first.fallback, made_in) if then else None


def _broken(record: Record, seat: int, steps: int) -> dict[str, Any] | None:
    """The first plan of this seat that was dropped after these steps."""
    events = (event for row in record.steps[steps:] for event in row.events)
    return next((each for each in events if each["kind"] == PLAN_BROKEN and each["seat"] == seat), None)
