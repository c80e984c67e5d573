"""Wait for a language model that keeps failing, so that no fallback plays a step of an experiment.

While a model is paused (`kitchen.llm.circuit_breaker`), only the decision that needs it waits and is made
again. Decisions that other members have made in the step are kept, so that their calls are paid once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from kitchen.agents.agent_team import AskedMember
from kitchen.agents.episode_loop import EpisodeLoop, ask_member
from kitchen.contract.agent import Agent, DecisionLimits, Situation
from kitchen.contract.language_model import Call
from kitchen.contract.organisation import Member
from kitchen.llm.circuit_breaker import unanswered_model

MODEL_WAIT_SECONDS = 600.0
"""Seconds that an experiment waits for a model that keeps failing, before it stops."""
LOOK_SECONDS = 5.0
"""Longest time in seconds between two looks whether the model may be called again."""


class ModelAwayError(Exception):
    """Raised when a model gave no answer for `MODEL_WAIT_SECONDS`. The episode ends, so that no fallback
    plays on."""


def do_nothing(*_: object) -> None:
    """Accept any arguments and do nothing. Used as a default callback."""


class ModelWait:
    """Waits for a model that keeps failing. `beat` is called every few seconds, and `sleep` waits."""

    def __init__(
        self, beat: Callable[[], None] = do_nothing, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.beat, self.sleep = beat, sleep
        self.waited = 0.0
        """Seconds since the last answer."""

    def is_needed(self, calls: Sequence[Call]) -> bool:
        """Return whether the decision of these calls must be made again, because a model is paused."""
        if unanswered_model(calls):
            return True
        if calls:
            self.waited = 0.0
        return False

    def until_next_try(self, calls: Sequence[Call]) -> None:
        """Wait until the paused model among these calls would be called again, which it is not while somebody
        else's trial call is running. Raises ModelAwayError after `MODEL_WAIT_SECONDS` without an answer."""
        away = unanswered_model(calls)
        if away is None or not away.is_broken:  # it has just answered somebody else
            return
        may_be_tried = False
        while not may_be_tried:
            if self.waited >= MODEL_WAIT_SECONDS:
                raise ModelAwayError(f"{away.name} gave no answer for {self.waited:.0f} s")
            look = min(max(1.0, away.seconds_left), LOOK_SECONDS)
            self.beat()
            self.sleep(look)
            self.waited += look
            may_be_tried = away.may_be_tried


class _PausedMemberError(Exception):
    """Raised while a step is decided, at the first member whose model is paused."""


class StepDecisions:
    """The decisions of one step, which are made one after another. If a model is paused, `ask` is called
    again later, and the decisions that were made before are kept."""

    def __init__(self, wait: ModelWait) -> None:
        self.wait = wait
        self.made: list[AskedMember] = []
        """The decisions that are kept, in the order in which they were made."""
        self.paused: AskedMember | None = None
        """The decision that must be made again."""
        self._kept: list[AskedMember] = []

    async def ask(
        self, course: EpisodeLoop, agents: Mapping[int, Agent], limits: DecisionLimits
    ) -> list[AskedMember] | None:
        """Ask the members of the episode's open step. Return None if a model is paused."""
        self._kept, self.paused = list(self.made), None
        try:
            return await course.ask(agents, limits=limits, ask=self._ask_member)
        except _PausedMemberError:
            return None

    async def _ask_member(self, member: Member, agent: Agent, situation: Situation) -> AskedMember:
        if self._kept:
            return self._kept.pop(0)
        asked = await ask_member(member, agent, situation)
        if self.wait.is_needed(asked.decision.calls):
            self.paused = asked
            raise _PausedMemberError
        self.made.append(asked)
        return asked
