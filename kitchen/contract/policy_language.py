"""Define the `PolicyLanguage` interface: how a world's co-player is written as text, by a language model.

The text is a setting of the co-player. `kitchen.experiments.policy_writer` lets a model write and revise it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar

from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.world import Json


class PolicyLanguage(ABC):
    """The language of the policies that one kind of co-player follows."""

    agent: ClassVar[str]
    """The kind of co-player."""
    setting: ClassVar[str]
    """Its setting with the text of the policy."""
    beginning: str
    """The policy that is shipped."""

    @abstractmethod
    def primer(self, levels: Sequence[str]) -> str:
        """Return the part of a prompt that explains the game, these levels, and the language."""

    @abstractmethod
    def check(self, policy: str) -> None:
        """Raise ValueError with one line for the first mistake in a policy."""

    @abstractmethod
    def vary(self, policy: str, chance: Random) -> str:
        """Return a correct policy that differs a little from this one."""

    @abstractmethod
    def decisions(self, log: EpisodeLog, seat: int) -> Mapping[int, int]:
        """Return how many decisions each line of the policy made for this seat in an episode. Line 0 counts
        those that no line made."""

    @abstractmethod
    def result_text(self, scores: Sequence[Mapping[str, Json]], seat: int) -> str:
        """Return in one line what a policy in this seat reached in these episodes. `scores` has at least
        one."""
