"""Provide the base class of agents that plan skills and carry each skill out over several steps.

The base class chooses the model, falls back to a rule if the model fails, and remembers the skill of each
seat.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any, ClassVar, Generic, Self, TypeVar

from kitchen.agents.skill_agents.settings import BY_NOBODY, BY_RULE, RANDOM, SkilledOptions
from kitchen.agents.skill_agents.skill_text import wait_steps
from kitchen.contract.agent import REASON_TO_ANSWER, Agent, Decision, Situation, run_without_waiting
from kitchen.contract.agent_skills import (
    WAIT,
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    spell_skill,
    wait_skill,
)
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.decision_notes import NO_COMMAND
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, Intent, Json
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting, why_not_usable


@dataclass(frozen=True, slots=True)
class PlannedSkill:
    """A skill, and how it was chosen."""

    skill: Skill
    by: str
    """The kind of agent that chose it (`Decision.played_by`)."""
    asked: int
    """Steps taken when its choice was asked for."""
    since: int = 0
    """Steps taken when it began."""
    mark: Json = None
    """The world's record when it began (`Skills.mark`)."""

    @classmethod
    def read(cls, stored: Json) -> Self | None:
        """Read a planned skill that `to_json` wrote."""
        return cls(**{**stored, "skill": tuple(stored["skill"])}) if stored else None

    def to_json(self) -> dict[str, Json]:
        """Return the planned skill as JSON for storage."""
        return {**asdict(self), "skill": list(self.skill)}


@dataclass(frozen=True, slots=True)
class SkillMemory:
    """The present and the next skill of one seat."""

    plan: PlannedSkill | None = None
    """The skill in progress."""
    coming: PlannedSkill | None = None
    """The skill that begins after the time for thinking (`think_ticks`)."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Read a memory that `to_json` wrote; empty for anything else."""
        if not isinstance(stored, dict):
            return cls()
        return cls(plan=PlannedSkill.read(stored["plan"]), coming=PlannedSkill.read(stored["coming"]))

    def to_json(self) -> dict[str, Json]:
        """Return the memory as JSON for storage."""
        return {
            "plan": self.plan.to_json() if self.plan else None,
            "coming": self.coming.to_json() if self.coming else None,
        }

    @property
    def newest(self) -> PlannedSkill | None:
        """Return the skill that was planned last."""
        plans = [plan for plan in (self.plan, self.coming) if plan]
        return max(plans, key=lambda plan: plan.asked, default=None)


def with_minimum_wait(skills: Skills, sight: SeatObservation, skill: Skill) -> Skill:
    """Return the skill; a wait gets at least the minimum length of the world."""
    number = wait_steps(skill)
    return wait_skill(max(number, skills.shortest_wait(sight))) if number else skill


def skill_fault(
    seat: int, skill: Skill | None, failed: Sequence[SkillCondition], unread: str = NO_COMMAND
) -> dict[str, Json]:
    """Return the fault of a plan as files count it (`kitchen.contract.decision_notes`); `unread` is the code
    if no skill was read."""
    if skill is None:
        return {"code": unread, "seat": seat, "command": [], "text": "No skill could be read."}
    codes = " ".join(one.code for one in failed)
    return {"code": codes, "seat": seat, "command": list(skill), "text": failed[0].why_not}


def failed_conditions(skills: Skills, sight: SeatObservation, skill: Skill) -> tuple[SkillCondition, ...]:
    """Return the conditions of a skill that do not hold; waiting has none."""
    if wait_steps(skill):
        return ()
    return tuple(one for one in skills.conditions(sight, skill) if not one.holds)


H = TypeVar("H", bound=SkillMemory)


