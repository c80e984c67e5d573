"""The fields of a survey item, declared once for forms, files, documents and rows. Plain Python.

`ItemPlan` is one question as it is designed: in a questionnaire, a study file or a version's document.
The model `study.design.models.SurveyItem` has the same fields. To add a field, add a line here with its
`FieldInfo`, a model field with a migration, and the code that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from pydantic import Field

from kitchen.contract.data_files import Number, Record, one_of
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext_noop

PLACES = ("about", "check", "survey", "final")
"""Where items can be asked."""
AGREEMENT = (gettext_noop("Strongly disagree"), gettext_noop("Strongly agree"))
"""What an item says at its ends unless the researcher says otherwise: of a number it means nothing."""

DOES_NOT_APPLY: Json = {"does_not_apply": True}
"""The answer to an item that does not apply, as it is stored: no kind of item has it as a value."""


class FixedWhen(IntEnum):
    """When a field of a stored item stays as it is."""

    NEVER = 0
    BY_PEOPLE = 1
    """Once people answered it, or are on the way to it: the data rest on it."""
    BY_VALUES = 2
    """Once there are answers of anybody: stored values have this form."""


class FieldGroup(IntEnum):
    """Fields that stand together in a form, in the order of the form."""

    WHERE = 0
    WORDS = 1
    ASKED = 2
    MORE = 3


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What else there is to know of a field."""

    group: FieldGroup = FieldGroup.MORE
    fixed: FixedWhen = FixedWhen.BY_PEOPLE
    label: str = ""
    """As the console's form calls it; empty: as the model does."""
    longest: int | None = None
    """Characters of a text, at most."""
    note: str = ""
    """Told of an item of which the field is true or not empty; `{}` stands for its value."""
    since: int = 1
    """The format from which on documents have it."""
    analysed: bool = True
    """Whether another value makes another analysis."""


def _end(which: int) -> Callable[[Mapping[str, Any]], str]:
    return lambda told: AGREEMENT[which] if told.get("kind") == "likert" else ""


class ItemPlan(Record):
    """One question. What a kind has no use for keeps its default."""

    key: Annotated[str, FieldInfo(FieldGroup.WORDS, FixedWhen.BY_VALUES, "Name in the data", longest=50)]
    place: Annotated[str, one_of(PLACES), FieldInfo(FieldGroup.WHERE, FixedWhen.BY_VALUES)] = "survey"
    kind: Annotated[str, FieldInfo(FieldGroup.WHERE, FixedWhen.BY_VALUES)] = "likert"
    """One of `study.design.questions.item_kinds.KINDS`."""
    measure: Annotated[str, FieldInfo(FieldGroup.WORDS, longest=80)]
    """Its name in tables and figures."""
    text: Annotated[
        str, FieldInfo(FieldGroup.WORDS, label="What participants read", longest=300, analysed=False)
    ]
    points: Annotated[int, FieldInfo(FieldGroup.WORDS, FixedWhen.BY_VALUES, "Points of the scale")] = 5
    """Of a Likert item, 3 to 11: the answers are 1 to `points`."""
    low: Annotated[str, FieldInfo(FieldGroup.WORDS, label="Words at the lowest point", longest=60)] = Field(
        default_factory=_end(0)
    )
    high: Annotated[str, FieldInfo(FieldGroup.WORDS, label="Words at the highest point", longest=60)] = Field(
        default_factory=_end(1)
    )
    """The words at the ends: of a Likert item those of agreement if left out, of a number none."""
    scale: Annotated[str, FieldInfo(label="Sub-scale", longest=40, note="sub-scale {}")] = ""
    """The sub-scale that it counts for; empty for none."""
    reversed: Annotated[bool, FieldInfo(note="reversed")] = False
    """A high answer means little of the scale."""
    options: Annotated[list[str], FieldInfo(fixed=FixedWhen.BY_VALUES, analysed=False)] = []
    """What there is to choose: two or more."""
    minimum: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES)] = None
    maximum: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES)] = None
    """Of a number; None for no bound. A number that is reversed or in a scale has both."""
    step: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES, analysed=False)] = None
    """Of a number: it lies whole steps above the minimum (or 0); None for any number."""
    correct: Annotated[Json, FieldInfo()] = None
    """The right answer of an attention check or a question of understanding, in the kind's own form."""
    required: Annotated[
        bool, FieldInfo(FieldGroup.ASKED, FixedWhen.NEVER, "Must be answered", analysed=False)
    ] = True
    needs_teammates: Annotated[
        bool,
        FieldInfo(
            FieldGroup.ASKED,
            FixedWhen.NEVER,
            "Only after episodes with teammates",
            note="only with teammates",
            since=3,
        ),
    ] = False
    """It is not asked after episodes in which the participant plays alone."""
    may_not_apply: Annotated[
        bool,
        FieldInfo(
            FieldGroup.ASKED,
            FixedWhen.NEVER,
            "Can be answered by “Does not apply”",
            note="or “does not apply”",
            since=4,
        ),
    ] = False
    """`DOES_NOT_APPLY` is an answer, too."""

    @property
    def shown_options(self) -> list[str]:
        """What participants read for each option, in their order."""
        return self.options


def _field_info() -> dict[str, FieldInfo]:
    by_field = {
        name: [one for one in field.metadata if isinstance(one, FieldInfo)]
        for name, field in ItemPlan.model_fields.items()
    }
    return {name: about for name, (about,) in by_field.items()}


FIELD_INFO: Mapping[str, FieldInfo] = _field_info()
"""What is known of each field, in the order of documents."""
LONGEST = {name: about.longest for name, about in FIELD_INFO.items() if about.longest}


def fixed_fields(at_least: FixedWhen) -> tuple[str, ...]:
    """The fields that stay as they are then."""
    return tuple(name for name, about in FIELD_INFO.items() if about.fixed >= at_least)


def form_fields(group: FieldGroup) -> tuple[str, ...]:
    """The fields of one group of a form."""
    return tuple(name for name, about in FIELD_INFO.items() if about.group is group)


def form_labels() -> dict[str, str]:
    """The fields that a form of the console calls otherwise than the model."""
    return {name: about.label for name, about in FIELD_INFO.items() if about.label}


def item_notes(item: ItemPlan) -> dict[str, str]:
    """What is to be told of an item beside what it asks, by field."""
    told = {name: getattr(item, name) for name, about in FIELD_INFO.items() if about.note}
    return {name: FIELD_INFO[name].note.format(value) for name, value in told.items() if value}
