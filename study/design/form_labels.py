"""Return the form labels of a design's fields, for forms and for lists of differences between two designs.

One label depends on the study's worlds (games), because it names their random events. An example is “The same
events for everybody”.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.text import capfirst

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import World
from kitchen.forms.setting_fields import readable_name
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world
from study.design.blueprint import Blueprint, PartPlan
from study.design.condition_choices import COPLAYER, WORLD, settings_of_kind
from study.design.models import Condition, Outcome, OwnPage, Study, StudyMedia, StudyPart, SurveyItem
from study.design.parts_other_than_rounds import practice_played
from study.design.questions.item_fields import form_labels
from study.design.study_versions import Difference


def random_events_name(worlds: Iterable[str]) -> str:
    """Return a word for what these worlds draw at random, such as `events`. Words of several worlds are
    joined by “and”. Unknown worlds are skipped. Return `events` if no world is known."""
    return " and ".join(dict.fromkeys(world.drawn for world in _there(worlds))) or World.drawn


def same_events_label(worlds: Iterable[str]) -> str:
    """Return the form label of the setting that gives all participants the same random events, such as “The
    same events for everybody”."""
    return f"The same {random_events_name(worlds)} for everybody"


def same_events_meaning(worlds: Iterable[str]) -> str:
    """Return the help text of the setting that gives all participants the same random events."""
    said = dict.fromkeys(f"the same {world.drawn} {world.drawn_alike}" for world in _there(worlds))
    alike = "; ".join(said) or f"the same {World.drawn}"
    return (
        f"In one condition, all participants get {alike}. Teammates that act at random use the same seed for "
        "everybody, too."
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
    "max_round_trip_ms": "Longest round trip, milliseconds",
    "budget_limit": "Budget, US dollars",
    "bonus_rule": "Bonus",
    "survey_show_if": "Survey after a round, only if",
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
    "recommends_sound": "Recommend sound",
    "hides_dots": "Hide the dots at useful actions",
    "star_targets": "Results for one, two and three stars",
    "passes_by": "Go on without busy players",
    "knowing": "Whose commands a co-player knows before it decides",
    "decision_seconds": "Time for a decision, seconds",
    "offers_plans": "Let participants plan ahead",
    "probes": "Questions during the game",
    "rating_slider": "Slider beside the game",
    "order_choices": "Offer whole parts of an order as one choice",
    "talk_language": "Language in which co-players write to people",
    "goal": "Goal of a round",
    "ends_at_goal": "End the round at its goal",
    "ready_card": "Show a card before the round",
    "end_card": "Show one's share and the best result after the round",
    "rating_replay": "Offer the last ten seconds while rating",
    "lobby_practice": "Offer a kitchen while waiting for others",
    "lobby_practice_shared": "Let those who wait share this kitchen",
}
ITEM = {**form_labels(), "enabled": "Asked"}
PART = {"enabled": "On: participants see this part", "text": "Text"}
PART_SETTINGS = {
    "statements": "Statements to agree to",
    "attempts": "Attempts",
    "on_failure": "After the last failed attempt",
    "hints": "Hints step by step",
    "all_steps": "Always play all steps",
    "own_seat": "Practise in the seat of the group's first condition",
    "leads": "Practise as the leader of the teammates",
    "talks": "Write messages to the teammates in practice",
    "plays_first": "Play before reading",
    "show_if": "Shown if",
}
OUTCOME_LABELS = {"text": "Words", "has_code": "Fixed code", "has_address": "Address"}

_FORMS: dict[str, tuple[dict[str, str], Any]] = {
    "study": (STUDY, Study),
    "condition": ({**CONDITION, "coplayer": "Co-player"}, Condition),
    "item": (ITEM, SurveyItem),
    "part": (PART, StudyPart),
    "page": ({"show_if": "Shown if"}, OwnPage),
    "file": ({"sha256": "SHA-256"}, StudyMedia),
    "end": (OUTCOME_LABELS, Outcome),
}


def study_label(name: str, worlds: Iterable[str] = ()) -> str:
    """Return the form label of a field of the study. The label of the field `same_dishes` names the random
    events of `worlds`."""
    return same_events_label(worlds) if name == "same_dishes" else _label("study", name)


def part_label(name: str) -> str:
    """Return the form label of a setting of a part."""
    return PART_SETTINGS.get(name) or _label("condition", name)


def difference_field_label(one: Difference, *designs: Blueprint) -> str:
    """Return the form label of a field that differs between two designs. `one` is the difference.

    For a setting, the label comes from its world, co-player or part. The last of the `designs` is searched
    first, so pass the newest design last.
    """
    what = one.where.partition(" ")[0]
    name, *more = one.field.split(": ")
    if what == "study":
        worlds = [world for design in designs for world in design.worlds]
        return ": ".join([study_label(name, worlds), *more])
    if not more:
        return _label(what, name)
    for design in reversed(designs):
        if setting := declared_setting(design_row(design, one.where), [name, *more]):
            return setting.label
    return part_label(more[-1]) if what == "part" else readable_name(more[-1])


def _label(what: str, name: str) -> str:
    """Return the form label of a field, or its verbose name. Without either, the field's name is made
    readable. `what` is the kind of row, such as a condition."""
    labels, model = _FORMS.get(what, ({}, Study))
    if name in labels:
        return labels[name]
    try:
        return str(capfirst(str(model._meta.get_field(name).verbose_name)))
    except FieldDoesNotExist:
        return str(capfirst(name.replace("_", " ")))


def design_row(design: Blueprint, where: str) -> Any:
    """Return the row of a design (a condition, item, part or outcome) that `where` names, such as `condition
    alone` (see `Difference.where`). Return None if there is none."""
    what, _, key = where.partition(" ")
    rows: Mapping[str, Sequence[Any]] = {
        "condition": design.conditions,
        "item": design.items,
        "part": design.parts,
        "end": design.outcomes,
        "page": design.pages,
    }
    if what == "file":
        return next((file for file in design.media if file.name == key), None)
    return next((row for row in rows.get(what, ()) if key == (getattr(row, "key", None) or row.kind)), None)


def declared_setting(row: Any, path: Sequence[str]) -> Setting | None:
    """Return the declaration of a setting of a world or co-player. Return None if there is none.

    `row` is a condition or part. `path` are the keys that lead to the setting's value in the row, such as
    `kitchen`, `settings`, `level`.
    """
    part = {"settings": WORLD, "coplayer_settings": COPLAYER}.get(path[-2])
    is_part = isinstance(row, PartPlan)
    if row is None or part is None or (is_part and len(path) < 3):
        return None
    played = practice_played(row.settings.get("kitchen", {})) if is_part else vars(row)
    return settings_of_kind(part, played[part]).get(path[-1])
