"""Describe how two designs differ, such as a study's and its preregistered one, as texts for pages.

The texts use the labels of the forms with which researchers edit the design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.utils.text import capfirst

from kitchen.contract.world import Json
from kitchen.forms.setting_fields import readable_name
from study.design.blueprint import Blueprint
from study.design.form_labels import declared_setting, design_row, difference_field_label, study_label
from study.design.item_places import item_place_words
from study.design.models import SurveyItem
from study.design.own_pages import place_words
from study.design.parts_other_than_rounds import PARTS
from study.design.preregistration import program_differences
from study.design.study_versions import Difference, differences
from study.design.translations import describe_text_path, language_name
from study.editor.describe_design import (
    NOTHING_SET,
    LabelledValue,
    condition_pairs,
    coplayer_words,
    end_pairs,
    end_words,
    file_pairs,
    page_pairs,
    part_pairs,
    part_value,
    plain_value,
    question_pairs,
    setting_value,
    shown_words,
    study_value,
    talk_language_words,
)
from study.editor.place_choices import FIXED_PLACES

LONG = 80
"""The length in characters above which a text is folded."""
WHOLE = "all of it"
"""The field name that `differences` uses for a row that was added or removed."""

UNSET_TIMES = {
    "thinking_seconds": "as in the study",
    "step_seconds": "none",
    "decision_seconds": "as the server has it",
}
"""The text shown for an empty time of a condition."""
CONDITION_WORDS: Mapping[str, Callable[[Any], str]] = {
    "shown": shown_words,
    "talk_language": talk_language_words,
}
"""Functions that return the text for a field of a condition, by field."""


class ChangeSide(NamedTuple):
    """The old or the new value of a change, for display. It is one text, a list of texts (`many`), or the
    labelled values (`pairs`) of an added or removed row."""

    text: str
    pairs: tuple[LabelledValue, ...] = ()
    many: tuple[str, ...] = ()

    @property
    def folded(self) -> bool:
        """Return True if the table shows only the beginning of this value until the user opens it."""
        return bool(self.pairs) or len(self.text) > LONG


class Change(NamedTuple):
    """One difference between two designs, as texts for display."""

    where: str
    field: str
    old: ChangeSide
    new: ChangeSide


def design_changes(old: Blueprint, new: Blueprint) -> list[Change]:
    """Return every difference between a preregistered design (`old`) and the current one (`new`)."""
    return [_DifferenceWords(one, (old, new)).change() for one in differences(old, new)]


def compared_designs(one: Blueprint, other: Blueprint) -> list[Change]:
    """Return every difference between two designs of any studies and formats. The old side is that of `one`.

    The name in the link is left out, because it says nothing about the design. So are completion codes and
    addresses: they stay when a file replaces a design.
    """
    one, other = map(_without_codes, (one, other))
    if one.format <= other.format:
        found = design_changes(one, other)
    else:  # `design_changes` compares in the format of the older document
        found = [_turned(change) for change in design_changes(other, one)]
    return [change for change in found if (change.where, change.field) != ("Study", study_label("slug"))]


def _without_codes(design: Blueprint) -> Blueprint:
    hidden = {"has_code": False, "has_address": False}
    ends = tuple(end.model_copy(update=hidden) for end in design.outcomes if end.text)
    return design.model_copy(update={"outcomes": ends})


def _turned(change: Change) -> Change:
    """Return the change from the other side: what was added is then removed."""
    field = {"Added": "Removed", "Removed": "Added"}.get(change.field, change.field)
    return Change(change.where, field, change.new, change.old)


def program_changes(bundle: Mapping[str, Json]) -> list[Change]:
    """Return how the running version of the application treats the design differently from the version that
    froze it."""
    names = {row["key"]: row["name"] for row in bundle["content"]["design"]["conditions"]}
    return [
        Change(
            _program_place(one.where, names),
            capfirst(one.field),
            _derived_value(one.old, names),
            _derived_value(one.new, names),
        )
        for one in program_differences(bundle)
    ]


def _program_place(where: str, names: Mapping[str, str]) -> str:
    what, _, key = where.partition(" ")
    if what == "condition":
        return f"Condition “{names.get(key, key)}”"
    return f"{capfirst(what)} {readable_name(key)}".strip() if key else str(capfirst(where))


def _derived_value(value: Json, names: Mapping[str, str]) -> ChangeSide:
    """Return a value that follows from the design, in readable form. Orders of conditions become a list,
    and other values become a text."""
    if not isinstance(value, dict) or "sequences" not in value:
        return ChangeSide(plain_value(value))
    orders = [" → ".join(names.get(key, key) for key in one["order"]) for one in value["sequences"]]
    return ChangeSide(
        value["meaning"],
        (LabelledValue("Rule", value["meaning"]), LabelledValue("Orders", many=tuple(orders))),
    )


ROW_WORDS: Mapping[tuple[str, str], Callable[[Any], str]] = {
    ("item", "place"): lambda value: item_place_words(value, FIXED_PLACES),
    ("item", "kind"): lambda value: str(SurveyItem.Kind(value).label),
    ("page", "before"): lambda value: place_words(value, {kind.name: kind.words for kind in PARTS.values()}),
}
"""Functions that describe a value, by kind of row and field."""


class _DifferenceWords:
    """Turns one difference between two designs into words."""

    def __init__(self, difference: Difference, designs: tuple[Blueprint, Blueprint]) -> None:
        self.difference = difference
        self.what, _, self.key = difference.where.partition(" ")
        self.path = difference.field.split(": ")
        self.plans = [design_row(design, difference.where) for design in designs]
        self.designs = designs

    def change(self) -> Change:
        """Return the difference between the two designs as texts for display."""
        if self.difference.field == WHOLE:
            old, new = (self._whole(plan) for plan in self.plans)
            return Change(self._where(), "Removed" if self.plans[1] is None else "Added", old, new)
        sides = zip(self.plans, (self.difference.old, self.difference.new), strict=True)
        old, new = (self._side(plan, value) for plan, value in sides)
        return Change(self._where(), self._label(), old, new)

    def _where(self) -> str:
        plan = self.plans[1] or self.plans[0]
        if self.what == "condition":
            return f"Condition “{plan.name}”"
        if self.what == "item":
            return f"Question “{plan.measure}”"
        if self.what == "part":
            return str(capfirst(PARTS[self.key].words))
        if self.what == "page":
            return f"Page “{plan.title}”"
        if self.what == "file":
            return f"File “{plan.name}”"
        return f"End: {end_words(self.key)}" if self.what == "end" else "Study"

    def _whole(self, plan: Any) -> ChangeSide:
        if plan is None:
            return ChangeSide(NOTHING_SET)
        told: Any = {
            "condition": condition_pairs,
            "item": question_pairs,
            "part": part_pairs,
            "end": end_pairs,
            "page": page_pairs,
            "file": file_pairs,
        }
        return ChangeSide("All of it", tuple(told[self.what](plan)))

    def _label(self) -> str:
        if self.path[0] != "texts" or self.what != "study":
            return difference_field_label(self.difference, *self.designs)
        language, where = self.path[1:2], self.path[2:]
        told = [study_label("texts"), *map(language_name, language), *map(describe_text_path, where)]
        return ": ".join(told)

    def _side(self, plan: Any, value: Json) -> ChangeSide:
        text = self._value(plan, value)
        many = isinstance(value, list) and self.what != "study"
        return ChangeSide(text, many=tuple(map(plain_value, value)) if many else ())

    def _value(self, plan: Any, value: Json) -> str:
        name = self.path[-1]
        if self.what == "study":
            return self._study_value(name, value)
        if len(self.path) > 1 and value is None:
            return "not set"
        if name in {"world", "coplayer"} and value:
            return coplayer_words(value)
        if len(self.path) > 1:
            return self._setting_value(plan, name, value)
        if self.what == "condition" and name in CONDITION_WORDS:
            return CONDITION_WORDS[name](value)
        if self.what == "condition" and value is None:
            return UNSET_TIMES.get(name, NOTHING_SET)
        return ROW_WORDS.get((self.what, name), plain_value)(value)

    def _setting_value(self, plan: Any, name: str, value: Json) -> str:
        if setting := declared_setting(plan, self.path):
            return setting_value(setting, value)
        return part_value(self.key, name, value) if self.what == "part" else plain_value(value)

    def _study_value(self, name: str, value: Json) -> str:
        if not name.startswith("order of "):
            return study_value(name, value)
        new = self.designs[1]
        conditions = {row.key: row.name for row in new.conditions}
        items = {row.key: row.measure for row in new.items}
        pages = {row.key: row.title for row in new.pages}
        names = {"order of conditions": conditions, "order of pages": pages}.get(name, items)
        return " → ".join(names[key] for key in value)
