"""Declare the fields of a survey item (one question) for forms, study files, JSON documents and the database.

`ItemPlan` is an item with its fields. `FieldInfo` describes one field, such as its label in forms. The Django
model `study.design.models.SurveyItem` stores the same fields. The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from kitchen.contract.data_files import Number, Record, worded_error
from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext_noop
from study.design.analysis_plan import KEY
from study.design.own_pages import PREFIX

PLACES = ("about", "check", "survey", "final")
"""The fixed places in a study where items can be asked. Others are the researchers' pages."""
AGREEMENT = (gettext_noop("Strongly disagree"), gettext_noop("Strongly agree"))
"""The default labels at the ends of an item's scale. For a number they mean that it has no labels."""

MOST_PAGE_KEY = 30
"""Longest key of a page that researchers wrote."""
DOES_NOT_APPLY: Json = {"does_not_apply": True}
"""The stored answer to an item that does not apply. No kind of item has it as a value."""


class FixedWhen(IntEnum):
    """The moment after which a field of a stored item cannot be changed."""

    NEVER = 0
    BY_PEOPLE = 1
    """Fixed once people answered the item, or may still be asked it."""
    BY_VALUES = 2
    """Fixed once there are any answers, because stored values depend on it."""


class FieldGroup(IntEnum):
    """The groups of fields in the item form, in their order."""

    WHERE = 0
    WORDS = 1
    ASKED = 2
    MORE = 3


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """The rules for one field of an item besides its type: its place and label in forms, and when it
    becomes fixed."""

    group: FieldGroup = FieldGroup.MORE
    fixed: FixedWhen = FixedWhen.BY_PEOPLE
    label: str = ""
    """The label in the console's form; empty if it is the model's."""
    longest: int | None = None
    """Maximum number of characters of a text."""
    note: str = ""
    """A remark on items whose field is true or not empty. `{}` is replaced by the value."""
    since: int = 1
    """The first format of documents that has the field."""
    analysed: bool = True
    """True if another value changes the analysis."""


def is_place(place: str) -> bool:
    """Return whether items can be asked at this place: a fixed one, or `own-` and the key of a page that
    researchers wrote."""
    key = place.removeprefix(PREFIX)
    return place in PLACES or (key != place and len(key) <= MOST_PAGE_KEY and bool(KEY.fullmatch(key)))


def _known_place(place: str) -> str:
    if not is_place(place):
        raise worded_error(f"{place!r} is not one of {', '.join(PLACES)}, or {PREFIX} and the key of a page")
    return place


def _end(which: int) -> Callable[[Mapping[str, Any]], str]:
    return lambda told: AGREEMENT[which] if told.get("kind") == "likert" else ""


class ItemPlan(Record):
    """One question to participants. Fields that its kind of question does not use keep their defaults."""

    key: Annotated[str, FieldInfo(FieldGroup.WORDS, FixedWhen.BY_VALUES, "Name in the data", longest=50)]
    place: Annotated[str, AfterValidator(_known_place), FieldInfo(FieldGroup.WHERE, FixedWhen.BY_VALUES)] = (
        "survey"
    )
    kind: Annotated[str, FieldInfo(FieldGroup.WHERE, FixedWhen.BY_VALUES)] = "likert"
    """One of `study.design.questions.item_kinds.KINDS`."""
    measure: Annotated[str, FieldInfo(FieldGroup.WORDS, longest=80)]
    """The item's name in tables and figures."""
    text: Annotated[
        str, FieldInfo(FieldGroup.WORDS, label="What participants read", longest=300, analysed=False)
    ]
    points: Annotated[int, FieldInfo(FieldGroup.WORDS, FixedWhen.BY_VALUES, "Points of the scale")] = 5
    """The number of points of a Likert item, 3 to 11. Its answers are 1 to `points`."""
    low: Annotated[str, FieldInfo(FieldGroup.WORDS, label="Words at the lowest point", longest=60)] = Field(
        default_factory=_end(0)
    )
    high: Annotated[str, FieldInfo(FieldGroup.WORDS, label="Words at the highest point", longest=60)] = Field(
        default_factory=_end(1)
    )
    """The labels at the ends. By default a Likert item has those of `AGREEMENT`, and a number has none."""
    scale: Annotated[str, FieldInfo(label="Sub-scale", longest=40, note="sub-scale {}")] = ""
    """The sub-scale that the item counts for; empty for none."""
    reversed: Annotated[bool, FieldInfo(note="reversed")] = False
    """True if a high answer means a low value on the scale."""
    options: Annotated[list[str], FieldInfo(fixed=FixedWhen.BY_VALUES, analysed=False)] = []
    """The options to choose from or to rank, or the labels of several texts; two or more."""
    minimum: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES)] = None
    maximum: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES)] = None
    """The bounds of a number; None for no bound. A number that is reversed or in a scale has both."""
    step: Annotated[Number | None, FieldInfo(fixed=FixedWhen.BY_VALUES, analysed=False)] = None
    """The step of a number: answers lie whole steps above the minimum (or 0). None allows any number."""
    unit: Annotated[str, FieldInfo(label="Unit", longest=20, note="in {}", since=16, analysed=False)] = ""
    """The unit of a number, shown behind it; empty for none."""
    shuffled: Annotated[bool, FieldInfo(note="options in random order", since=16, analysed=False)] = False
    """True if each participant sees the options in a random order of their own."""
    table: Annotated[
        str, FieldInfo(label="Heading of its table", longest=120, note="in a table", since=16, analysed=False)
    ] = ""
    """The heading of the table in which participants see this scale and its neighbours; empty for none."""
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
    """True if the item is left out after episodes in which the participant plays alone."""
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
    """True if `DOES_NOT_APPLY` is an answer, too."""

    @property
    def shown_options(self) -> list[str]:
        """Return the texts that participants read for the options, in order."""
        return self.options

    def option_lists(self) -> dict[str, list[str]]:
        """Return every field with one entry per option, by its name."""
        return {"options": self.options}


def _field_info() -> dict[str, FieldInfo]:
    by_field = {
        name: [one for one in field.metadata if isinstance(one, FieldInfo)]
        for name, field in ItemPlan.model_fields.items()
    }
    return {name: about for name, (about,) in by_field.items()}


FIELD_INFO: Mapping[str, FieldInfo] = _field_info()
"""The information about each field, in the order of documents."""
LONGEST = {name: about.longest for name, about in FIELD_INFO.items() if about.longest}


def fixed_fields(at_least: FixedWhen) -> tuple[str, ...]:
    """Return the names of the fields that cannot change any more. `at_least` is the item's state: `BY_VALUES`
    if there are answers, `BY_PEOPLE` if people gave answers or may still give some."""
    return tuple(name for name, about in FIELD_INFO.items() if about.fixed >= at_least)


def form_fields(group: FieldGroup) -> tuple[str, ...]:
    """Return the names of the fields in one group of a form."""
    return tuple(name for name, about in FIELD_INFO.items() if about.group is group)


def form_labels() -> dict[str, str]:
    """Return the labels of fields in the console's form, by field name. Only fields whose label differs
    from the model's label are included."""
    return {name: about.label for name, about in FIELD_INFO.items() if about.label}


def item_notes(item: ItemPlan) -> dict[str, str]:
    """Return short remarks about an item's settings, such as `reversed`, by field name. Fields with a
    false or empty value have no remark."""
    told = {name: getattr(item, name) for name, about in FIELD_INFO.items() if about.note}
    return {name: FIELD_INFO[name].note.format(value) for name, value in told.items() if value}
