"""Define the `Skills` interface, with which a world offers skills (actions of several steps) to agents.

An example of a skill is `pickup(onion)`. A world's `Skills` object lists the skills with their conditions,
turns a skill into commands, and reports finished skills. It also describes the game in words. Every agent can
choose the skill `WAIT`, so worlds do not list it.
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
"""Ways in which waiting is offered: for a chosen number of steps, for one step, or not at all."""
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
    """The style of an agent's play: whether it may wait, and when it fetches things. The agent's prompts
    depend on it."""

    waits: str
    """FREELY, ONCE or NEVER."""
    fetches: str
    """READY or EARLY."""


@dataclass(frozen=True, slots=True)
class SeatObservation:
    """What an agent knows in one of its seats now: brief (unchanging facts), observation, legal commands
    and events."""

    seat: int
    brief: Mapping[str, Json]
    seen: Mapping[str, Json]
    legal: Sequence[Command]
    events: tuple[Event, ...] = ()
    """Events of the last step that the seat may see."""

    @classmethod
    def of(cls, situation: Situation, seat: int) -> Self:
        """Return the agent's observation in this seat. The seat must be one of the agent's own."""
        known = situation.briefs[seat], situation.observations[seat], situation.legal[seat]
        return cls(seat, *known, situation.events)


@dataclass(frozen=True, slots=True)
class SkillCondition:
    """One condition that must hold to choose a skill now: its text, and whether it is met."""

    code: str
    claim: str
    """The condition as a statement: `Player 0 holds nothing`."""
    why_not: str
    """A sentence for the case that it does not hold."""
    holds: bool


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """One example for the prompt. `foresees` is the predicted next skill of the first of the other
    players."""

    scene: str
    analysis: str
    foresees: Skill
    plan: Skill


@dataclass(frozen=True, slots=True)
class GameDescription:
    """The description of the game for one of its players, in whole sentences. It is the same for a whole
    episode."""

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
    """The skills of a world. It has no state, and every method must be quick. The argument `other` may be
    any seat; `sight.seat` is the agent's own."""

    max_steps: ClassVar[int] = 0
    """Steps after which an unfinished skill is given up; 0: never."""

    @abstractmethod
    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """Return all seats of the game, including the agent's own."""

    @abstractmethod
    def named(self, seat: int) -> str:
        """Return the name of a seat in prompts: `Player 0`."""

    @abstractmethod
    def manner(self, sight: SeatObservation) -> PlayStyle:
        """Return the usual style of play in the current level. It is used if the agent's settings choose no
        style."""

    @abstractmethod
    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """Return the description of the game for an agent with this style of play."""

    @abstractmethod
    def scene(self, sight: SeatObservation) -> str:
        """Return a text that describes the present state of the game."""

    @abstractmethod
    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return all skills that others could ask the seat `other` to carry out in this episode."""

    @abstractmethod
    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """Return the skill that a model means by these words (verb first), even if they are spelled
        differently. None if the world has no such skill."""

    @abstractmethod
    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """Return the conditions under which the agent's seat can begin this skill now. They are in the order
        in which they are checked."""

    @abstractmethod
    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """Return facts about the present moment, to which `status` compares a later one. Called when the
        agent's seat begins the skill."""

    @abstractmethod
    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """Return SUCCESS if a skill is completed, FAIL if it cannot be completed, else UNKNOWN. `since` is
        what `mark` returned when the skill began."""

    @abstractmethod
    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the skills that the seat `other` finished in the last step."""

    def agrees(self, sight: SeatObservation, foreseen: Skill, done: Skill) -> bool | None:
        """Return whether the finished skill `done` fulfils the prediction `foreseen`. None if `done` may only
        be a step towards it."""
        return foreseen == done

    @abstractmethod
    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """Return the command with which the agent's seat continues the skill in the coming step. Return
        None to do nothing. `chance` is the random generator."""

    def strolls(self, sight: SeatObservation) -> Sequence[Command]:
        """Return moves that a waiting seat may make instead of standing still."""
        return ()

    def shortest_wait(self, sight: SeatObservation) -> int:
        """Return the minimum number of steps that a waiting seat waits."""
        return 1

    def is_clocked(self, sight: SeatObservation) -> bool:
        """Return whether the world runs in real time. Its steps then do not wait for commands."""
        return False

    @abstractmethod
    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """Return the skill that fixed rules would choose now for the seat `other`. It can be a wait. `manner`
        is the style of play."""

    def hint_cells(self, sight: SeatObservation) -> Sequence[tuple[int, int]]:
        """Return the cells of a grid that a person uses for the recommended skill (`errand`). Empty by
        default, as in a world without a grid."""
        return ()

    def errand(self, sight: SeatObservation) -> Skill:
        """Return the skill that a hint recommends to the person in the agent's seat. Usually it is the skill
        of `rule`. If that is a wait for others, another useful skill can take its place."""
        return self.rule(sight, sight.seat, self.manner(sight))

    def intent(self, skill: Skill) -> Intent:
        """Return the skill as an intent, the form in which people's pages show what an agent will do next.
        Return an empty intent if pages do not show this skill."""
        return {}
