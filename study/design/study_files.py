"""Create a study from a TOML file, or from a ZIP file of a whole study (`study_archive`).

For an invalid file, the error names the file, the key and the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models, transaction
from pydantic import StringConstraints, TypeAdapter

from kitchen.contract.data_files import DataError, DataSource, Number, Record, error_text, one_of
from kitchen.contract.data_limits import DataLimitError, read_bytes
from kitchen.contract.world import Json
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME
from kitchen.words.english_text import os_error_words
from study.design.analysis_plan import KEY
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.media.media_errors import MediaError
from study.design.media_storage import store_media
from study.design.models import Condition, Outcome, OwnPage, Study, StudyPart, SurveyItem
from study.design.own_pages import ShowRule
from study.design.questions.item_fields import ItemPlan
from study.design.readiness_checks import blocking_problems
from study.design.study_archive import MEDIA_FOLDER, StudyContent, media_beside, read_study_bytes
from study.design.translations import all_texts


class WorldTable(Record):
    """The world and settings of every condition that does not define its own."""

    kind: str = DEFAULT_WORLD_NAME
    settings: dict[str, Json] = {}


class ConditionTable(ConditionPlan):
    """A condition. Missing fields come from the world's table, or from the defaults of `Condition`."""

    world: str | None = None  # type: ignore[assignment]
    settings: Mapping[str, Json] = {}
    coplayer: str | None = None  # type: ignore[assignment]
    coplayer_settings: Mapping[str, Json] = {}
    teammates: int = 0


class ItemTable(ItemPlan):
    """A survey item in the file. An item with `enabled = false` is not asked."""

    enabled: bool = True


class PartTable(Record):
    """A part of the study in the file, such as the guide. Missing fields have the defaults of `StudyPart`."""

    enabled: bool = True
    title: str = ""
    text: str = ""
    settings: dict[str, Json] = {}


class OutcomeTable(Record):
    """The code, address and text for one way to end the study, such as timing out."""

    kind: str
    code: str = ""
    url: str = ""
    text: str = ""


class PageTable(Record):
    """A page that researchers wrote. Missing fields have the defaults of `OwnPage`."""

    key: str
    before: str
    title: str
    text: str = ""
    ends: bool = False
    show_if: ShowRule = ShowRule()
    not_before_hours: int | None = None
    not_after_hours: int | None = None
    session_code: str = ""


class MediaTable(Record):
    """A media file. It is in the folder `media` beside the study's file, and its hash must be right."""

    name: str
    sha256: str
    alt: str = ""
    transcript: str = ""


GroupKey = Annotated[
    str,
    StringConstraints(pattern=f"^{KEY.pattern}$"),
    error_text("must be letters, digits, hyphens and underscores"),
]
"""The key of a between-subjects group."""


LIMITS = ("entries_per_address", "entries_per_minute", "idle_warning_minutes", "idle_minutes")
"""Fields of `Study` that have a limit by default, and can be without one."""
Limit = Annotated[str, one_of(LIMITS)]


class StudyFile(Record):
    """The contents of a study's file. Missing fields have the defaults of `Study`."""

    slug: str
    title: str
    status: str | None = None
    seed: int | None = None
    orders: str | None = None
    between_groups: list[GroupKey] = []
    factors: list[dict[str, Json]] = []
    one_round_per: str = ""
    blocked_by: str = ""
    rounds_per_person: int | None = None
    same_dishes: bool = False
    shuffle_items: bool = False
    scores_above_surveys: bool = False
    remind_teams: bool = True
    recruitment: str | None = None
    max_participants: int | None = None
    entries_per_address: int | None = None
    entries_per_minute: int | None = None
    max_round_trip_ms: int | None = None
    idle_warning_minutes: int | None = None
    idle_minutes: int | None = None
    planned_participants: int | None = None
    hypotheses: str = ""
    exclusions: str = ""
    failed_checks_allowed: int | None = None
    planned_tests: str = ""
    main_test: str | None = None
    measures_correction: str | None = None
    planned_contrasts: str = ""
    measure_roles: dict[str, str] = {}
    figure_texts: dict[str, Json] = {}
    allocation: dict[str, Json] = {}
    bonus_rule: dict[str, Json] = {}
    conceals_allocation: bool = False
    thinking_seconds: Number | None = None
    shown: str | None = None
    asks_first: bool = False
    blocked_words: str = ""
    keeps_devices: bool = False
    think_aloud: str = ""
    part_order: str = ""
    survey_show_if: dict[str, Json] = {}
    budget: Number | None = None
    pauses_when_spent: bool = False
    unlimited: list[Limit] = []
    """Limits that are switched off. Missing limits have the defaults of `Study`."""
    languages: list[str] = []
    texts: dict[str, dict[str, str]] = {}
    world: WorldTable = WorldTable()
    parts: dict[str, PartTable] = {}
    conditions: list[ConditionTable] = []
    items: list[ItemTable] = []
    outcomes: list[OutcomeTable] = []
    pages: list[PageTable] = []
    media: list[MediaTable] = []


