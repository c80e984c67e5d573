"""Define the parts of a study other than rounds: consent, guide, practice, check, debriefing and others.

A round is an episode (one game) with its survey, in one condition. A part has a title, a text and settings.
Participants see the parts in the order of `PARTS`, unless researchers chose another (`part_order`). The
rounds come before the final comparison. The module also sets up the practice episode, and checks that it is
long enough.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from kitchen.agents.make_situation import make_situation
from kitchen.contract.data_files import Record, Text, error_text, find_problem, one_of, worded_error
from kitchen.contract.kit import Practice
from kitchen.contract.organisation_settings import ALL
from kitchen.contract.world import Json, World, canonical_json
from kitchen.contract.world_errors import WorldError
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, get_kit, get_world, known_worlds
from study.design.condition_seats import NOBODY, condition_check
from study.design.part_rules import RULE, part_rule_problem
from study.design.translations import DEFAULT_STATEMENT, DEFAULT_TITLES


def practice_played(stored: Mapping[str, Json]) -> dict[str, Json]:
    """Return the world, settings and co-players of practice, from the values that a study stores.

    Missing values have the world's defaults (`kitchen.contract.kit.Practice`). If the world no longer
    exists, general defaults are used.
    """
    world = stored.get("world", DEFAULT_WORLD_NAME)
    usual = get_kit(world).practice if world in known_worlds() else Practice()
    return {
        "world": world,
        "settings": dict(usual.settings),
        "coplayer": usual.coplayer or NOBODY,
        "coplayer_settings": dict(usual.coplayer_settings),
        "teammates": usual.teammates,
        **stored,
    }


LED_PRACTICE: Mapping[str, Json] = {"kind": "tree", "settings": {"sees": ALL, "leaves_talk": False}}
"""The organisation of a practice in which the participant leads the teammates."""

TALKING_PRACTICE: Mapping[str, Json] = {"kind": "central", "settings": {"talk": True}}
"""The organisation of a practice in which the participant can write to the teammates."""


def practice_organisation(
    played: Mapping[str, Json], seat: int = 0, *, leads: bool = False, talks: bool = False
) -> dict[str, Json]:
    """Return the rules about who commands and writes to whom in a practice episode, in the form that a
    condition stores. Unless the participant `leads`, the rules are the world's defaults for practice. Without
    such defaults, the participant can write to the teammates if `talks` is true.

    `seat` is the participant's seat. The result is empty if the participant practises alone.
    """
    if not played["teammates"] or played["world"] not in known_worlds():
        return {}
    own_rules = get_kit(played["world"]).practice.organisation or (TALKING_PRACTICE if talks else {})
    usual = LED_PRACTICE if leads else own_rules
    own = {"people": [seat], **({"leads": seat} if leads else {})} if seat else {}
    return {**usual, **own}


def practice_goal(settings: Mapping[str, Json], world: str) -> dict[str, int]:
    """Return the goal that ends the practice episode early: the required score of each metric, by name. It
    comes from the world's defaults for practice.

    The result is empty if practice always lasts all its steps.
    """
    if settings.get("all_steps") or world not in known_worlds():
        return {}
    return dict(get_kit(world).practice.until)


def practice_for_condition(world: str, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return a practice episode that suits a condition with this world and these settings, in the form that a
    study stores.

    The co-players come from the world's defaults for practice. Without such defaults, the participant
    practises alone.
    """
    return practice_played({"world": world, "settings": dict(settings)})


FAILURES = {"end": "end the study for this participant", "continue": "continue; the data show it"}
"""Consequences of the last failed attempt at the check of understanding."""


class NoSettings(Record):
    """The settings of a part that has none."""


class ConsentSettings(Record):
    """The statements that participants agree to, one by one."""

    statements: Annotated[tuple[Text, ...], Strict(False), error_text("must be a list of texts")] = (
        DEFAULT_STATEMENT,
    )


class PracticeKitchen(Record):
    """The world and co-players of practice. `practice_played` fills in missing fields."""

    world: str = DEFAULT_WORLD_NAME
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
            raise worded_error(str(error)) from error
        return self