class SeatStep(Generic[H]):
    """One seat in one step. `memory` is the seat's memory as it will be stored."""

    def __init__(
        self, skills: Skills, sight: SeatObservation, options: SkilledOptions, step: int, memory: H
    ) -> None:
        self.skills, self.sight, self.options, self.step = skills, sight, options, step
        self.memory = memory
        self.tries: list[Json] | None = None
        """The attempts of the model; None if it was not asked."""
        self.dropped: Json = None
        self.ended = self._end()
        self._begin()

    def _end(self) -> Json:
        """Remove a skill that has ended and return how it ended; None if none has ended."""
        plan = self.memory.plan
        status = self._status(plan) if plan else UNKNOWN
        if plan is None or status == UNKNOWN:
            return None
        self.memory = replace(self.memory, plan=None)
        return {"skill": spell_skill(plan.skill), "status": status, "since": plan.since + 1}

    @property
    def did(self) -> str:
        """The spelled skill that was completed now; empty if none was, or it was a wait."""
        if not self.ended or self.ended["status"] != SUCCESS or self.ended["skill"].startswith(WAIT):
            return ""
        return str(self.ended["skill"])

    def _status(self, plan: PlannedSkill) -> str:
        taken = self.step - plan.since
        if number := wait_steps(plan.skill):
            return SUCCESS if taken >= number else UNKNOWN
        status = self.skills.status(self.sight, plan.skill, plan.mark)
        late = self.skills.max_steps and taken >= self.skills.max_steps
        return FAIL if status == UNKNOWN and late else status

    def _begin(self) -> None:
        """Begin the skill that was planned for this step, if its conditions still hold."""
        coming = self.memory.coming
        if coming is None or self.step < coming.asked + self.options.think_ticks:
            return
        self.memory = replace(self.memory, coming=None)
        if failed_conditions(self.skills, self.sight, coming.skill):
            self.dropped = spell_skill(coming.skill)
        else:
            self._take_up(coming)

    @property
    def needs_plan(self) -> bool:
        """Return True if the model must be asked."""
        return self.memory.plan is None and self.memory.coming is None

    def take(self, plan: PlannedSkill) -> None:
        """Begin a planned skill now; under a clock with `think_ticks`, begin it after that time."""
        if self.options.think_ticks and self.skills.is_clocked(self.sight):
            self.memory = replace(self.memory, coming=plan)
            self._begin()
        elif failed_conditions(self.skills, self.sight, plan.skill):
            self.dropped = spell_skill(plan.skill)
        else:
            self._take_up(plan)

    def arrive(self, note: Mapping[str, Json], other: H) -> None:
        """Adopt the note and memory of a decision for an earlier step, if this seat was asked then."""
        self.tries = note.get("tries")
        if self.tries is not None:
            self.take_late(other)

    def take_late(self, other: H) -> None:
        """Adopt the plan of a decision for an earlier step, if there is no plan."""
        if other.newest and self.needs_plan:
            self.take(other.newest)

    def _take_up(self, plan: PlannedSkill) -> None:
        mark = None if wait_steps(plan.skill) else self.skills.mark(self.sight, plan.skill)
        self.memory = replace(self.memory, plan=replace(plan, since=self.step, mark=mark))

    @property
    def by(self) -> str:
        """The kind of agent that chose the skill in progress; empty if there is none."""
        return self.memory.plan.by if self.memory.plan else ""

    def command(self, chance: Random) -> Command | None:
        """Return the command of the skill in this step; None to do nothing."""
        plan = self.memory.plan
        if plan is None:
            return None
        if not wait_steps(plan.skill):
            return self.skills.command(self.sight, plan.skill, chance)
        strolls = self.skills.strolls(self.sight) if self.options.wait_moves == RANDOM else ()
        return chance.choice([None, *strolls])

    def intent(self) -> Intent:
        """Return the intent of the seat, for people."""
        return self.skills.intent(self.memory.plan.skill) if self.memory.plan else {}

    def note(self) -> dict[str, Json]:
        """Return the note for the log: which skill ended, the attempts, and the skill in progress. For the
        latter, the steps (from 1) in which it began and was asked for."""
        plan = self.memory.plan
        at = (
            {"skill": spell_skill(plan.skill), "since": plan.since + 1, "asked_in": plan.asked + 1}
            if plan
            else None
        )
        return {
            "at": at,
            **({"ended": self.ended} if self.ended else {}),
            **({"tries": self.tries} if self.tries is not None else {}),
            **({"dropped": self.dropped} if self.dropped else {}),
        }


RESERVE_SECONDS = 1.0
"""Seconds kept back from the time for a decision, so that the fallback is in time; a quarter of it if there
are less than four seconds."""
NOOP_FALLBACK = "noop"
SCENE_GROWTH = 300
"""Maximum number of tokens by which a scene grows beyond the scene of the first step."""
FALLBACK_SENTENCES = {
    BY_RULE: "the stand-in's rule will plan every skill, as the fallback",
    BY_NOBODY: "the teammate will wait in every step, as the fallback",
}