_FILE = TypeAdapter(StudyFile)
ROWS = {"world", "parts", "conditions", "items", "outcomes", "pages", "media", "texts", "unlimited"}
"""Keys of the file that are not fields of `Study`, or that are set from other values."""


@transaction.atomic
def study_from_file(path: Path, *, shared: bool = False, **changes: Any) -> Study:
    """Create the study that the file describes, and return it.

    `changes` override the study's own fields. All staff may copy a `shared` study. Raises DataError if the
    file is invalid or the slug is taken.
    """
    try:
        data = read_bytes(path)
    except DataLimitError as error:
        raise DataError(f"{path.name}: {error}") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be read: {os_error_words(error)}") from error
    content = read_study_bytes(data, path.name)
    if not content.media:
        content = replace(content, media=media_beside(path))
    return study_from_content(content, shared=shared, **changes)


@transaction.atomic
def study_from_content(content: StudyContent, *, shared: bool = False, **changes: Any) -> Study:
    """Create the study that a file describes (see `study_from_file`), and return it."""
    source, told = content.source, content.source.read(_FILE, content.values)
    study = _make(source, Study, {**_study_values(told), "shared": shared, **changes})
    rows_from_content(study, content)
    return study


def rows_from_content(study: Study, content: StudyContent) -> None:
    """Create everything of the design that belongs to the study's row: conditions, items, parts, ends, pages,
    translations and media. The study has none of them yet.

    Raises DataError if anything is invalid. The caller then undoes the transaction.
    """
    source, told = content.source, content.source.read(_FILE, content.values)
    for position, condition in enumerate(told.conditions, start=1):
        row = {**_condition_values(condition, told.world), "study": study, "position": position}
        _make(source.at(f"conditions[{position}]"), Condition, row)
    for position, item in enumerate(told.items, start=1):
        row = {**_given_fields(item), "study": study, "position": position}
        _make(source.at(f"items[{position}]"), SurveyItem, row)
    for kind, part in told.parts.items():
        _make(source.at(f"parts.{kind}"), StudyPart, {**_given_fields(part), "study": study, "kind": kind})
    for position, outcome in enumerate(told.outcomes, start=1):
        _make(source.at(f"outcomes[{position}]"), Outcome, {**_given_fields(outcome), "study": study})
    for position, page in enumerate(told.pages, start=1):
        row = {**page.model_dump(mode="json", exclude_unset=True), "study": study, "position": position}
        _make(source.at(f"pages[{position}]"), OwnPage, row)
    _store_all_media(source, study, told.media, content.media)
    study.texts = _texts(source, all_texts(whole_design(study)), told.texts)
    study.save(update_fields=["texts"])
    _check_open(source, study)


def study_fields_of(content: StudyContent) -> dict[str, Any]:
    """Return the fields of `Study` that a file sets, by name. Raises DataError if the file is invalid."""
    return _study_values(content.source.read(_FILE, content.values))