class PracticeSettings(Record):
    """The practice episode, and whether its page gives hints."""

    kitchen: PracticeKitchen = PracticeKitchen.model_construct(**practice_played({}))
    hints: bool = True
    all_steps: bool = Field(default=False, exclude=True)
    """True if practice goes on after its goal (`kitchen.contract.kit.Practice.until`) is reached.

    A document has the field only where it is true.
    """
    own_seat: bool = Field(default=False, exclude=True)
    """True if participants practise in the seat of their group's first condition (`Blueprint.practice`), else
    in the first seat.

    A document has the field only where it is true.
    """
    leads: bool = Field(default=False, exclude=True)
    """True if participants lead the teammates in practice, with a player of their own.

    A document has the field only where it is true.
    """
    talks: bool = Field(default=False, exclude=True)
    """True if participants can write messages to the teammates in practice.

    A document has the field only where it is true.
    """
    plays_first: bool = Field(default=False, exclude=True)
    """True if participants play before they read: practice follows the consent, and the guide is no page of
    its own, but behind a button (`part_order.parts_before_rounds`).

    A document has the field only where it is true.
    """

    @model_validator(mode="after")
    def _has_a_team(self) -> Self:
        if not (self.leads or self.talks):
            return self
        played = practice_played(self.kitchen.model_dump(exclude_unset=True))
        if not played["teammates"]:
            needs = "leads: a leader needs" if self.leads else "talks: writing needs"
            raise worded_error(f"{needs} at least one teammate")
        try:
            organisation = practice_organisation(played, leads=self.leads, talks=self.talks)
            condition_check(**played, organisation=organisation)
        except (WorldError, UnknownNameError) as error:
            raise worded_error(str(error)) from error
        return self


class CheckSettings(Record):
    """The number of attempts at the questions, and the consequence of the last failed attempt."""

    attempts: Annotated[int, Field(ge=1, le=20), error_text("must be a whole number from 1 to 20")] = 2
    on_failure: Annotated[str, one_of(FAILURES)] = "end"


@dataclass(frozen=True, slots=True)
class PartKind:
    """One kind of part, such as consent: its name, defaults and settings."""

    name: str
    words: str
    enabled: bool = False
    needs_text: bool = False
    allowed: type[Record] = NoSettings
    """The record class that validates its settings."""

    @property
    def title(self) -> str:
        """Return the default heading of its page."""
        return DEFAULT_TITLES[self.name]

    @property
    def settings(self) -> dict[str, Json]:
        """Return the default settings of this kind of part."""
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
"""Parts that cannot be switched off, because a study needs a first and a last page."""


def part_problems(kind: str, text: str, enabled: bool, settings: Mapping[str, Json]) -> dict[str, str]:
    """Return what is wrong with a part, as messages by field name. The result is empty if nothing
    is wrong."""
    part, problems = PARTS[kind], {}
    if not enabled and kind in ALWAYS_ON:
        problems["enabled"] = "This part cannot be switched off."
    if enabled and part.needs_text and not text.strip():
        problems["text"] = "Write what participants agree to."
    is_table = isinstance(settings, Mapping)
    own = {name: value for name, value in settings.items() if name != RULE} if is_table else settings
    if wrong := find_problem(part.allowed, own) or part_rule_problem(kind, settings):
        problems["settings"] = wrong
    return problems


SEEDS = 3
"""The number of episodes to try, because orders are random."""
LONGEST = 300
"""The number of steps after which a practice episode counts as too long."""


def practice_reaches(
    world: str, settings: Mapping[str, Json], until: Mapping[str, int], seat: int = 0
) -> bool:
    """Return whether a participant in this seat who only follows the hints reaches the goal in time. Several
    simulated episodes decide. True without a goal.

    `until` is the goal: required scores by name. Raises SettingsError if the world cannot be played.
    """
    return not until or _reaches(world, canonical_json(dict(settings)), canonical_json(dict(until)), seat)


@lru_cache(maxsize=64)
def _reaches(kind: str, settings: str, until: str, seat: int) -> bool:
    with warnings.catch_warnings(action="ignore"):
        seats = max(get_world(kind).min_seats, seat + 1)
        world = get_world(kind).create(seats=seats, settings=json.loads(settings))
        return all(_reached(world, json.loads(until), seed, seat) for seed in range(SEEDS))


def _reached(world: World, until: Mapping[str, int], seed: int, seat: int) -> bool:
    world.reset(seed)
    while not (there := _goal_reached(world, until)) and not world.has_ended and world.clock < LONGEST:
        advice = get_adviser(world.kind).lead(
            make_situation(world, (seat,), people=(seat,), seed=world.clock)
        )
        world.step({seat: advice.command} if advice else {})
    return there


def _goal_reached(world: World, until: Mapping[str, int]) -> bool:
    score = world.score()
    return all((score[name] or 0) >= least for name, least in until.items())