@dataclass(slots=True)
class DecisionParts:
    """The parts of one decision, collected over its seats."""

    commands: dict[int, Command] = field(default_factory=dict)
    seats: dict[str, Json] = field(default_factory=dict)
    """The notes of the seats."""
    memory: dict[str, Json] = field(default_factory=dict)
    """The memory of each seat."""
    faults: list[Json] = field(default_factory=list)
    mended: list[Json] = field(default_factory=list)
    asked: int = 0
    by: list[str] = field(default_factory=list)
    fallback: str = ""
    intents: dict[int, Intent] = field(default_factory=dict)

    @classmethod
    def continue_from(cls, late: Decision | None) -> Self:
        """Continue from the replies of a decision that arrived late."""
        note = late.note if late else {}
        return cls(
            faults=list(note.get("faults", ())),
            mended=list(note.get("mended", ())),
            asked=note.get("asked", 0),
        )

    def add_step(self, carrying: SeatStep[Any], situation: Situation, told: Intent) -> None:
        """Add the result of a seat in this step; `told` is its intent for people."""
        seat = carrying.sight.seat
        self.memory[str(seat)] = carrying.memory.to_json()
        self.seats[str(seat)] = carrying.note()
        if situation.request.asked is None or seat in situation.request.asked:
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            if command := carrying.command(chance):
                self.commands[seat] = command
            self.by.append(carrying.by or NOOP_FALLBACK)
        if told and situation.request.tells:
            self.intents[seat] = told

    def read(self) -> dict[str, Json]:
        """Return how replies were read (`kitchen.contract.decision_notes`); empty if the model was not
        asked."""
        if not self.asked:
            return {}
        return {"faults": self.faults, "mended": self.mended, "asked": self.asked}


class SkilledAgent(Agent):
    """The base class of agents that plan skills. Nothing is kept between steps except `Decision.memory`.
    `Decision.played_by` names the source of the skills: its kind (a language model), `stand-in`, or
    `noop`."""

    skilled: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    options_class: ClassVar[type[SkilledOptions]]
    options: SkilledOptions
    """The settings in their own types."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.options = self.options_class(**self.chosen)
        parse_model_setting(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Return warnings. Without a key, a model's name or a price, the fallback would play every step."""
        provider, model = parse_model_setting(self.options.model)
        return tuple(
            f"{why}: {FALLBACK_SENTENCES[self.options.fallback]}." for why in why_not_usable(provider, model)
        )

    def model(self) -> str:
        """Return the model that the settings name, or the default of this process."""
        return ":".join(parse_model_setting(self.options.model))

    @abstractmethod
    async def decided(
        self, situation: Situation, deadline: float | None, late: Decision | None = None
    ) -> Decision:
        """Return the decision. The model is asked until `deadline`, or not at all if that is None. `late` is
        a late decision for an earlier step."""

    async def decide(self, situation: Situation) -> Decision:
        """Ask the model within the time limit if a skill is needed, and return the decision."""
        return await self.decided(
            situation,
            time.monotonic() + situation.limits.seconds - min(RESERVE_SECONDS, situation.limits.seconds / 4),
        )

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return a decision that continues unfinished skills; seats without one do nothing."""
        return run_without_waiting(self.decided(situation, None))

    def arrived(self, situation: Situation, late: Decision) -> Decision:
        """Adopt the skills of a decision for an earlier step if their conditions still hold. If not, the
        model is asked again at the next step."""
        made = run_without_waiting(self.decided(situation, None, late))
        return replace(made, calls=late.calls, fallback=late.fallback)

    def may_ask(self, situation: Situation, seat: int) -> bool:
        """Return whether a plan for this seat may be requested now."""
        asked = situation.request.asked is None or seat in situation.request.asked
        return asked and situation.request.because != REASON_TO_ANSWER

    def fallback_plan(self, skills: Skills, sight: SeatObservation, step: int) -> PlannedSkill:
        """Return the plan that replaces a missing answer."""
        if self.options.fallback != BY_RULE:
            return PlannedSkill(wait_skill(), NOOP_FALLBACK, step)
        manner = self.options.manner(skills.manner(sight))
        return PlannedSkill(skills.rule(sight, sight.seat, manner), STAND_IN, step)

    def weakest_source(self, by: Iterable[str]) -> str:
        """Return the source of the decision. If the seats differ, it is the weakest one (`noop`, then
        `stand-in`, then its kind)."""
        chose = set(by)
        return next((one for one in (NOOP_FALLBACK, STAND_IN) if one in chose), self.kind)


def memory_of_seat(memory: Json, seat: int) -> Json:
    """Return the memory of one seat."""
    return memory.get(str(seat)) if isinstance(memory, dict) else None
