"""A skill over the steps that it takes: whether it is done, taking up the next one, its commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Generic, TypeVar

from kitchen.agents.skilled.plan import Held, Plan, failed
from kitchen.agents.skilled.settings import RANDOM, SkilledOptions
from kitchen.agents.skilled.wording import waits
from kitchen.contract.skills import WAIT, Sight, Skills, spelled
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, Intent, Json

H = TypeVar("H", bound=Held)


class Carrying(Generic[H]):
    """One seat in one step. `memory` is that of the seat as it will be stored."""

    def __init__(self, skills: Skills, sight: Sight, options: SkilledOptions, step: int, memory: H) -> None:
        self.skills, self.sight, self.options, self.step = skills, sight, options, step
        self.memory = memory
        self.tries: list[Json] | None = None
        """What it was asked for; None where it was not."""
        self.dropped: Json = None
        self.ended = self._end()
        self._begin()

    def _end(self) -> Json:
        """What became of the skill that is at its end now; None where there is none at its end."""
        plan = self.memory.plan
        status = self._status(plan) if plan else UNKNOWN
        if plan is None or status == UNKNOWN:
            return None
        self.memory = replace(self.memory, plan=None)
        return {"skill": spelled(plan.skill), "status": status, "since": plan.since + 1}

    @property
    def did(self) -> str:
        """The skill that is done now, as it is spelled; empty where none is. Who waited did nothing."""
        if not self.ended or self.ended["status"] != SUCCESS or self.ended["skill"].startswith(WAIT):
            return ""
        return str(self.ended["skill"])

    def _status(self, plan: Plan) -> str:
        taken = self.step - plan.since
        if number := waits(plan.skill):
            return SUCCESS if taken >= number else UNKNOWN
        status = self.skills.status(self.sight, plan.skill, plan.mark)
        late = self.skills.patience and taken >= self.skills.patience
        return FAIL if status == UNKNOWN and late else status

    def _begin(self) -> None:
        """What was planned for now is taken up if it still holds."""
        coming = self.memory.coming
        if coming is None or self.step < coming.asked + self.options.think_ticks:
            return
        self.memory = replace(self.memory, coming=None)
        if failed(self.skills, self.sight, coming.skill):
            self.dropped = spelled(coming.skill)
        else:
            self._take_up(coming)

    @property
    def needs_plan(self) -> bool:
        """Whether the model is to be asked."""
        return self.memory.plan is None and self.memory.coming is None

    def take(self, plan: Plan) -> None:
        """What was planned: for now, or for when its time has come where thinking takes so many ticks."""
        if self.options.think_ticks and self.skills.is_clocked(self.sight):
            self.memory = replace(self.memory, coming=plan)
            self._begin()
        elif failed(self.skills, self.sight, plan.skill):
            self.dropped = spelled(plan.skill)
        else:
            self._take_up(plan)

    def arrive(self, note: Mapping[str, Json], other: H) -> None:
        """What a decision of an earlier step noted and remembers of this seat, if it was asked for then."""
        self.tries = note.get("tries")
        if self.tries is not None:
            self.take_late(other)

    def take_late(self, other: H) -> None:
        """What a decision of an earlier step remembers: its plan is taken up where there is none."""
        if other.newest and self.needs_plan:
            self.take(other.newest)

    def _take_up(self, plan: Plan) -> None:
        mark = None if waits(plan.skill) else self.skills.mark(self.sight, plan.skill)
        self.memory = replace(self.memory, plan=replace(plan, since=self.step, mark=mark))

    @property
    def by(self) -> str:
        """Who chose what is carried out; empty where nothing is."""
        return self.memory.plan.by if self.memory.plan else ""

    def command(self, chance: Random) -> Command | None:
        """What the skill is in this step; None to do nothing."""
        plan = self.memory.plan
        if plan is None:
            return None
        if not waits(plan.skill):
            return self.skills.command(self.sight, plan.skill, chance)
        strolls = self.skills.strolls(self.sight) if self.options.wait_moves == RANDOM else ()
        return chance.choice([None, *strolls])

    def intent(self) -> Intent:
        """What it is at, for people."""
        return self.skills.intent(self.memory.plan.skill) if self.memory.plan else {}

    def note(self) -> dict[str, Json]:
        """For the log: what ended, what was tried, what it is at, since which step (from 1), and asked for in
        which."""
        plan = self.memory.plan
        at = (
            {"skill": spelled(plan.skill), "since": plan.since + 1, "asked_in": plan.asked + 1}
            if plan
            else None
        )
        return {
            "at": at,
            **({"ended": self.ended} if self.ended else {}),
            **({"tries": self.tries} if self.tries is not None else {}),
            **({"dropped": self.dropped} if self.dropped else {}),
        }
