"""Write a study as the values of its file: everything that `study_files` reads, without data of people.

Completion codes, the closing date, and who may edit the study are left out, as in a copy of a study. Fields
with their default values are left out, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import models
from django.db.models import Sum

from kitchen.contract.world import Json
from study.design.media_storage import media_files, media_rows
from study.design.models import Condition, OwnPage, Study, StudyMedia, StudyPart, SurveyItem
from study.design.models.parts_and_outcomes import Outcome
from study.design.own_pages import OwnPagePlan
from study.design.study_archive import media_problem, study_zip
from study.design.study_errors import DesignError
from study.design.study_files import (
    LIMITS,
    ROWS,
    ConditionTable,
    ItemTable,
    MediaTable,
    PageTable,
    PartTable,
    StudyFile,
    whole_design,
)
from study.design.toml_text import toml_text
from study.design.translations import all_texts

ALWAYS: Mapping[type[models.Model], frozenset[str]] = {
    Study: frozenset({"slug", "title", "seed", "orders", "languages"}),
    Condition: frozenset({"key", "name", "label", "world", "settings", "coplayer", "teammates"}),
    SurveyItem: frozenset({"key", "place", "kind", "measure", "text"}),
    StudyPart: frozenset({"enabled"}),
    StudyMedia: frozenset({"name", "sha256"}),
    OwnPage: frozenset({"key", "before", "title", "text"}),
}
"""Fields that are written even if they have their default."""
LISTS = ("languages", "between_groups")
"""Fields that the database stores as a text with spaces, and the file as a list."""


def study_as_toml(study: Study) -> str:
    """Return the study as a TOML text with its translations, without media."""
    return toml_text(study_file_values(study))


def study_as_zip(study: Study) -> bytes:
    """Return the whole study as a ZIP, with translations and media. Raises DesignError if it does not fit
    into one that can be read."""
    if why := zip_problem(study):
        raise DesignError(why)
    files = {one.name: one.data for one in media_files(study)}
    return study_zip(study.slug, study_file_values(study), files)


def zip_problem(study: Study) -> str:
    """Return why the study's media do not fit into a ZIP. Return an empty string if they may fit."""
    return media_problem(media_rows(study).aggregate(total=Sum("size"))["total"] or 0)


def study_file_values(study: Study) -> dict[str, Json]:
    """Return the study as the values of `StudyFile`. A study that is made from them is closed."""
    names = [name for name in StudyFile.model_fields if name not in {*ROWS, "status", "budget"}]
    values = _fields(study, names)
    values |= {name: str(values[name]).split() for name in LISTS if name in values}
    budget = study.budget_limit
    values |= {"status": Study.Status.CLOSED.value, "budget": _number(float(budget))}
    if unlimited := [name for name in LIMITS if getattr(study, name) is None]:
        values["unlimited"] = unlimited
    rows = {
        "parts": {row.kind: _fields(row, PartTable.model_fields) for row in study.parts.all()},
        "conditions": [_fields(row, ConditionTable.model_fields) for row in study.conditions.all()],
        "items": [_fields(row, ItemTable.model_fields) for row in study.items.all()],
        "outcomes": [told for row in study.outcomes.all() if (told := _outcome(row))],
        "pages": [_page(row) for row in study.own_pages.all()],
        "media": [_fields(row, MediaTable.model_fields) for row in media_rows(study)],
        "texts": _texts(study),
    }
    return values | {name: told for name, told in rows.items() if told}


def _fields(row: models.Model, names: Iterable[str]) -> dict[str, Json]:
    """Return the named fields of a database row that differ from the defaults of its model."""
    always, found = ALWAYS[type(row)], dict[str, Json]()
    for name in names:
        value = getattr(row, name)
        field: Any = row._meta.get_field(name)
        default = field.get_default()
        if value is not None and (name in always or value != default):
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Json:
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _outcome(row: Outcome) -> dict[str, Json]:
    """Return an end without its code, and without an address that may contain one. Empty if nothing is
    left."""
    values = {"url": row.url if "{code}" in row.url else "", "text": row.text}
    told = {name: value for name, value in values.items() if value}
    return {"kind": row.kind, **told} if told else {}


def _page(row: OwnPage) -> dict[str, Json]:
    plan: OwnPagePlan = row.plan
    values = plan.model_dump(mode="json", exclude_defaults=True)
    return {name: values[name] for name in PageTable.model_fields if name in values}


def _texts(study: Study) -> dict[str, dict[str, str]]:
    """Return the translations by language and path. Translations of texts that were changed since are left
    out."""
    own = all_texts(whole_design(study))
    found = {
        language: {path: known[text] for path, text in own.items() if text and known.get(text)}
        for language, known in study.texts.items()
    }
    return {language: texts for language, texts in found.items() if texts}
