"""What is the same in every co-player that thinks in skills: its model, who plays instead, what is noted."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar, Self

from kitchen.agents.skilled.carrying_out import Carrying
from kitchen.agents.skilled.plan import Plan
from kitchen.agents.skilled.settings import BY_NOBODY, BY_RULE, SkilledOptions
from kitchen.contract.agent import TO_ANSWER, Agent, Decision, Situation
from kitchen.contract.seeds import derived_seed
from kitchen.contract.skills import Sight, Skills, wait
from kitchen.contract.world import Command, Intent, Json
from kitchen.llm.registry import STAND_IN, hindrances, read_model

RESERVE = 1.0
"""Seconds kept back of the time for a decision, so that the fallback is in time; a quarter where there are
less than four."""
NOBODY = "noop"
SCENE_GROWS = 300
"""Tokens, at worst, by which a scene is longer than one in which nobody has done anything yet."""
PLAYS = {
    BY_RULE: "the stand-in's rule will plan every skill, as the fallback",
    BY_NOBODY: "the teammate will wait in every step, as the fallback",
}


@dataclass(slots=True)
class Made:
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

    def carried_out(self, carrying: Carrying[Any], situation: Situation, told: Intent) -> None:
        """What a seat does in this step, and `told` to people."""
        seat = carrying.sight.seat
        self.memory[str(seat)] = carrying.memory.to_json()
        self.seats[str(seat)] = carrying.note()
        if situation.asked is None or seat in situation.asked:
            chance = Random(derived_seed(situation.seed, seat))  # noqa: S311
            if command := carrying.command(chance):
                self.commands[seat] = command
            self.by.append(carrying.by or NOBODY)
        if told and situation.tells:
            self.intents[seat] = told

    def read(self) -> dict[str, Json]:
        """How replies were read (`kitchen.contract.reading`); nothing where nobody was asked."""
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
        read_model(self.options.model)

    def cautions(self) -> tuple[str, ...]:
        """Without a key, a model's name or a price, the fallback would play every step."""
        provider, model = read_model(self.options.model)
        return tuple(f"{why}: {PLAYS[self.options.fallback]}." for why in hindrances(provider, model))

    def model(self) -> str:
        """What the settings name, or the default of this process."""
        return ":".join(read_model(self.options.model))

    @abstractmethod
    def decided(self, situation: Situation, deadline: float | None, late: Decision | None = None) -> Decision:
        """The decision: by the model until then, or without it where there is no `deadline`; with a `late`
        one of an earlier step."""

    def decide(self, situation: Situation) -> Decision:
        """Ask the model within the time of the situation where a skill is needed."""
        return self.decided(
            situation, time.monotonic() + situation.seconds - min(RESERVE, situation.seconds / 4)
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
        return asked and situation.because != TO_ANSWER

    def instead(self, skills: Skills, sight: Sight, step: int) -> Plan:
        """What is planned without an answer."""
        if self.options.fallback != BY_RULE:
            return Plan(wait(), NOBODY, step)
        manner = self.options.manner(skills.manner(sight))
        return Plan(skills.rule(sight, sight.seat, manner), STAND_IN, step)

    def who(self, by: Iterable[str]) -> str:
        """Who chose, where several seats may differ: whoever is least of a model."""
        chose = set(by)
        return next((one for one in (NOBODY, STAND_IN) if one in chose), self.kind)


def of_seat(memory: Json, seat: int) -> Json:
    """What is remembered of one seat."""
    return memory.get(str(seat)) if isinstance(memory, dict) else None
