"""Studies as data files: read, checked, made. A wrong file is refused with file, key and reason."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import models, transaction

from study.models import Condition, Study, SurveyItem

DEMO = Path(__file__).parent / "data" / "demo.toml"


class StudyFileError(Exception):
    """A study file that cannot be used: the message names the file, the key and the reason."""


@transaction.atomic
def study_from_file(path: Path) -> Study:
    """The study that the file describes, made anew; StudyFileError if it is wrong or its slug is taken."""
    table = _read(path)
    conditions, items, world = table.pop("conditions", []), table.pop("items", []), table.pop("world", {})
    study = _make(path, "study", Study, table)
    for position, row in enumerate(conditions, start=1):
        settings = {**world.get("settings", {}), **row.pop("settings", {})}
        filled = {"world": world.get("kind", "cuisine"), **row, "settings": settings}
        _make(path, f"conditions[{position}]", Condition, {**filled, "study": study, "position": position})
    for position, row in enumerate(items, start=1):
        _make(path, f"items[{position}]", SurveyItem, {**row, "study": study, "position": position})
    return study


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
        reasons = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
        raise StudyFileError(f"{path}: {where}: {reasons}") from error
    made.save()
    return made
