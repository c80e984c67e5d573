"""Define what a world offers to programs that play it: an `Adviser` recommends commands to people, and an
`AimPursuer` computes the commands that reach an aim.

Both are optional parts of a world's kit (`kitchen.contract.kit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from kitchen.contract.agent import Decision, Situation
from kitchen.contract.world import UNKNOWN, Aim, Command, Intent, Json


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommended command for one seat, used for hints to a person. `aim` is the purpose of the command,
    in the codes of the world. The page translates it (`Page.hint`)."""

    command: Command
    aim: Intent


class Adviser:
    """Recommends commands in a world, for hints to people and for simulated people. Subclasses must keep no
    state between calls.

    This base class recommends nothing. A world overrides the methods that it can support.
    """

    needs_words: ClassVar[bool] = False
    """True if players of its world must write to each other, so that its commands alone lead nowhere."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return a recommended command for the situation's only seat. None if no good command is known. Must
        be quick."""
        return None

    def lead(self, situation: Situation) -> Advice | None:
        """Return the next command on a short and simple way to the goal of the practice (`Practice.until`).
        None if none is known. Must be quick."""
        return self.advise(situation)

    def decide(self, situation: Situation) -> Decision:
        """Return the command and the messages that a sensible person in the situation's only seat would
        choose. The decision has no command if none is known. This may take a moment."""
        advice = self.advise(situation)
        return Decision({situation.seats[0]: advice.command} if advice else {}, memory=situation.memory)

    def slip(self, offered: Sequence[Command], chance: Random) -> Command:
        """Return a command of a simulated participant who makes a mistake. By default, it is a random one of
        those offered."""
        return chance.choice(offered)

    def expected(self, situation: Situation, seats: Sequence[int]) -> Mapping[int, Command]:
        """Return the commands that a sensible person would expect from other players. The person plays the
        situation's only seat. Seats without a known command are left out.

        `situation.commanded` has the person's own command.
        """
        return {}

    def came_true(self, seat: int, command: Command, observation: Mapping[str, Json]) -> bool:
        """Return whether `observation` suggests that this seat has carried out `command`."""
        return False

    def success(self, score: Mapping[str, Json]) -> float | None:
        """Return how successful an episode with this score was, from 0 to 1; None if this is unknown."""
        return None

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Return how productive an episode of `steps` steps with this score was. 1 is the highest output to
        be expected."""
        return 0.0


@dataclass(frozen=True, slots=True)
class AimStep:
    """The next command towards an aim, and the status of the aim."""

    status: str = UNKNOWN
    """The status, as `World.aim_status` gives it, as far as the observation shows it; else UNKNOWN."""
    command: Command | None = None
    """The command; None to wait."""


class AimPursuer:
    """Computes the commands that reach the aims of a world, for agents that follow instructions.
    Stateless."""

    suggests_in_stages = False
    """True if aims that `suggest` names at one moment belong together. New ones then wait until all of them
    have ended."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """Return the next command of this seat towards `aim`, and the status of the aim. Must be quick.

        `since` is what `World.aim_mark` returned when the aim was given to the seat. An aim of an unknown
        form has the status FAIL.
        """
        raise NotImplementedError

    def aims(self, situation: Situation, seat: int) -> Sequence[Aim]:
        """Return all aims that this seat of the agent can have; see `World.aims`."""
        return ()

    def make_way(self, situation: Situation, seat: int) -> Command | None:
        """Return a command with which a seat that has nothing to do now lets another player pass. None if the
        seat is in nobody's way."""
        return None

    def mark(self, situation: Situation, seat: int, aim: Aim) -> Json:
        """Return facts about the present moment, which `status` later compares. Called when the agent chooses
        an aim for its seat."""
        return None

    def status(self, situation: Situation, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS, FAIL or UNKNOWN for an aim that the agent itself chose for its seat. `since` is
        what `mark` returned when the agent chose the aim."""
        return self.pursue(situation, seat, aim, since).status

    def can_suggest(self, brief: Mapping[str, Json]) -> bool:
        """Return whether `suggest` can name useful aims for a seat with this brief (the facts that it
        knows from the beginning)."""
        return False

    def suggest(
        self, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
    ) -> Aim | None:
        """Return a useful aim for this seat, or None if there is none. `brief` (unchanging facts) and `seen`
        (the observation) can be those of any seat. `taken` are the aims that other seats have now."""
        return None
