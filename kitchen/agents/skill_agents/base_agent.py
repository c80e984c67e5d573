"""Provide the base class of agents that plan skills (actions of several steps) and carry them out.

The base class selects the language model and remembers each player's current skill. If the model fails, a
rule chooses the skill.
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
from kitchen.llm.provider_registry import (
    STAND_IN,
    parse_model_setting,
    unlisted_model_remarks,
    why_not_usable,
)


@dataclass(frozen=True, slots=True)
class PlannedSkill:
    """A skill, the agent that chose it, and the steps in which the skill was requested and begun."""

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
        """Return a planned skill from the output of `to_json`; None for an empty value."""
        return cls(**{**stored, "skill": tuple(stored["skill"])}) if stored else None

    def to_json(self) -> dict[str, Json]:
        """Return the planned skill as JSON for storage."""
        return {**asdict(self), "skill": list(self.skill)}


@dataclass(frozen=True, slots=True)
class SkillMemory:
    """The skill in progress and the next skill of one seat."""

    plan: PlannedSkill | None = None
    """The skill in progress."""
    coming: PlannedSkill | None = None
    """The skill that begins after the time for thinking (`think_ticks`)."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """Return the memory that `to_json` stored; an empty memory for any other value."""
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
        """Return the skill in progress or the one that begins next, whichever was planned last. None if there
        is none."""
        plans = [plan for plan in (self.plan, self.coming) if plan]
        return max(plans, key=lambda plan: plan.asked, default=None)


def with_minimum_wait(skills: Skills, sight: SeatObservation, skill: Skill) -> Skill:
    """Return a wait that lasts at least the world's minimum time. Return any other skill unchanged."""
    number = wait_steps(skill)
    return wait_skill(max(number, skills.shortest_wait(sight))) if number else skill


def skill_fault(
    seat: int, skill: Skill | None, failed: Sequence[SkillCondition], unread: str = NO_COMMAND
) -> dict[str, Json]:
    """Return a fault of a plan as JSON (see `kitchen.contract.decision_notes`). `failed` are the conditions
    that do not hold. If `skill` is None, no skill could be read, and the fault has the code `unread`."""
    if skill is None:
        return {"code": unread, "seat": seat, "command": [], "text": "No skill could be read."}
    codes = " ".join(one.code for one in failed)
    return {"code": codes, "seat": seat, "command": list(skill), "text": failed[0].why_not}


def failed_conditions(skills: Skills, sight: SeatObservation, skill: Skill) -> tuple[SkillCondition, ...]:
    """Return the conditions of a skill that do not hold now; empty if the skill can begin. A wait has no
    conditions."""
    if wait_steps(skill):
        return ()
    return tuple(one for one in skills.conditions(sight, skill) if not one.holds)


H = TypeVar("H", bound=SkillMemory)


class SeatStep(Generic[H]):
    """Carry out the skill of one seat in one step. `memory` is the seat's new memory."""

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
        """Remove the seat's skill if it has ended. Return how it ended, for the log. Return None if the skill
        continues or there is none."""
        plan = self.memory.plan
        status = self._status(plan) if plan else UNKNOWN
        if plan is None or status == UNKNOWN:
            return None
        self.memory = replace(self.memory, plan=None)
        return {"skill": spell_skill(plan.skill), "status": status, "since": plan.since + 1}

    @property
    def did(self) -> str:
        """Return the text of the skill that was completed in this step. Empty if no skill was completed, or
        if the skill was a wait."""
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
        """Begin the skill that is planned for this step, if its conditions hold."""
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
        """Return True if the seat has no skill in progress and no next skill."""
        return self.memory.plan is None and self.memory.coming is None

    def take(self, plan: PlannedSkill) -> None:
        """Begin a planned skill now. If its conditions do not hold, record that it was dropped.

        In a real-time world with `think_ticks`, the skill begins after that number of ticks.
        """
        if self.options.think_ticks and self.skills.is_clocked(self.sight):
            self.memory = replace(self.memory, coming=plan)
            self._begin()
        elif failed_conditions(self.skills, self.sight, plan.skill):
            self.dropped = spell_skill(plan.skill)
        else:
            self._take_up(plan)

    def arrive(self, note: Mapping[str, Json], other: H) -> None:
        """Adopt this seat's plan from a late decision (a decision for an earlier step). Do nothing if the
        model was not asked for this seat then.

        `note` and `other` are the seat's note and memory in the late decision.
        """
        self.tries = note.get("tries")
        if self.tries is not None:
            self.take_late(other)

    def take_late(self, other: H) -> None:
        """Adopt the plan in `other` if this seat has no plan. `other` is the seat's memory in a late decision
        (a decision for an earlier step)."""
        if other.newest and self.needs_plan:
            self.take(other.newest)

    def _take_up(self, plan: PlannedSkill) -> None:
        mark = None if wait_steps(plan.skill) else self.skills.mark(self.sight, plan.skill)
        self.memory = replace(self.memory, plan=replace(plan, since=self.step, mark=mark))

    @property
    def by(self) -> str:
        """Return the kind of agent that chose the skill in progress; empty if there is none."""
        return self.memory.plan.by if self.memory.plan else ""

    def command(self, chance: Random) -> Command | None:
        """Return the command with which the seat continues its skill in this step. Return None to do
        nothing."""
        plan = self.memory.plan
        if plan is None:
            return None
        if not wait_steps(plan.skill):
            return self.skills.command(self.sight, plan.skill, chance)
        strolls = self.skills.strolls(self.sight) if self.options.wait_moves == RANDOM else ()
        return chance.choice([None, *strolls])

    def intent(self) -> Intent:
        """Return what the seat is doing, for display to people. Empty if the seat has no skill in
        progress."""
        return self.skills.intent(self.memory.plan.skill) if self.memory.plan else {}

    def note(self) -> dict[str, Json]:
        """Return the seat's note for the log: the skill in progress, the skill that ended, and the plans
        that the model tried. Steps count from 1."""
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
    """The commands, notes, memory and faults of one decision, collected seat by seat."""

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
        """Return an object that starts with the faults and counts of a late decision (a decision for an
        earlier step). Without a late decision, return an empty object."""
        note = late.note if late else {}
        return cls(
            faults=list(note.get("faults", ())),
            mended=list(note.get("mended", ())),
            asked=note.get("asked", 0),
        )

    def add_step(self, carrying: SeatStep[Any], situation: Situation, told: Intent) -> None:
        """Add the command, memory and note of one seat. `told` says what the seat is doing, for display to
        people."""
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
        """Return the faults in the model's replies, and how often the model was asked
        (`kitchen.contract.decision_notes`). Empty if it was not asked."""
        if not self.asked:
            return {}
        return {"faults": self.faults, "mended": self.mended, "asked": self.asked}


