"""Describe how two studies differ in what the document of a design does not have.

These are fields about recruitment and figures, questions that are switched off, and files that no text shows.
The file of a study has all of them, so they change when the file is taken.
"""

from __future__ import annotations

from django.utils.text import capfirst

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint
from study.design.models import Study
from study.editor.describe_changes import Change, ChangeSide, design_changes
from study.editor.describe_design import plain_value
from study.editor.design_forms import RecruitmentForm
from study.editor.study_file_services import OutsideDesign

EMPTY = {
    "max_participants": "no limit",
    "entries_per_address": "no limit",
    "entries_per_minute": "no limit",
}
"""Texts that say what an empty field means."""


def outside_changes(old: OutsideDesign, new: OutsideDesign) -> list[Change]:
    """Return every difference between two studies outside their designs."""
    fields = [
        Change("Study", _label(name), _side(name, old.fields[name]), _side(name, new.fields[name]))
        for name in new.fields
        if old.fields[name] != new.fields[name]
    ]
    return fields + _unused_changes(old.unused, new.unused)


def _unused_changes(old: Blueprint, new: Blueprint) -> list[Change]:
    """Return the differences between questions that are switched off, and between files that are shown
    nowhere. Their order is not compared."""
    notes = {"Question": "switched off", "File": "shown nowhere"}
    found = [(change, notes.get(change.where.partition(" ")[0])) for change in design_changes(old, new)]
    return [change._replace(where=f"{change.where}, {note}") for change, note in found if note]


def _label(name: str) -> str:
    field = RecruitmentForm.base_fields.get(name)
    return str(field.label if field else capfirst(str(Study._meta.get_field(name).verbose_name)))  # type: ignore[union-attr]


def _side(name: str, value: Json) -> ChangeSide:
    if name == "recruitment":
        return ChangeSide(str(Study.Recruitment(value).label))
    return ChangeSide(EMPTY.get(name, "") if value is None else plain_value(value))