@contextmanager
def study_tried_out(content: StudyContent, **changes: Any) -> Iterator[Study]:
    """Create the study that a file describes, and undo this after the block. So a file is checked completely
    and its design can be read, without a change. Raises DataError if the file is invalid."""
    with transaction.atomic():
        point = transaction.savepoint()
        try:
            yield study_from_content(content, **changes)
        finally:
            transaction.savepoint_rollback(point)


def whole_design(study: Study) -> Blueprint:
    """Return the study's design with the items that are switched off. Their translations are kept, too."""
    items = tuple(ItemPlan.of(row) for row in study.items.all())
    return blueprint_of(study).model_copy(update={"items": items})


def _store_all_media(
    source: DataSource, study: Study, told: Sequence[MediaTable], files: Mapping[str, bytes]
) -> None:
    """Store the media of a study. Raises DataError if a file is missing, refused, not named, or not the one
    that the study's file means."""
    if unnamed := files.keys() - {one.name for one in told}:
        raise source.error("media", f"does not name {MEDIA_FOLDER}/{min(unnamed)}")
    for number, one in enumerate(told, start=1):
        at = source.at(f"media[{number}]")
        if one.name not in files:
            raise at.error("name", f"{MEDIA_FOLDER}/{one.name} is not there")
        texts = {"alt": one.alt, "transcript": one.transcript}
        try:
            row = store_media(study, one.name, files[one.name], **texts, replaces=True)
        except MediaError as error:
            raise at.error("name", str(error)) from error
        if (row.name, row.sha256) != (one.name, one.sha256):
            raise at.error("sha256", f"{one.name} has another content")


def _given_fields(told: Record) -> dict[str, Any]:
    """Return the fields that a table of the file sets. Fields with default values are not added. `told` is
    the table."""
    return told.model_dump(exclude_unset=True)


def _study_values(told: StudyFile) -> dict[str, Any]:
    values = told.model_dump(exclude_unset=True, exclude=ROWS)
    if "budget" in values:
        values["budget_limit"] = Decimal(str(values.pop("budget")))
    for name in {"languages", "between_groups"} & values.keys():
        values[name] = " ".join(values[name])
    return values | dict.fromkeys(told.unlimited)


def _condition_values(told: ConditionTable, world: WorldTable) -> dict[str, Any]:
    """Return the fields of a condition from its table `told` in the file. Fields that are missing there
    come from the study's world."""
    settings = {**world.settings, **told.settings}
    return {"world": world.kind, **_given_fields(told), "settings": settings}


def _texts(
    source: DataSource, own: Mapping[str, str], told: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the file's translations by language and original text. `own` has the study's texts by path, and
    `told` the translations by language and path. Raises DataError for a path that the study lacks."""
    for language, texts in told.items():
        if unknown := texts.keys() - own.keys():
            raise source.error(f"texts.{language}", f"{min(unknown)} is no text of this study")
    return {
        language: {own[path]: text.strip() for path, text in texts.items()}
        for language, texts in told.items()
    }


def _check_open(source: DataSource, study: Study) -> None:
    """Raise DataError if the file describes an open study that the console would not allow to open."""
    if study.status == Study.Status.OPEN and (missing := blocking_problems(study)):
        where = f"parts.{missing[0].args[0]}" if missing[0].page == "part" else ""
        raise source.error(where, f'{missing[0].words} Or say status = "closed".')


Made = TypeVar("Made", bound=models.Model)


def _make(source: DataSource, model: type[Made], values: Mapping[str, Any]) -> Made:
    trimmed = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
    made = model(**trimmed)
    try:
        made.full_clean()
    except ValidationError as error:
        raise _refusal(source, error) from error
    made.save()
    return made


def _refusal(source: DataSource, error: ValidationError) -> DataError:
    """Return a DataError that lists, in one line, all problems that the database model found in the study."""
    messages = {"" if name == NON_FIELD_ERRORS else name: texts for name, texts in error.message_dict.items()}
    (key, reason), *more = ((source.at(name).key, " ".join(texts)) for name, texts in messages.items())
    return DataSource(source.file).error(key, "; ".join([reason, *(f"{key}: {told}" for key, told in more)]))
