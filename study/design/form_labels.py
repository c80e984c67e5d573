"""Give the form labels of design fields, also for the differences between two designs.

Labels name the random events of the worlds, for example `The same waves for everybody`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.text import capfirst

from kitchen.contract.world import Setting, World
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint
from study.design.condition_choices import COPLAYER, WORLD, all_kinds
from study.design.models import Condition, Outcome, Study, StudyPart, SurveyItem
from study.design.questions.item_fields import form_labels
from study.design.study_parts import practice_played
from study.design.study_versions import Difference


def random_events_name(worlds: Iterable[str]) -> str:
    """Return the name of what the worlds draw at random, such as `waves and events`. Unknown worlds are
    skipped.

    Return `events` if no world is known.
    """
    return " and ".join(dict.fromkeys(world.drawn for world in _there(worlds))) or World.drawn


def same_events_label(worlds: Iterable[str]) -> str:
    """Return the label of the setting, such as `The same waves for everybody`."""
    return f"The same {random_events_name(worlds)} for everybody"


def same_events_meaning(worlds: Iterable[str]) -> str:
    """Return the help text of that setting, in whole sentences."""
    said = dict.fromkeys(f"the same {world.drawn} {world.drawn_alike}" for world in _there(worlds))
    alike = "; ".join(said) or f"the same {World.drawn}"
    return (
        f"In one condition all participants get {alike}. Teammates who act by chance draw from the same seed "
        "for everybody, too."
    )


def _there(worlds: Iterable[str]) -> list[type[World]]:
    known = []
    for name in dict.fromkeys(worlds):
        try:
            known.append(get_world(name))
        except UnknownNameError:
            continue
    return known


STUDY = {
    "slug": "Name in the link",
    "thinking_seconds": "Thinking time, seconds",
    "idle_warning_minutes": "Warn after minutes without action",
    "idle_minutes": "Time out after minutes without action",
    "budget_limit": "Budget, US dollars",
}
CONDITION = {
    "name": "Name, for you and the figures",
    "label": "What participants read",
    "key": "Name in the data",
    "teammates": "Teammates",
    "thinking_seconds": "Thinking time, seconds",
    "step_seconds": "Step timer, seconds",
    "shown": "How the world is shown",
    "three_dimensions": "Also offer it in three dimensions",
    "shows_intents": "Show what teammates are about to do",
    "passes_by": "Go on without who is busy",
    "knowing": "Whose choice of the step a co-player knows",
    "decision_seconds": "Time for a decision, seconds",
    "offers_plans": "Let participants plan ahead",
}
ITEM = {**form_labels(), "enabled": "Asked"}
PART = {"enabled": "On: participants see this part", "text": "Text"}
PART_SETTINGS = {
    "statements": "Statements to agree to",
    "attempts": "Attempts",
    "on_failure": "After the last failed attempt",
    "hints": "Hints step by step",
    "all_steps": "Lasts all its steps",
}
OUTCOME_LABELS = {"text": "Words", "has_code": "Fixed code", "has_address": "Address"}

_FORMS: dict[str, tuple[dict[str, str], Any]] = {
    "study": (STUDY, Study),
    "condition": ({**CONDITION, "coplayer": "Co-player"}, Condition),
    "item": (ITEM, SurveyItem),
    "part": (PART, StudyPart),
    "end": (OUTCOME_LABELS, Outcome),
}


def difference_field_label(one: Difference, *designs: Blueprint) -> str:
    """Return the form label of a field that differs.

    For a setting, the label comes from the declaration of its world, co-player or part. The newest of
    `designs`, which is the last, is searched first.
    """
    what, _, key = one.where.partition(" ")
    name, *more = one.field.split(": ")
    if what == "study" and name == "same_dishes":
        return same_events_label([world for design in designs for world in design.worlds])
    if what == "study":
        return ": ".join([_label(what, name), *more])
    return _setting_label(what, key, [name, *more], designs) if more else _label(what, name)


def _label(what: str, name: str) -> str:
    """Return the form label or verbose name of a model field. Other names are made readable."""
    labels, model = _FORMS.get(what, ({}, Study))
    if name in labels:
        return labels[name]
    try:
        return str(capfirst(str(model._meta.get_field(name).verbose_name)))
    except FieldDoesNotExist:
        return str(capfirst(name.replace("_", " ")))


def _setting_label(what: str, key: str, path: list[str], designs: tuple[Blueprint, ...]) -> str:
    name = path[-1]
    for design in reversed(designs):
        if setting := _declared(design, what, key, path):
            return setting.label
    return PART_SETTINGS.get(name) or _label("condition", name) if what == "part" else readable_name(name)


def _declared(design: Blueprint, what: str, key: str, path: list[str]) -> Setting | None:
    """Return the setting that a world or co-player declares, or None if neither declares this name."""
    part = {"settings": WORLD, "coplayer_settings": COPLAYER}.get(path[-2])
    if part is None or (what == "part" and len(path) < 3):
        return None
    rows: Any = design.conditions if what == "condition" else design.parts
    plan = next((row for row in rows if key == (getattr(row, "key", None) or row.kind)), None)
    if plan is None:
        return None
    played = vars(plan) if what == "condition" else practice_played(plan.settings.get("kitchen", {}))
    kinds = (kind for kind in all_kinds() if (kind.part, kind.name) == (part, played[part]))
    return next((one for kind in kinds for one in kind.settings if one.name == path[-1]), None)
