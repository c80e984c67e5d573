"""Items as participants answer them: a field for every kind, and how it looks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from kitchen.contract.world import Json
from study.design.questions.fields import ItemPlan
from study.design.questions.kinds import POINTS, TEXT_LONGEST, kind_of
from study.design.questions.numbers import marks, range_words, written
from study.design.questions.rules import must_be_answered, value_problem

EASY = 7
"""Points of a scale that fit side by side on a phone."""


@dataclass(frozen=True, slots=True)
class ItemField:
    """One item with its field."""

    field: forms.BoundField
    item: ItemPlan

    @property
    def looks(self) -> str:
        """How it is asked: as a `scale` of points or marks, as `options`, or `typed`."""
        kind = kind_of(self.item)
        return "scale" if kind.row(self.item) else kind.looks

    @property
    def ends(self) -> tuple[str, str]:
        """The words at the ends of a scale; each may be empty."""
        return kind_of(self.item).end_words(self.item)

    @property
    def crowding(self) -> str:
        """How many points stand side by side: nothing to say, `long`, or `marks`."""
        points = len(kind_of(self.item).row(self.item))
        return "marks" if points > POINTS[1] else "long" if points > EASY else ""


class ItemsForm(forms.Form):
    """Items of any kind. `teams` are (key, label) of the conditions played, for items that compare them."""

    def __init__(
        self, *args: Any, items: Iterable[ItemPlan], teams: Sequence[tuple[str, str]] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.asked = list(items)
        self.teams = list(teams)
        for item in self.asked:
            self.fields[self.name_of(item)] = item_field(item, self.teams)

    @staticmethod
    def name_of(item: ItemPlan) -> str:
        """The field's name: no key that a researcher gives can be one of the page's own fields."""
        return f"item_{item.key}"

    @property
    def items(self) -> list[ItemField]:
        """The fields in order, each with its item."""
        return [ItemField(self[self.name_of(item)], item) for item in self.asked]

    def clean(self) -> dict[str, Any]:
        """Every answer fits its item; what does not is told at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        keys = tuple(key for key, _ in self.teams)
        for item in self.asked:
            name, value = self.name_of(item), cleaned.get(self.name_of(item))
            if not _is_empty(value) and (wrong := value_problem(item, value, keys)):
                self.add_error(name, wrong)
        return cleaned

    def values(self) -> dict[str, Json]:
        """The answers given, by item key; what was left open is not there."""
        answers = {item.key: _whole(self.cleaned_data.get(self.name_of(item))) for item in self.asked}
        return {key: value for key, value in answers.items() if not _is_empty(value)}


def _whole(value: Any) -> Any:
    """A number without a fraction is stored as a whole one: 30, not 30.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_empty(value: Json) -> bool:
    return value is None or value == "" or value == []


def item_field(item: ItemPlan, teams: Sequence[tuple[str, str]] = ()) -> forms.Field:
    """The field that asks this item."""
    return FIELDS[item.kind](item, teams)


def _likert(item: ItemPlan, _: Any) -> forms.Field:
    return forms.TypedChoiceField(
        label=item.text,
        choices=[(str(point), str(point)) for point in range(1, item.points + 1)],
        coerce=int,
        empty_value=None,
        required=must_be_answered(item),
        widget=forms.RadioSelect,
        error_messages={"required": "Choose one of the points of this scale."},
    )


def _single(item: ItemPlan, _: Any) -> forms.Field:
    return _one_of(item, list(zip(item.options, item.shown_options, strict=True)))


def _team(item: ItemPlan, teams: Sequence[tuple[str, str]]) -> forms.Field:
    """The page names teams by the order in which they were played: keys may tell what the teams were."""
    keys = {f"team-{number}": key for number, (key, _) in enumerate(teams, start=1)}
    labels = [label for _, label in teams]
    return _one_of(item, list(zip(keys, labels, strict=True)), coerce=keys.__getitem__)


def _one_of(
    item: ItemPlan, choices: list[tuple[str, str]], coerce: Callable[[str], str] = str
) -> forms.Field:
    return forms.TypedChoiceField(
        label=item.text,
        choices=choices,
        coerce=coerce,
        empty_value=None,
        required=must_be_answered(item),
        widget=forms.RadioSelect,
        error_messages={"required": "Choose one of these."},
    )


def _multiple(item: ItemPlan, _: Any) -> forms.Field:
    return forms.MultipleChoiceField(
        label=item.text,
        choices=list(zip(item.options, item.shown_options, strict=True)),
        required=must_be_answered(item),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one of these."},
    )


def _number(item: ItemPlan, _: Any) -> forms.Field:
    if all_marks := marks(item):
        return forms.TypedChoiceField(
            label=item.text,
            choices=[(written(mark), written(mark)) for mark in all_marks],
            coerce=float,
            empty_value=None,
            required=must_be_answered(item),
            widget=forms.RadioSelect,
            error_messages={"required": "Choose one of the marks."},
        )
    return forms.FloatField(
        label=item.text,
        required=must_be_answered(item),
        widget=forms.NumberInput(attrs=_number_attributes(item)),
        help_text=range_words(item),
        error_messages={"required": "Give a number.", "invalid": "Give a number."},
    )


def _number_attributes(item: ItemPlan) -> dict[str, str]:
    attributes = {"inputmode": "decimal", "step": "any" if item.step is None else written(item.step)}
    ends = {"min": item.minimum, "max": item.maximum}
    return attributes | {name: written(end) for name, end in ends.items() if end is not None}


def _text(item: ItemPlan, _: Any) -> forms.Field:
    return forms.CharField(
        label=item.text,
        required=must_be_answered(item),
        max_length=TEXT_LONGEST,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={
            "required": "Write something here.",
            "max_length": f"At most {TEXT_LONGEST} characters are kept; please shorten it.",
        },
    )


FIELDS = {
    "likert": _likert,
    "multiple": _multiple,
    "number": _number,
    "single": _single,
    "team": _team,
    "text": _text,
}
