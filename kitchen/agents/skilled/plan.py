"""A skill that is planned, for one seat, as it is carried from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from kitchen.agents.skilled.wording import waits
from kitchen.contract.skills import Condition, Sight, Skill, Skills, wait
from kitchen.contract.world import Json


@dataclass(frozen=True, slots=True)
class Plan:
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
class Held:
    """What one seat is at, and will be at."""

    plan: Plan | None = None
    """What it is at."""
    coming: Plan | None = None
    """What it will be at once its time has come (`think_ticks`)."""

    @classmethod
    def read(cls, stored: Json) -> Self:
        """What `to_json` wrote; an empty one for anything else."""
        if not isinstance(stored, dict):
            return cls()
        return cls(plan=Plan.read(stored["plan"]), coming=Plan.read(stored["coming"]))

    def to_json(self) -> dict[str, Json]:
        """As it is stored."""
        return {
            "plan": self.plan.to_json() if self.plan else None,
            "coming": self.coming.to_json() if self.coming else None,
        }

    @property
    def newest(self) -> Plan | None:
        """What was planned last."""
        plans = [plan for plan in (self.plan, self.coming) if plan]
        return max(plans, key=lambda plan: plan.asked, default=None)


def long_enough(skills: Skills, sight: Sight, skill: Skill) -> Skill:
    """A wait as long as it is here at least; any other skill as it is."""
    number = waits(skill)
    return wait(max(number, skills.shortest_wait(sight))) if number else skill


def failed(skills: Skills, sight: Sight, skill: Skill) -> tuple[Condition, ...]:
    """Those of its conditions that do not hold; waiting has none."""
    if waits(skill):
        return ()
    return tuple(one for one in skills.conditions(sight, skill) if not one.holds)
