"""Define the `Skills` interface: what a world offers to agents that plan skills lasting many steps.

Such an agent plans one skill for a seat, verifies that it can be done, and carries it out step by step.
`Skills` lists the skills and their conditions, describes the game and the moment, reports what a seat has
finished, and turns a skill into commands. `WAIT` belongs to the agent; no world lists it. Plain Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Self

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Event, Intent, Json

Skill = tuple[str, ...]
"""A verb and what it is about, in the codes of the world. `("pickup", "onion")`."""

WAIT = "wait"
"""`("wait", "3")`: to wait for three steps."""

MAX_WAIT_STEPS = 20
"""Steps of one wait."""

FREELY, ONCE, NEVER = "freely", "once", "never"
"""Whether waiting is offered: for a number of steps to choose, for one step, not at all."""
READY, EARLY = "ready", "early"
"""When to fetch what something will be put into: once that is ready, or while it is being made."""


def wait_skill(steps: int = 1) -> Skill:
    """To wait so long."""
    return WAIT, str(steps)


def spell_skill(skill: Skill) -> str:
    """As prompts and files have it: `pickup(onion)`, `deliver_soup()`."""
    return f"{skill[0]}({', '.join(skill[1:])})"


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """How an agent plays, as far as what it is told follows from it."""

    waits: str
    """FREELY, ONCE or NEVER."""
    fetches: str
    """READY or EARLY."""


@dataclass(frozen=True, slots=True)
class SeatObservation:
    """What an agent knows in one seat now."""

    seat: int
    brief: Mapping[str, Json]
    seen: Mapping[str, Json]
    legal: Sequence[Command]
    events: tuple[Event, ...] = ()
    """Of the last step, as far as the seat gets to know them."""

    @classmethod
    def of(cls, situation: Situation, seat: int) -> Self:
        """That of a seat that the mind commands."""
        known = situation.briefs[seat], situation.observations[seat], situation.legal[seat]
        return cls(seat, *known, situation.events)


@dataclass(frozen=True, slots=True)
class SkillCondition:
    """Something that must be so for a skill to be chosen."""

    code: str
    claim: str
    """What must be so: `Player 0 holds nothing`."""
    why_not: str
    """A sentence for when it is not."""
    holds: bool


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One worked example for the prompt. `foresees` is what the first of the others is about to do."""

    scene: str
    analysis: str
    foresees: Skill
    plan: Skill


@dataclass(frozen=True, slots=True)
class GameDescription:
    """What is said of the game to who plays it, the same for a whole episode: whole sentences."""

    role: str
    """Which game this is, and whom one plays beside."""
    rules: tuple[str, ...]
    """With what counts."""
    making: tuple[str, ...]
    """How things are made."""
    skills: tuple[tuple[Skill, str], ...]
    """Each with what it needs and when it is done, without waiting."""
    remarks: tuple[str, ...] = ()
    """What holds for this place and this seat."""
    examples: tuple[WorkedExample, ...] = ()
    game: str = ""
    """Which game this is, for who directs others and plays in no seat."""


class Skills(ABC):
    """The skills of a world. Keeps nothing, and every answer is quick. `other` is any seat; everything about
    one's own needs `sight.seat`."""

    patience: ClassVar[int] = 0
    """Steps after which a skill is given up that is not done; 0: never."""

    @abstractmethod
    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """All that play, one's own among them."""

    @abstractmethod
    def named(self, seat: int) -> str:
        """How a language model is told of a seat: `Player 0`."""

    @abstractmethod
    def manner(self, sight: SeatObservation) -> PlayStyle:
        """What is usual in this place, where nothing is set."""

    @abstractmethod
    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """What is said of the game."""

    @abstractmethod
    def scene(self, sight: SeatObservation) -> str:
        """This moment in words."""

    @abstractmethod
    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """All that this seat could be asked to do in this episode."""

    @abstractmethod
    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """The skill that these words mean, a verb first, as somebody wrote it who may have spelled it his own
        way; None for none of this world's."""

    @abstractmethod
    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """What must be so for this seat to choose it now, in the order in which it is to be looked at."""

    @abstractmethod
    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """What `status` has to know of the moment in which this seat begins with it."""

    @abstractmethod
    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """How a skill stands that this seat began when `mark` said `since`: SUCCESS, FAIL or UNKNOWN."""

    @abstractmethod
    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """What this seat has done in the last step, in skills."""

    def agrees(self, sight: SeatObservation, foreseen: Skill, done: Skill) -> bool | None:
        """Whether what was done is what was foreseen; None where it may be on the way there."""
        return foreseen == done

    @abstractmethod
    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """What this seat does for it in the coming step, whoever else does what; None to do nothing."""

    def strolls(self, sight: SeatObservation) -> Sequence[Command]:
        """What who waits may do just as well, apart from doing nothing."""
        return ()

    def shortest_wait(self, sight: SeatObservation) -> int:
        """Steps of a wait at least."""
        return 1

    def is_clocked(self, sight: SeatObservation) -> bool:
        """Whether steps are taken by a clock that waits for nobody."""
        return False

    @abstractmethod
    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """What somebody sensible in this seat would plan now: what the stand-in says. It may be a wait."""

    def errand(self, sight: SeatObservation) -> Skill:
        """What is hinted at in one's own seat: as the rule has it, unless there is something better than to
        wait for others, who may do nothing."""
        return self.rule(sight, sight.seat, self.manner(sight))

    def intent(self, skill: Skill) -> Intent:
        """The same for the page of a person (`Page` has the words); empty where it has none."""
        return {}
