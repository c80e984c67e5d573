"""Decide which members (agents) are asked in a step, and when their decisions take effect, in episodes
without people.

The schedule is a setting of the team's organisation (`kitchen.contract.schedules.SCHEDULES`). Thinking takes
`think_steps` steps of the game, not real time: a member is asked at once, and its decision takes effect that
many steps later. Until then, its seats continue their plans or wait. Its messages are sent when the decision
takes effect, before others are asked. Plain Python.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

from kitchen.agents.agent_team import DecisionMade
from kitchen.contract.agent import LateDecision
from kitchen.contract.organisation import Organisation
from kitchen.contract.schedules import DROP, FREE, IN_ROUNDS, TAKE
from kitchen.contract.world import Command, World

THINKING, WAITING = "thinking", "waiting"
"""`chosen_by` of the idle command of a seat whose member thinks, or may not be asked yet by the schedule."""


@dataclass(frozen=True, slots=True)
class MemberActivity:
    """Sets of member numbers, grouped by what the members do at the start of a step."""

    wants: Set[int]
    """Members with a reason to be asked."""
    acting: Set[int]
    """Members with a seat whose command is known: a plan, a lasting action, or a delayed decision."""
    working: Set[int]
    """Members with a job that they accepted and did not give to somebody else."""
    called: Set[int]
    """Members with a new job that they have not heard of."""


class AskingSchedule:
    """Decide for one episode who is asked in each step, and hold the decisions that have not taken effect
    yet."""

    def __init__(self, organisation: Organisation) -> None:
        self.organisation = organisation
        self.pending: dict[int, DecisionMade] = {}
        """The decision of each member that thinks, by its number."""
        self.asked_in: dict[int, int] = {}
        """The step in which each member was last asked."""
        self.late: dict[int, tuple[LateDecision, ...]] = {}
        """What each member must be told about its last decision."""
        self._turn, self._turn_began = organisation.numbers[0], 1

    def due_in(self, step: int, *, planned: bool) -> int:
        """Return the step in which a decision takes effect that was requested in `step`. Return 0 if the
        member did not plan (`planned`)."""
        return step + self.organisation.think_steps if planned else 0

    def remember(self, made: DecisionMade, step: int) -> None:
        """Note that a member was asked in this step, and store its decision if it takes effect later."""
        self.asked_in[made.member] = step
        self.late.pop(made.member, None)
        if made.due > step:
            self.pending[made.member] = made

    def take_due(self, step: int) -> list[DecisionMade]:
        """Remove and return the delayed decisions that take effect in this step. Their members can then be
        asked again."""
        due = [made for _, made in sorted(self.pending.items()) if made.due == step]
        for made in due:
            del self.pending[made.member]
        return due

    def stale_commands(
        self, made: DecisionMade, game: World, settled: Collection[int]
    ) -> Mapping[int, Command]:
        """Return the commands of a delayed decision that must be dropped, by seat. The member is informed
        of them when it is next asked. Commands of `settled` seats, whose command cannot be changed in this
        step, are always dropped."""
        stale = {
            seat: command
            for seat, command in made.commands.items()
            if seat in settled or not (self.organisation.stale == TAKE or game.allows(seat, command))
        }
        if stale and self.organisation.stale == DROP:
            stale = dict(made.commands)
        if stale:
            self.late[made.member] = (LateDecision(made.due, stale, stale=True),)
        return stale

    def is_interruptible(self, seats: Collection[int]) -> bool:
        """Return whether a message or event is a reason to ask a member while all its seats are busy. True
        for a member without seats, and in the schedule `FREE`."""
        return not seats or self.organisation.schedule == FREE

    def members_to_ask(self, step: int, now: MemberActivity) -> set[int]:
        """Return the numbers of the members that are asked in this step. Call it once in each step,
        because it may also pass the turn to the next member."""
        free = now.wants - self.pending.keys()
        if self.organisation.schedule == FREE:
            return free
        if self.organisation.schedule == IN_ROUNDS:
            is_over = not (self.pending or now.acting or free & now.working)
            return free if is_over else free & (now.working | now.called)
        if not self._keeps_turn(now, free):
            self._pass_turn(step, free)
        return free & {self._turn}

    def _keeps_turn(self, now: MemberActivity, free: Set[int]) -> bool:
        """Return whether the turn of a relay stays with its member, which has not finished yet."""
        if self._turn in self.pending or self._turn in now.acting:
            return True
        has_decided = self.asked_in.get(self._turn, 0) >= self._turn_began
        return self._turn in free and (self._turn in now.working or not has_decided)

    def _pass_turn(self, step: int, free: Set[int]) -> None:
        """Give the turn to the next member, in their order, that has a reason to be asked."""
        numbers = self.organisation.numbers
        place = numbers.index(self._turn) + 1
        for number in (*numbers[place:], *numbers[:place]):
            if number in free:
                self._turn, self._turn_began = number, step
                return
