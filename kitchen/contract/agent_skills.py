"""Define the `Skills` interface: the skills, each many steps long, that a world offers to agents. No Django.

`Skills` lists the skills and their conditions, describes the game, reports which skills a seat has finished,
and turns a skill into commands. `WAIT` belongs to the agent; no world lists it.
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
"""A verb and its arguments, in the codes of the world: `("pickup", "onion")`."""

WAIT = "wait"
"""The verb of a wait: `("wait", "3")` waits for three steps."""

MAX_WAIT_STEPS = 20
"""Maximum number of steps of one wait."""

FREELY, ONCE, NEVER = "freely", "once", "never"
"""How waiting is offered: for a chosen number of steps, for one step, or not at all."""
READY, EARLY = "ready", "early"
"""The moment to fetch what a product will be put into: once it is ready, or while it is being made."""


def wait_skill(steps: int = 1) -> Skill:
    """Return the skill of waiting for this many steps."""
    return WAIT, str(steps)


def spell_skill(skill: Skill) -> str:
    """Return the skill as prompts and files write it: `pickup(onion)`, `deliver_soup()`."""
    return f"{skill[0]}({', '.join(skill[1:])})"


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """The properties of an agent's play that its prompts depend on."""

    waits: str
    """FREELY, ONCE or NEVER."""
    fetches: str
    """READY or EARLY."""


@dataclass(frozen=True, slots=True)
class SeatObservation:
    """An agent's knowledge in one seat now."""

    seat: int
    brief: Mapping[str, Json]
    seen: Mapping[str, Json]
    legal: Sequence[Command]
    events: tuple[Event, ...] = ()
    """Events of the last step that the seat may see."""

    @classmethod
    def of(cls, situation: Situation, seat: int) -> Self:
        """Return the observation of one seat that the agent commands."""
        known = situation.briefs[seat], situation.observations[seat], situation.legal[seat]
        return cls(seat, *known, situation.events)


@dataclass(frozen=True, slots=True)
class SkillCondition:
    """A condition that must hold for a skill to be chosen."""

    code: str
    claim: str
    """The condition as a statement: `Player 0 holds nothing`."""
    why_not: str
    """A sentence for the case that it does not hold."""
    holds: bool


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One worked example for the prompt. `foresees` is what the first of the other players is about to do."""

    scene: str
    analysis: str
    foresees: Skill
    plan: Skill


@dataclass(frozen=True, slots=True)
class GameDescription:
    """The description of the game for its player, in whole sentences, the same for a whole episode."""

    role: str
    """The name of the game, and who else plays."""
    rules: tuple[str, ...]
    """The rules and the scoring."""
    making: tuple[str, ...]
    """An explanation of how things are made."""
    skills: tuple[tuple[Skill, str], ...]
    """Each skill with what it needs and when it is done; without waiting."""
    remarks: tuple[str, ...] = ()
    """Remarks that hold for this level and this seat."""
    examples: tuple[WorkedExample, ...] = ()
    game: str = ""
    """The name of the game, for an agent that directs others and plays in no seat."""


class Skills(ABC):
    """The skills of a world. It keeps no state and answers every call quickly. `other` is any seat; methods
    about the agent's own seat use `sight.seat`."""

    max_steps: ClassVar[int] = 0
    """Steps after which an unfinished skill is given up; 0: never."""

    @abstractmethod
    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """Return all seats that play, including the agent's own."""

    @abstractmethod
    def named(self, seat: int) -> str:
        """Return the name of a seat in prompts: `Player 0`."""

    @abstractmethod
    def manner(self, sight: SeatObservation) -> PlayStyle:
        """Return the style of play that is usual in this level, used unless a setting says otherwise."""

    @abstractmethod
    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """Return the description of the game."""

    @abstractmethod
    def scene(self, sight: SeatObservation) -> str:
        """Return a description of the present moment as text."""

    @abstractmethod
    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return all skills that this seat could be asked for in this episode."""

    @abstractmethod
    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """Return the skill that these words mean, verb first. A model wrote them and may have used another
        spelling. None if the world has no such skill."""

    @abstractmethod
    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """Return the conditions for this seat to choose the skill now, in the order to check them."""

    @abstractmethod
    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """Return what `status` must know about the moment in which this seat begins the skill."""

    @abstractmethod
    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """Return SUCCESS, FAIL or UNKNOWN for a skill begun when `mark` returned `since`."""

    @abstractmethod
    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the skills that this seat finished in the last step."""

    def agrees(self, sight: SeatObservation, foreseen: Skill, done: Skill) -> bool | None:
        """Return whether `done` is the skill that was predicted; None if it may be a step towards it."""
        return foreseen == done

    @abstractmethod
    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """Return this seat's command for the skill in the coming step; None to do nothing."""

    def strolls(self, sight: SeatObservation) -> Sequence[Command]:
        """Return commands that a waiting seat may carry out instead of doing nothing."""
        return ()

    def shortest_wait(self, sight: SeatObservation) -> int:
        """Return the minimum number of steps of a wait."""
        return 1

    def is_clocked(self, sight: SeatObservation) -> bool:
        """Return whether a clock takes the steps without waiting for anybody."""
        return False

    @abstractmethod
    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """Return what a sensible player would plan now, possibly a wait; the stand-in model's answer."""

    def errand(self, sight: SeatObservation) -> Skill:
        """Return the skill that a hint recommends for the agent's own seat. It is that of `rule`, unless
        there is something better to do than to wait for others, who may do nothing."""
        return self.rule(sight, sight.seat, self.manner(sight))

    def intent(self, skill: Skill) -> Intent:
        """Return the skill as an intent for a person's page; empty if there is none."""
        return {}
