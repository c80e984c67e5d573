"""The parts of a study beside the rounds: what each kind is called, says and may be set to. Plain Python.

The order is that of a participant's way; the rounds (an episode and its survey in each condition) come
between `check` and `final`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from kitchen.contract.data_files import Record, Text, complaint, one_of, said, wrong
from kitchen.contract.world import Json, WorldError
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import DEFAULT
from study.design.plan import NOBODY, condition_check
from study.design.practice import practice_organisation, practice_played
from study.design.usual_words import STATEMENT, TITLES

FAILURES = {"end": "end the study for this participant", "continue": "go on; the data say so"}
"""What may follow when the last attempt at the check of understanding has failed."""


class NoSettings(Record):
    """There is nothing to set."""


class ConsentSettings(Record):
    """What participants agree to, each statement by itself."""

    statements: Annotated[tuple[Text, ...], Strict(False), said("must be a list of texts")] = (STATEMENT,)


class PracticeKitchen(Record):
    """What is played and with whom; what is left out is as `practice_played` has it."""

    world: str = DEFAULT
    settings: Mapping[str, Json] = {}
    coplayer: str = NOBODY
    coplayer_settings: Mapping[str, Json] = {}
    teammates: int = 0

    @model_validator(mode="after")
    def _playable(self) -> Self:
        try:
            played = practice_played(self.model_dump(exclude_unset=True))
            condition_check(**played, organisation=practice_organisation(played))
        except (WorldError, UnknownNameError) as error:
            raise wrong(str(error)) from error
        return self


class PracticeSettings(Record):
    """The practice episode, and whether its page gives hints."""

    kitchen: PracticeKitchen = PracticeKitchen.model_construct(**practice_played({}))
    hints: bool = True
    all_steps: bool = Field(default=False, exclude=True)
    """It goes on after something was achieved (`kitchen.contract.kit.Practice.until`); a document says so
    only where it does."""


class CheckSettings(Record):
    """How often the questions may be answered, and what follows when the last attempt failed."""

    attempts: Annotated[int, Field(ge=1, le=20), said("must be a whole number from 1 to 20")] = 2
    on_failure: Annotated[str, one_of(FAILURES)] = "end"


@dataclass(frozen=True, slots=True)
class PartKind:
    """One kind of part."""

    name: str
    words: str
    enabled: bool = False
    needs_text: bool = False
    allowed: type[Record] = NoSettings
    """What it may be set to."""

    @property
    def title(self) -> str:
        """The usual heading of its page."""
        return TITLES[self.name]

    @property
    def settings(self) -> dict[str, Json]:
        """Its settings where nothing is said."""
        return self.allowed().model_dump(mode="json")


PARTS: dict[str, PartKind] = {
    kind.name: kind
    for kind in (
        PartKind("welcome", "welcome, on the study's link", enabled=True),
        PartKind("consent", "consent", enabled=True, needs_text=True, allowed=ConsentSettings),
        PartKind("about", "questions about the person"),
        PartKind("guide", "guide", enabled=True),
        PartKind("practice", "practice episode", allowed=PracticeSettings),
        PartKind("check", "check of understanding", allowed=CheckSettings),
        PartKind("final", "final comparison"),
        PartKind("debriefing", "debriefing"),
        PartKind("end", "last page", enabled=True),
    )
}
ALWAYS_ON = frozenset({"welcome", "end"})
"""Parts that cannot be switched off: somewhere a study begins and ends."""


def part_problems(kind: str, text: str, enabled: bool, settings: Mapping[str, Json]) -> dict[str, str]:
    """What is wrong with a part, by field; empty if nothing is."""
    part, problems = PARTS[kind], {}
    if not enabled and kind in ALWAYS_ON:
        problems["enabled"] = "This part cannot be switched off."
    if enabled and part.needs_text and not text.strip():
        problems["text"] = "Write what participants agree to."
    if wrong := complaint(part.allowed, settings):
        problems["settings"] = wrong
    return problems