class SkilledAgent(Agent):
    """The base class of agents that plan skills. Nothing is kept between steps except `Decision.memory`.
    `Decision.played_by` names the source of the skills: the agent's kind (if a language model chose them),
    `stand-in`, or `noop` (nobody)."""

    skilled: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    options_class: ClassVar[type[SkilledOptions]]
    options: SkilledOptions
    """The settings in their own types."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Read the settings. Raises SettingsError for a model of an unknown provider."""
        super().__init__(chosen)
        self.options = self.options_class(**self.chosen)
        parse_model_setting(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Return a warning for each reason why the model cannot be used, such as a missing key or price. A
        fallback would then play every step."""
        provider, model = parse_model_setting(self.options.model)
        fallback = FALLBACK_SENTENCES[self.options.fallback]
        whys = (f"{why}: {fallback}." for why in why_not_usable(provider, model))
        return (*whys, *unlisted_model_remarks(provider, model))

    def model(self) -> str:
        """Return the name of the model in the settings, or the default of this process."""
        return ":".join(parse_model_setting(self.options.model))

    @abstractmethod
    async def decided(
        self, situation: Situation, deadline: float | None, late: Decision | None = None
    ) -> Decision:
        """Return the decision for all seats. The model may be asked until `deadline`; None means that the
        model is not asked.

        `late` is a decision for an earlier step. Its plans are adopted.
        """

    async def decide(self, situation: Situation) -> Decision:
        """Return the decision. The model is asked for each seat that needs a skill, within the time limit
        of the situation."""
        return await self.decided(
            situation,
            time.monotonic() + situation.limits.seconds - min(RESERVE_SECONDS, situation.limits.seconds / 4),
        )

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """Return a decision that is made without the model. Seats continue their skills in progress. Seats
        without a skill do nothing."""
        return run_without_waiting(self.decided(situation, None))

    def arrived(self, situation: Situation, late: Decision) -> Decision:
        """Return a decision that adopts the plans of a late decision (made for an earlier step). A plan is
        adopted if its conditions still hold. For the other seats, the model is asked again at the next
        step."""
        made = run_without_waiting(self.decided(situation, None, late))
        return replace(made, calls=late.calls, fallback=late.fallback)

    def may_ask(self, situation: Situation, seat: int) -> bool:
        """Return whether the model may be asked for a plan for this seat now. False if the seat is not
        asked, or if the agent shall only answer messages."""
        asked = situation.request.asked is None or seat in situation.request.asked
        return asked and situation.request.because != REASON_TO_ANSWER

    def fallback_plan(self, skills: Skills, sight: SeatObservation, step: int) -> PlannedSkill:
        """Return the plan that is used if the model gives no answer. By the settings, it is a wait or a skill
        chosen by a rule."""
        if self.options.fallback != BY_RULE:
            return PlannedSkill(wait_skill(), NOOP_FALLBACK, step)
        manner = self.options.manner(skills.manner(sight))
        return PlannedSkill(skills.rule(sight, sight.seat, manner), STAND_IN, step)

    def weakest_source(self, by: Iterable[str]) -> str:
        """Return the value of `Decision.played_by` for a decision about several seats. `by` has the value of
        each seat. The result is `noop` if any value is, else `stand-in` if any value is, else the kind of
        this agent."""
        chose = set(by)
        return next((one for one in (NOOP_FALLBACK, STAND_IN) if one in chose), self.kind)


def memory_of_seat(memory: Json, seat: int) -> Json:
    """Return the stored memory of one seat from the agent's memory; None if there is none."""
    return memory.get(str(seat)) if isinstance(memory, dict) else None
