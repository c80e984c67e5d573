"""Offer common set-ups of a condition that fill the form, such as one person and a planner.

A preset sets who plays, who leads and who talks. It keeps the world, its settings, and everything else that
was typed. Only presets that the world can play are offered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from kitchen.contract.world import Json
from kitchen.registry.world_registry import get_world, known_worlds, organisation_refusal
from study.design.condition_choices import COPLAYER, WORLD, all_kinds, kind_choices
from study.design.condition_seats import NOBODY
from study.design.models import Condition, Study
from study.design.naming_rules import key_from_name
from study.design.study_errors import DesignError
from study.design.team_organisation import END, LEAVE
from study.editor.condition_and_item_forms import SHOW_BUTTON
from study.editor.design_services import is_name_of_copy, unused_label, unused_name
from study.editor.form_fields import APART, KIND, LEADS, PAIRS, PEOPLE, TALK, TOGETHER, read_team

PRESET = "preset "
"""The value of the button that reloads the form with a preset, followed by the preset's name."""
PROGRAMS = ("planner", "partner")
"""Ends of the names of co-players that play well without a language model."""
MODELS = ("proagent", "collab", "pairwise")
LABELS = {
    "planner": "One person and a planner",
    "planners": "One person and two planners, one for each teammate",
    "dispatcher": "A dispatcher one may talk with",
    "people": "Two people only",
    "model": "One person and a language model",
}
"""Labels of all presets, by name."""
DISPATCHERS = ("dispatcher", "blocks_dispatcher", "skill_dispatcher")
"""Language models for a preset. The first that can play the world is used."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A common set-up: its name, its label, and the values of the form's fields."""

    name: str
    label: str
    values: Mapping[str, Any]


def presets(world: str) -> list[Preset]:
    """Return the presets that fit this world, in the order in which the form offers them."""
    return list(_presets(world)) if world in known_worlds() else []


def _presets(world: str) -> Iterator[Preset]:
    offered = dict(kind_choices(COPLAYER, "", world))
    planner = next((one for one in offered if one.endswith(PROGRAMS)), "")
    model, dispatcher = (
        next((one for one in kinds if one in offered), "") for kinds in (MODELS, DISPATCHERS)
    )
    seats = get_world(world)
    allowed = [kind for kind in ("central", "each", "pair") if not organisation_refusal(world, kind)]
    two, three = (seats.min_seats <= number <= seats.max_seats for number in (2, 3))
    if planner and two:
        yield _preset("planner", _team(planner, 1))
    if planner and three and "each" in allowed:
        values = _team(planner, 2, kind="each")
        yield _preset("planners", values)
    if dispatcher and two and "central" in allowed:
        values = _team(dispatcher, 2 if three else 1, kind="central", talk="on")
        yield _preset("dispatcher", values)
    if two and allowed:
        absent = {TOGETHER["unfilled"]: LEAVE, TOGETHER["absent"]: END}
        yield _preset("people", _team(NOBODY, 1, kind=allowed[0], people="1, 2") | absent)
    if model and two:
        yield _preset("model", _team(model, 1))


def _preset(name: str, values: Mapping[str, Any]) -> Preset:
    return Preset(name, LABELS[name], values)


def _team(
    coplayer: str, teammates: int, *, kind: str = "", talk: str = "", people: str = ""
) -> dict[str, str]:
    return {
        COPLAYER: coplayer,
        "teammates": str(teammates),
        KIND: kind,
        TALK: talk,
        PEOPLE: people,
        **dict.fromkeys((APART, LEADS, *PAIRS.values()), ""),
    }


def preset_condition(study: Study, world: str, preset: Preset) -> Condition:
    """Return a new condition, not stored yet, with this set-up and with the default settings of its world and
    co-player. It has the preset's label as its name."""
    keys = set(study.conditions.values_list("key", flat=True))
    coplayer, seats = str(preset.values[COPLAYER]), int(preset.values["teammates"])
    typed = {"teammates": seats, TALK: bool(preset.values[TALK])}
    names = set(study.conditions.values_list("name", flat=True))
    return Condition(
        study=study,
        key=key_from_name(preset.name, keys, "condition"),
        name=unused_name(preset.label, "", 80, names.__contains__),
        label=unused_label(study),
        world=world,
        settings=_default_settings(WORLD, world),
        coplayer=coplayer,
        coplayer_settings=_default_settings(COPLAYER, coplayer),
        teammates=seats,
        organisation=read_team({**preset.values, **typed}, _refuse),
    )


def _default_settings(part: str, name: str) -> dict[str, Json]:
    found = (kind for kind in all_kinds() if (kind.part, kind.name) == (part, name))
    return {one.name: one.default for kind in found for one in kind.settings if not one.later}


def _refuse(field: str, why: str) -> None:
    raise DesignError(why)


def with_preset(sent: QueryDict, rows: str, copied: Collection[str] = ()) -> QueryDict:
    """Return the submitted data with the preset of the pressed button. `rows` is the field that lists the
    separate co-players of single teammates. A row stays if all its players are teammates in the preset. A
    name that was typed stays. `copied` has the names of the study's other conditions: a name that copying one
    of them made is replaced."""
    asked = sent.get(SHOW_BUTTON, "")
    if not asked.startswith(PRESET):
        return sent
    found = {one.name: one for one in presets(sent.get(WORLD, ""))}.get(asked.removeprefix(PRESET))
    if found is None:
        return sent
    filled = sent.copy()
    for name, value in found.values.items():
        filled.pop(name, None)
        if value:
            filled[name] = value
    filled.setlist(rows, [one for one in sent.getlist(rows) if _has_players(found, sent, f"{rows}_{one}")])
    name = str(filled.get("name") or "")
    if not name or any(is_name_of_copy(name, one) for one in copied):
        filled["name"] = found.label
    return filled


def _has_players(preset: Preset, sent: QueryDict, row: str) -> bool:
    """Return whether all players of this row are teammates in the preset."""
    people, teammates = preset.values[PEOPLE] or "1", int(preset.values["teammates"])
    players = {str(number) for number in range(1, teammates + 2)} - set(people.split(", "))
    return set(sent.getlist(f"{row}_players")) <= players
