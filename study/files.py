"""Studies as data files: read, checked, made. A wrong file is refused with file, key and reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models, transaction

from study.models import Condition, Outcome, Study, StudyPart, SurveyItem
from study.readiness import hindrances


class StudyFileError(Exception):
    """A study file that cannot be used: the message names the file, the key and the reason."""


STUDY: Mapping[str, type] = {
    "slug": str,
    "title": str,
    "status": str,
    "seed": int,
    "orders": str,
    "same_dishes": bool,
    "shuffle_items": bool,
    "recruitment": str,
    "max_participants": int,
    "idle_warning_minutes": int,
    "idle_minutes": int,
    "planned_participants": int,
    "hypotheses": str,
    "exclusions": str,
    "failed_checks_allowed": int,
    "planned_tests": str,
    "thinking_seconds": float,
    "budget": float,
    "world": dict,
    "parts": dict,
    "conditions": list,
    "items": list,
    "outcomes": list,
}
PART: Mapping[str, type] = {"enabled": bool, "title": str, "text": str, "settings": dict}
OUTCOME: Mapping[str, type] = {"kind": str, "code": str, "url": str, "text": str}
WORLD: Mapping[str, type] = {"kind": str, "settings": dict}
CONDITION: Mapping[str, type] = {
    "key": str,
    "name": str,
    "label": str,
    "world": str,
    "settings": dict,
    "coplayer": str,
    "coplayer_settings": dict,
    "teammates": int,
    "thinking_seconds": float,
    "step_seconds": float,
}
ITEM: Mapping[str, type] = {
    "key": str,
    "place": str,
    "kind": str,
    "measure": str,
    "text": str,
    "points": int,
    "low": str,
    "high": str,
    "scale": str,
    "reversed": bool,
    "needs_teammates": bool,
    "options": list,
    "minimum": float,
    "maximum": float,
    "step": float,
    "correct": object,
    "required": bool,
    "enabled": bool,
}
"""What may stand in each kind of table, and in what type."""

WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list of tables",
}


@transaction.atomic
def study_from_file(path: Path) -> Study:
    """The study that the file describes, made anew; StudyFileError if it is wrong or its slug is taken."""
    table = _table(path, "study", _read(path), STUDY)
    conditions, items = table.pop("conditions", []), table.pop("items", [])
    parts, outcomes = table.pop("parts", {}), table.pop("outcomes", [])
    world = _table(path, "world", table.pop("world", {}), WORLD)
    if "budget" in table:
        table["budget_limit"] = Decimal(str(table.pop("budget")))
    study = _make(path, "study", Study, table)
    for position, row in enumerate(conditions, start=1):
        _make_condition(path, f"conditions[{position}]", row, world, {"study": study, "position": position})
    for position, row in enumerate(items, start=1):
        where = f"items[{position}]"
        values = {**_table(path, where, row, ITEM), "study": study, "position": position}
        _make(path, where, SurveyItem, values)
    for kind, row in parts.items():
        values = {**_table(path, f"parts.{kind}", row, PART), "study": study, "kind": kind}
        _make(path, f"parts.{kind}", StudyPart, values)
    for position, row in enumerate(outcomes, start=1):
        where = f"outcomes[{position}]"
        _make(path, where, Outcome, {**_table(path, where, row, OUTCOME), "study": study})
    _check_open(path, study)
    return study


def _check_open(path: Path, study: Study) -> None:
    """Nobody is taken before all is there that the console asks for."""
    if study.status == Study.Status.OPEN and (found := hindrances(study)):
        where = f"parts.{found[0].args[0]}" if found[0].page == "part" else "study"
        raise StudyFileError(f'{path}: {where}: {found[0].words} Or say status = "closed".')


def _make_condition(
    path: Path, where: str, row: object, world: Mapping[str, Any], place: Mapping[str, Any]
) -> None:
    """A condition out of its own table and, where that says nothing, the study's world."""
    own = _table(path, where, row, CONDITION)
    settings = {**world.get("settings", {}), **own.get("settings", {})}
    filled = {"world": world.get("kind", "cuisine"), **own, "settings": settings, **place}
    _make(path, where, Condition, filled)


def _table(path: Path, where: str, found: object, kinds: Mapping[str, type]) -> dict[str, Any]:
    """A copy of a table that holds only what it may; StudyFileError names what is wrong."""
    if not isinstance(found, dict):
        raise StudyFileError(f"{path}: {where}: a table is wanted, not {found!r}")
    for key, value in found.items():
        if key not in kinds:
            raise StudyFileError(f"{path}: {where}: {key}: no such key; there are {', '.join(kinds)}")
        if not _fits(value, kinds[key]):
            raise StudyFileError(f"{path}: {where}: {key}: {WORDS[kinds[key]]} is wanted, not {value!r}")
    return dict(found)


def _fits(value: object, kind: type) -> bool:
    """Exactly of this type: true is no number, but 2 is one with a fraction of nothing."""
    return kind is object or type(value) is kind or (kind is float and type(value) is int)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyFileError(f"{path}: {error}") from error


Made = TypeVar("Made", bound=models.Model)


def _make(path: Path, where: str, model: type[Made], values: dict[str, Any]) -> Made:
    trimmed = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
    try:
        made = model(**trimmed)
        made.full_clean()
    except TypeError as error:
        raise StudyFileError(f"{path}: {where}: {error}") from error
    except ValidationError as error:
        reasons = "; ".join(
            " ".join(texts) if name == NON_FIELD_ERRORS else f"{name}: {' '.join(texts)}"
            for name, texts in error.message_dict.items()
        )
        raise StudyFileError(f"{path}: {where}: {reasons}") from error
    made.save()
    return made
