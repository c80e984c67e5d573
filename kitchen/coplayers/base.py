"""What every co-player promises. Plain Python, no Django.

A co-player is a *mind* that commands one or more seats. It is a function of what it is given: it keeps
nothing between calls, so that any worker can go on where another one died. What it wants to remember goes
out as `Decision.memory`, is stored with the step, and comes in again as `Situation.memory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kitchen.llm.base import Call, Purse
from kitchen.worlds.base import Command, Event, Json, Setting, clean_settings

FALLBACKS = {"timeout": "No decision in time", "error": "The co-player failed"}
"""Why a mind is replaced from outside. What makes a mind fall back by itself has a ModelError's code."""


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a mind may know when it decides. Mappings are keyed by the seats that the mind commands."""

    world: str
    """Name of the world."""
    step: int
    """Steps taken so far: the decision is for the step after it."""
    seats: tuple[int, ...]
    briefs: Mapping[int, Mapping[str, Json]]
    """What each seat knows that never changes (`World.brief`)."""
    observations: Mapping[int, Mapping[str, Json]]
    """What each seat sees now (`World.observe`)."""
    legal: Mapping[int, Sequence[Command]]
    """What each seat could do now (`World.legal_actions`)."""
    commanded: Mapping[int, Command] = field(default_factory=dict)
    """Commands of this step that are known already, by seat: those of people and of earlier minds."""
    people: tuple[int, ...] = ()
    """Seats played by people."""
    events: tuple[Event, ...] = ()
    """What happened in the last step."""
    memory: Json = None
    """What this mind returned last time; None at the first step."""
    seed: int = 0
    """The only source of chance: another one at every step, the same one if this step is decided again."""
    seconds: float = 5.0
    """The time left for this decision."""
    purse: Purse | None = None
    """Who pays for calls of language models; None where nobody counts."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a mind decided for the coming step.

    `commands` are in the order in which they are to run; a seat left out does the world's default.
    `played_by` names who really chose, where that is not the mind itself (a stand-in). `note` is JSON for
    the log: why, what was asked and answered.

    `calls` are all calls of language models that this decision took, in order, those without an answer among
    them. `fallback` is the code of the ModelError that made the mind fall back on its stand-in, empty if it
    did not.
    """

    commands: Mapping[int, Command]
    memory: Json = None
    played_by: str = ""
    note: Json = None
    calls: tuple[Call, ...] = ()
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """What would be good for one seat to do next: for hints to a person. `aim` says what for, in the codes of
    the world; its page has the words (`Page.hint`)."""

    command: Command
    aim: Mapping[str, str]


class CoPlayer(ABC):
    """A kind of mind with its settings."""

    kind: ClassVar[str]
    """The name in the registry."""
    worlds: ClassVar[tuple[str, ...] | None] = None
    """The worlds it can play; None for every world."""
    settings: ClassVar[tuple[Setting, ...]] = ()
    """What a researcher may set."""

    def __init__(self, chosen: Mapping[str, Json]) -> None:
        """Settings by name; what is not given has its default. SettingsError if they are wrong."""
        self.chosen = clean_settings(self.settings, chosen)

    def cautions(self) -> tuple[str, ...]:
        """What will keep it from playing as these settings say, as far as this process can see: whole
        sentences for the researcher. The study has a budget."""
        return ()

    def model(self) -> str:
        """The language model that plays, `provider:model`, as this process is set up where the settings name
        none; empty for a co-player that asks none."""
        return ""

    def fixed_messages(self, situation: Situation) -> tuple[str, ...]:
        """What a language model is told at every step of an episode that begins so, as it is sent; nothing
        for a co-player that asks none."""
        return ()

    @abstractmethod
    def decide(self, situation: Situation) -> Decision:
        """The commands for the coming step. May raise: the caller records it and falls back."""

    def fall_back(self, situation: Situation, code: str) -> Decision:
        """What is done in a step whose decision was late (`code` is `timeout`) or failed (`error`): nothing,
        unless the settings name somebody who stands in, and then at once. May raise."""
        return Decision(commands={}, memory=situation.memory)
