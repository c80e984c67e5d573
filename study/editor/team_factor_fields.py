"""Offer the team settings of a condition as levels of a factor: who plays where, who leads, and who may talk.

The fields have the paths `organisation.…` (see `study.design.factors`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from kitchen.contract.declared_settings import Setting
from kitchen.contract.organisation import ORGANISATION_LABELS
from kitchen.contract.organisation_settings import ORGANISATION_SETTINGS, applicable_settings
from kitchen.contract.world import Json
from kitchen.forms.setting_fields import setting_field
from study.design.condition_seats import seats_of
from study.design.models import Condition
from study.design.team_organisation import team_of

KIND, SEAT, LEADER, APART = (f"organisation.{name}" for name in ("kind", "people", "leads", "apart"))
SETTINGS = "organisation.settings."
"""Beginning of the paths of an organisation's settings."""
LISTED_PAIRS = "custom"
"""The kind of organisation that needs pairs of members, so that it cannot be chosen by its name alone."""


def team_paths(base: Condition) -> list[tuple[str, str]]:
    """Return the (path, label) pairs of the team settings that can vary. The result is empty if the base
    condition has no teammates."""
    if not base.teammates:
        return []
    team, named = team_of(base.organisation), [(KIND, "Organisation")]
    if not team.is_led_apart:
        named += [(LEADER, "Who leads")]
        if len(team.people) == 1:
            named += [(SEAT, "Seat of the participant"), (APART, "The participant leads without a player")]
    return named + [(f"{SETTINGS}{name}", setting.label) for name, setting in _settings(base).items()]


def _settings(base: Condition) -> Mapping[str, Setting]:
    """Return the settings of the organisation that have an effect in the base condition, by name. Settings
    of talk within the step depend on other settings, and are left out unless they apply."""
    team = team_of(base.organisation)
    usable = applicable_settings(team.kind, team.settings) | {"schedule"}
    return {one.name: one for one in ORGANISATION_SETTINGS if one.name in usable}


def team_value_field(base: Condition, path: str) -> forms.Field:
    """Return the form field for one value of the team setting at this path. Its `choices`, if it has any, are
    (value, label) pairs."""
    if path == KIND:
        kinds = [(name, label) for name, label in ORGANISATION_LABELS.items() if name != LISTED_PAIRS]
        return forms.ChoiceField(choices=kinds)
    if path == SEAT:
        return forms.TypedChoiceField(
            choices=[(str(seat), f"Player {seat + 1}") for seat in range(seats_of(base))],
            coerce=lambda text: [int(text)],
        )
    if path == LEADER:
        choices = [(str(seat), _leader_label(base, seat)) for seat in range(seats_of(base))]
        return forms.TypedChoiceField(choices=choices, coerce=int)
    if path == APART:
        return forms.BooleanField(required=False)
    return setting_field(_settings(base)[path.removeprefix(SETTINGS)])


def _leader_label(base: Condition, seat: int) -> str:
    """Return who leads if the member in this seat does. With several people, the label has the seat."""
    people = team_of(base.organisation).people
    if seat not in people:
        return f"The co-player of player {seat + 1}"
    return "The participant" if len(people) == 1 else f"The participant as player {seat + 1}"


def level_settings(base: Condition, path: str, value: Any) -> dict[str, Json]:
    """Return what a level with this value sets. A participant who leads without a player gives the seat to a
    teammate, so that the number of players stays."""
    sets: dict[str, Json] = {path: value}
    if path == APART:
        sets["teammates"] = base.teammates + bool(value)
    return sets
