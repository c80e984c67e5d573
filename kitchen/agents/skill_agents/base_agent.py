"""Provide the base class of agents that plan skills, and carry a skill out over several steps.

It chooses the model, falls back to a rule when the model fails, remembers the skill of each seat, and
notes who chose it.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar, Generic, Self, TypeVar

from kitchen.agents.skill_agents.settings import BY_NOBODY, BY_RULE, RANDOM, SkilledOptions
from kitchen.agents.skill_agents.skill_text import wait_steps
from kitchen.contract.agent import REASON_TO_ANSWER, Agent, Decision, Situation
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
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Command, Intent, Json
from kitchen.llm.provider_registry import STAND_IN, parse_model_setting, why_not_usable


@dataclass(frozen=True, slots=True)
class PlannedSkill:
    """A skill, and how it came to be the plan."""

    skill: Skill
    by: str
    """Who chose it: `Decision.played_by`."""
    asked: int
    """Steps taken when its choice was asked for."""
    since: int = 0
    """Steps taken when it began."""
    mark: Json = None
    """What the world noted then."""

    @classmethod
    def read(cls, stored: Json) -> Self | None:
        """As `to_json` wrote it."""
        return cls(**{**stored, "skill": tuple(stored["skill"])}) if stored else None

    def to_json(self) -> dict[str, Json]:
        """As it is stored."""
        named = {"skill": list(self.skill), "by": self.by, "asked": self.asked}
        return {**named, "since": self.since, "mark": self.mark}


@dataclass(frozen=True, slots=True)
class SkillMemory:
    """What one seat is at, and will be at."""

    plan: PlannedSkill | None = None
    """What it is at."""
    coming: PlannedSkill | None = None
    """What it will be at once its time has come (`think_ticks`)."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """What `to_json` wrote; an empty one for anything else."""
        if not isinstance(stored, dict):
            return cls()
        return cls(plan=PlannedSkill.read(stored["plan"]), coming=PlannedSkill.read(stored["coming"]))

    def to_json(self) -> dict[str, Json]:
        """As it is stored."""
        return {
            "plan": self.plan.to_json() if self.plan else None,
            "coming": self.coming.to_json() if self.coming else None,
        }

    @property
    def newest(self) -> PlannedSkill | None:
        """What was planned last."""
        plans = [plan for plan in (self.plan, self.coming) if plan]
        return max(plans, key=lambda plan: plan.asked, default=None)


def with_minimum_wait(skills: Skills, sight: SeatObservation, skill: Skill) -> Skill:
    """A wait as long as it is here at least; any other skill as it is."""
    number = wait_steps(skill)
    return wait_skill(max(number, skills.shortest_wait(sight))) if number else skill


def failed_conditions(skills: Skills, sight: SeatObservation, skill: Skill) -> tuple[SkillCondition, ...]:
    """Those of its conditions that do not hold; waiting has none."""
    if wait_steps(skill):
        return ()
    return tuple(one for one in skills.conditions(sight, skill) if not one.holds)


H = TypeVar("H", bound=SkillMemory)


class SeatStep(Generic[H]):
    """One seat in one step. `memory` is that of the seat as it will be stored."""

    def __init__(
        self, skills: Skills, sight: SeatObservation, options: SkilledOptions, step: int, memory: H
    ) -> None:
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
        return {"skill": spell_skill(plan.skill), "status": status, "since": plan.since + 1}

    @property
    def did(self) -> str:
        """The skill that is done now, as it is spelled; empty where none is. Who waited did nothing."""
        if not self.ended or self.ended["status"] != SUCCESS or self.ended["skill"].startswith(WAIT):
            return ""
        return str(self.ended["skill"])

    def _status(self, plan: PlannedSkill) -> str:
        taken = self.step - plan.since
        if number := wait_steps(plan.skill):
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
        if failed_conditions(self.skills, self.sight, coming.skill):
            self.dropped = spell_skill(coming.skill)
        else:
            self._take_up(coming)

    @property
    def needs_plan(self) -> bool:
        """Whether the model is to be asked."""
        return self.memory.plan is None and self.memory.coming is None

    def take(self, plan: PlannedSkill) -> None:
        """What was planned: for now, or for when its time has come where thinking takes so many ticks."""
        if self.options.think_ticks and self.skills.is_clocked(self.sight):
            self.memory = replace(self.memory, coming=plan)
            self._begin()
        elif failed_conditions(self.skills, self.sight, plan.skill):
            self.dropped = spell_skill(plan.skill)
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

    def _take_up(self, plan: PlannedSkill) -> None:
        mark = None if wait_steps(plan.skill) else self.skills.mark(self.sight, plan.skill)
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
        if not wait_steps(plan.skill):
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
"""Seconds kept back of the time for a decision, so that the fallback is in time; a quarter where there are
less than four."""
NOOP_FALLBACK = "noop"
SCENE_GROWTH = 300
"""Tokens, at worst, by which a scene is longer than one in which nobody has done anything yet."""
FALLBACK_SENTENCES = {
    BY_RULE: "the stand-in's rule will plan every skill, as the fallback",
    BY_NOBODY: "the teammate will wait in every step, as the fallback",
}


@dataclass(slots=True)
class DecisionParts:
    """What comes together over the seats of one decision."""

    commands: dict[int, Command] = field(default_factory=dict)
    seats: dict[str, Json] = field(default_factory=dict)
    """For the note."""
    memory: dict[str, Json] = field(default_factory=dict)
    """Of each seat."""
    faults: list[Json] = field(default_factory=list)
    mended: list[Json] = field(default_factory=list)
    asked: int = 0
    by: list[str] = field(default_factory=list)
    fallback: str = ""
    intents: dict[int, Intent] = field(default_factory=dict)

    @classmethod
    def going_on(cls, late: Decision | None) -> Self:
        """With how replies were read of a decision that has come later."""
        note = late.note if late else {}
        return cls(
            faults=list(note.get("faults", ())),
            mended=list(note.get("mended", ())),
            asked=note.get("asked", 0),
        )

    def carried_out(self, carrying: SeatStep[Any], situation: Situation, told: Intent) -> None:
        """What a seat does in this step, and `told` to people."""
        seat = carrying.sight.seat
        self.memory[str(seat)] = carrying.memory.to_json()
        self.seats[str(seat)] = carrying.note()
        if situation.asked is None or seat in situation.asked:
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            if command := carrying.command(chance):
                self.commands[seat] = command
            self.by.append(carrying.by or NOOP_FALLBACK)
        if told and situation.tells:
            self.intents[seat] = told

    def read(self) -> dict[str, Json]:
        """How replies were read (`kitchen.contract.decision_notes`); nothing where nobody was asked."""
        if not self.asked:
            return {}
        return {"faults": self.faults, "mended": self.mended, "asked": self.asked}


class SkilledAgent(Agent):
    """Keeps nothing between steps but `Decision.memory`. `Decision.played_by` says who chose the skills that
    are carried out: its kind (a language model), `stand-in`, or `noop`."""

    skilled: ClassVar[bool] = True
    names_model: ClassVar[str] = "model"
    options: SkilledOptions

    @abstractmethod
    def read_options(self, chosen: Mapping[str, Json]) -> SkilledOptions:
        """The settings in their own types; SettingsError."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """SettingsError for a model of a provider that there is not."""
        super().__init__(chosen)
        self.options = self.read_options(self.chosen)
        parse_model_setting(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Without a key, a model's name or a price, the fallback would play every step."""
        provider, model = parse_model_setting(self.options.model)
        return tuple(
            f"{why}: {FALLBACK_SENTENCES[self.options.fallback]}." for why in why_not_usable(provider, model)
        )

    def model(self) -> str:
        """What the settings name, or the default of this process."""
        return ":".join(parse_model_setting(self.options.model))

    @abstractmethod
    def decided(self, situation: Situation, deadline: float | None, late: Decision | None = None) -> Decision:
        """The decision: by the model until then, or without it where there is no `deadline`; with a `late`
        one of an earlier step."""

    def decide(self, situation: Situation) -> Decision:
        """Ask the model within the time of the situation where a skill is needed."""
        return self.decided(
            situation, time.monotonic() + situation.seconds - min(RESERVE_SECONDS, situation.seconds / 4)
        )

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """It goes on with its skill where it has one that is not done, and does nothing elsewhere."""
        return self.decided(situation, None)

    def arrived(self, situation: Situation, late: Decision) -> Decision:
        """The skills of a decision that was asked for at an earlier step are taken up where they still hold;
        where they do not, it is asked again at the next step."""
        made = self.decided(situation, None, late)
        return replace(made, calls=late.calls, fallback=late.fallback)

    def may_ask(self, situation: Situation, seat: int) -> bool:
        """Whether a plan for this seat may be asked for now."""
        asked = situation.asked is None or seat in situation.asked
        return asked and situation.because != REASON_TO_ANSWER

    def instead(self, skills: Skills, sight: SeatObservation, step: int) -> PlannedSkill:
        """What is planned without an answer."""
        if self.options.fallback != BY_RULE:
            return PlannedSkill(wait_skill(), NOOP_FALLBACK, step)
        manner = self.options.manner(skills.manner(sight))
        return PlannedSkill(skills.rule(sight, sight.seat, manner), STAND_IN, step)

    def who(self, by: Iterable[str]) -> str:
        """Who chose, where several seats may differ: whoever is least of a model."""
        chose = set(by)
        return next((one for one in (NOOP_FALLBACK, STAND_IN) if one in chose), self.kind)


def memory_of_seat(memory: Json, seat: int) -> Json:
    """What is remembered of one seat."""
    return memory.get(str(seat)) if isinstance(memory, dict) else None
