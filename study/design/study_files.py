"""Create a study from a TOML file. For an invalid file, the error names the file, the key and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import models, transaction
from pydantic import StringConstraints, TypeAdapter

from kitchen.contract.data_files import DataError, DataSource, Number, Record, error_text, read_toml
from kitchen.contract.world import Json
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME
from study.design.analysis_plan import KEY
from study.design.blueprint import ConditionPlan, blueprint_of
from study.design.models import Condition, Outcome, OwnPage, Study, StudyPart, SurveyItem
from study.design.own_pages import ShowRule
from study.design.questions.item_fields import ItemPlan
from study.design.readiness_checks import blocking_problems
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


GroupKey = Annotated[
    str,
    StringConstraints(pattern=f"^{KEY.pattern}$"),
    error_text("must be letters, digits, hyphens and underscores"),
]
"""The key of a between-subjects group."""


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
    allocation: dict[str, Json] = {}
    bonus_rule: dict[str, Json] = {}
    conceals_allocation: bool = False
    thinking_seconds: Number | None = None
    shown: str | None = None
    asks_first: bool = False
    blocked_words: str = ""
    keeps_devices: bool = False
    think_aloud: str = ""
    budget: Number | None = None
    pauses_when_spent: bool = False
    languages: list[str] = []
    texts: dict[str, dict[str, str]] = {}
    world: WorldTable = WorldTable()
    parts: dict[str, PartTable] = {}
    conditions: list[ConditionTable] = []
    items: list[ItemTable] = []
    outcomes: list[OutcomeTable] = []
    pages: list[PageTable] = []


_FILE = TypeAdapter(StudyFile)
ROWS = {"world", "parts", "conditions", "items", "outcomes", "pages", "texts"}
"""Keys of the file that are not fields of `Study`, or that are set from other values."""


@transaction.atomic
def study_from_file(path: Path, *, shared: bool = False, **changes: Any) -> Study:
    """Create the study that the file describes, and return it.

    `changes` override the study's own fields. All staff may copy a `shared` study. Raises DataError if the
    file is invalid or the slug is taken.
    """
    source, values = read_toml(path, foreign=True)
    told = source.read(_FILE, values)
    study = _make(source, Study, {**_study_values(told), "shared": shared, **changes})
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
    study.texts = _texts(source, all_texts(blueprint_of(study)), told.texts)
    study.save(update_fields=["texts"])
    _check_open(source, study)
    return study


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
    return values


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
