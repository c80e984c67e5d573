"""Convert survey items (questions) into form fields for participants.

Some items compare the teams that a participant played with. The form then shows a reminder of each team: the
time, the team size, and the result. All of this was visible in play. A reminder names no condition and no
agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from django import forms
from django.utils.safestring import SafeString

from kitchen.contract.world import Json
from kitchen.registry.world_metrics import achievements
from kitchen.words.gettext_without_django import gettext, gettext_noop, ngettext, pgettext
from study.design.blueprint import Blueprint, ConditionPlan
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kind_base import POINTS, TEXT_LONGEST, must_be_answered
from study.design.questions.item_kinds import kind_of, value_problem
from study.design.questions.item_numbers import format_number, number_marks, range_words
from study.design.questions.numeric_item_kinds import slider_step
from study.participants.models import Round
from study.participation.item_part_fields import (
    LabelledPart,
    PartsWidget,
    best_worst_field,
    ranking_field,
    texts_field,
)


@dataclass(frozen=True, slots=True)
class TeamReminder:
    """One team with which the participant played: its label, and a text that helps to remember it."""

    key: str
    """Key of the condition; no page shows it."""
    label: str
    reminder: str = ""
    """Text of the reminder; empty if the study shows no reminders."""


def team_reminders(design: Blueprint, rounds: Sequence[Round]) -> list[TeamReminder]:
    """Return a reminder for each of the participant's teams, in the order of play. Its text is empty if the
    study shows no reminders."""
    reminds = design.meant("remind_teams")
    plans = [design.condition(one.condition.key) for one in rounds]
    return [
        TeamReminder(plan.key, plan.label, _reminder(plan, one, len(rounds)) if reminds else "")
        for plan, one in zip(plans, rounds, strict=True)
    ]


def _reminder(plan: ConditionPlan, one: Round, total: int) -> str:
    """Return a text that reminds the participant of one team: when it played, how large it was, and the first
    result shown at the end. `total` is the number of rounds."""
    when = gettext("game {number} of {total}").format(number=one.position, total=total)
    size = gettext("you alone")
    if plan.teammates:
        words = ngettext("you and {number} teammate", "you and {number} teammates", plan.teammates)
        size = words.format(number=plan.teammates)
    figures = achievements(one.episode.world, one.episode.score) if one.episode else ()
    results = (f"{number} {words}" for number, words in figures[:1])
    return pgettext("between the things of a list", ", ").join((when, size, *results))


EASY = 7
"""Number of scale points that fit side by side on a phone."""
APART = "does-not-apply"
"""Value that a page sends for `DOES_NOT_APPLY`; no option has this value."""
APART_WORDS = gettext_noop("Does not apply")


@dataclass(frozen=True, slots=True)
class ItemField:
    """One survey item with its bound form field."""

    field: forms.BoundField
    item: ItemPlan
    apart: forms.BoundField | None = None
    """The checkbox for “does not apply”, where no radio button serves for it."""
    reminders: Sequence[str] = ()
    """Reminder text next to the label of each option, if any."""

    @property
    def layout(self) -> str:
        """Return how the item is laid out: `scale` (points or marks side by side), `options`, `slider`,
        `parts` (several controls), or `typed`."""
        kind = kind_of(self.item)
        return "scale" if kind.row(self.item) else kind.looks

    @property
    def ends(self) -> tuple[str, str]:
        """Return the labels at the low and the high end of a scale. Each label may be an empty string."""
        return kind_of(self.item).end_words(self.item)

    @property
    def parts(self) -> list[LabelledPart]:
        """Return the controls of an item that is answered in several parts, with their labels."""
        widget, name = self.field.field.widget, self.field.html_name
        if not isinstance(widget, PartsWidget):
            return []
        attributes = {"id": self.field.auto_id}
        if self.field.errors:
            attributes |= {"aria-invalid": "true", "aria-describedby": f"{self.field.auto_id}_error"}
        return widget.parts(name, self.field.value(), attributes)

    @property
    def control(self) -> SafeString:
        """Return the HTML of the one control of a typed item or a slider. Error, help, words at the ends and
        unit describe it to screen readers."""
        field = self.field
        shown = {
            "error": field.errors,
            "helptext": field.help_text,
            "ends": self.layout == "slider" and any(self.ends),
            "unit": self.item.unit,
        }
        ids = [f"{field.auto_id}_{name}" for name, is_shown in shown.items() if is_shown]
        return field.as_widget(attrs={"aria-describedby": " ".join(ids)} if ids else {})

    @property
    def first_id(self) -> str:
        """Return the HTML id of the item's first control, for links to it."""
        if self.parts:
            return self.parts[0].id
        return f"{self.field.auto_id}_0" if self.layout in ("scale", "options") else self.field.auto_id

    @property
    def optional(self) -> bool:
        """Return whether the item may be left empty."""
        return not must_be_answered(self.item)

    @property
    def choices(self) -> list[Any]:
        """Return the radio buttons or checkboxes to choose from. The one for “does not apply” is left out."""
        return list(self.field)[:-1] if self.apart_choice else list(self.field)

    @property
    def choices_with_reminders(self) -> list[tuple[Any, str]]:
        """Return (choice, reminder text) pairs. The text is empty if the choice has no reminder."""
        return list(zip_longest(self.choices, self.reminders, fillvalue=""))

    @property
    def apart_choice(self) -> Any:
        """Return the radio button for “does not apply”. Return None if the item does not offer it."""
        has_one = self.item.may_not_apply and isinstance(self.field.field, forms.TypedChoiceField)
        return list(self.field)[-1] if has_one else None

    @property
    def crowding(self) -> str:
        """Return how densely the points of a scale are laid out: empty for few points, `long` for more,
        `marks` for a row of many marks."""
        points = len(kind_of(self.item).row(self.item))
        return "marks" if points > POINTS[1] else "long" if points > EASY else ""


@dataclass(slots=True)
class ItemBlock:
    """Items that are shown together: one item, or the rows of a table with a heading."""

    heading: str
    """Empty for an item outside tables."""
    items: list[ItemField]

    def takes(self, one: ItemField) -> bool:
        """Return whether an item is a further row of this table: its heading, points and ends are the
        same."""
        mine = self.items[0].item
        names = ("kind", "table", "points", "low", "high", "may_not_apply")
        return bool(self.heading) and all(getattr(mine, name) == getattr(one.item, name) for name in names)


class ItemsForm(forms.Form):
    """A form with survey items of any kind. `teams` are the participant's teams, for items that compare
    them."""

    def __init__(
        self, *args: Any, items: Iterable[ItemPlan], teams: Sequence[TeamReminder] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.asked = list(items)
        self.teams = list(teams)
        for item in self.asked:
            field = self.fields[self.name_of(item)] = item_field(item, self.teams)
            if item.may_not_apply and not isinstance(field, forms.TypedChoiceField):
                field.required = False  # `clean` requires one of the two
                self.fields[self.apart_of(item)] = forms.BooleanField(
                    label=gettext(APART_WORDS), required=False
                )

    @staticmethod
    def name_of(item: ItemPlan) -> str:
        """Return the name of the item's form field. A prefix keeps researchers' keys apart from the page's
        own fields."""
        return f"item_{item.key}"

    @classmethod
    def apart_of(cls, item: ItemPlan) -> str:
        """Return the name of the item's “does not apply” checkbox. It contains a full stop, which no item key
        has, so names never clash."""
        return f"{cls.name_of(item)}.apart"

    @property
    def items(self) -> list[ItemField]:
        """Return the items with their form fields, in order."""
        reminders = [one.reminder for one in self.teams]
        return [
            ItemField(
                self[self.name_of(item)], item, self._apart(item), reminders if item.kind == "team" else ()
            )
            for item in self.asked
        ]

    @property
    def blocks(self) -> list[ItemBlock]:
        """Return the items in order, with neighbours of one table together. A table has two rows at least."""
        blocks = list[ItemBlock]()
        for one in self.items:
            if blocks and blocks[-1].takes(one):
                blocks[-1].items.append(one)
            else:
                blocks.append(ItemBlock(one.item.table if one.item.kind == "likert" else "", [one]))
        return blocks

    @property
    def reminders(self) -> list[TeamReminder]:
        """Return the teams with a reminder text. The result is empty if an item on this page asks for a team,
        because its options already show these texts."""
        named = any(item.kind == "team" for item in self.asked)
        return [] if named else [one for one in self.teams if one.reminder]

    def _apart(self, item: ItemPlan) -> forms.BoundField | None:
        name = self.apart_of(item)
        return self[name] if name in self.fields else None

    def clean(self) -> dict[str, Any]:
        """Check that every answer fits its item. If an answer does not, add an error to its field. Return
        the cleaned data."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        keys = tuple(one.key for one in self.teams)
        for item in self.asked:
            name, value = self.name_of(item), cleaned.get(self.name_of(item))
            if not _is_empty(value) and (wrong := value_problem(item, value, keys)):
                self.add_error(name, wrong)
            elif self.apart_of(item) in self.fields and name not in self.errors:
                self._one_of_both(item, value, cleaned)
        return cleaned

    def _one_of_both(self, item: ItemPlan, value: Json, cleaned: dict[str, Any]) -> None:
        """Check that the participant either answered the item or ticked its “does not apply” checkbox, but
        not both. Add an error otherwise. If the checkbox is ticked, `DOES_NOT_APPLY` becomes the answer in
        `cleaned`."""
        name, ticked = self.name_of(item), cleaned.get(self.apart_of(item))
        if ticked and not _is_empty(value):
            self.add_error(name, gettext("Either answer, or tick “Does not apply”."))
        elif ticked:
            cleaned[name] = DOES_NOT_APPLY
        elif _is_empty(value) and must_be_answered(item):
            self.add_error(name, self.fields[name].error_messages["required"])

    def values(self) -> dict[str, Json]:
        """Return the answers by item key, without items that were left empty."""
        answers = {item.key: _whole(self.cleaned_data.get(self.name_of(item))) for item in self.asked}
        return {key: value for key, value in answers.items() if not _is_empty(value)}


def _whole(value: Any) -> Any:
    """Return a number without decimals as an integer, so that an answer is stored as 30 instead of 30.0.
    Return any other number unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_empty(value: Json) -> bool:
    return value is None or value in ("", [], {})


def item_field(item: ItemPlan, teams: Sequence[TeamReminder] = ()) -> forms.Field:
    """Return the form field for this survey item. Radio buttons include “does not apply” if the item allows
    this answer. `teams` are the participant's teams, for items that compare teams."""
    field = FIELDS[item.kind](item, teams)
    if item.may_not_apply and isinstance(field, forms.TypedChoiceField):
        coerce, choices = field.coerce, list(field.widget.choices)
        field.choices = [*choices, (APART, gettext(APART_WORDS))]
        field.coerce = lambda sent: DOES_NOT_APPLY if sent == APART else coerce(sent)
    return field


def _radio(
    item: ItemPlan, choices: Iterable[tuple[str, str]], required: str, coerce: Callable[[str], Any] = str
) -> forms.Field:
    """Return a field of radio buttons for these choices. `required` is the error message if nothing was
    chosen. `coerce` converts the chosen value."""
    return forms.TypedChoiceField(
        label=item.text,
        choices=list(choices),
        coerce=coerce,
        empty_value=None,
        required=must_be_answered(item),
        widget=forms.RadioSelect,
        error_messages={"required": required},
    )


def _likert(item: ItemPlan, _: Any) -> forms.Field:
    points = [str(point) for point in range(1, item.points + 1)]
    return _radio(
        item, zip(points, points, strict=True), gettext("Choose one of the points of this scale."), int
    )


def _single(item: ItemPlan, _: Any) -> forms.Field:
    choices = zip(item.options, item.shown_options, strict=True)
    return _radio(item, choices, gettext("Choose one of these."))


def _team(item: ItemPlan, teams: Sequence[TeamReminder]) -> forms.Field:
    """Return a field of radio buttons with the participant's teams. The submitted value is the team's
    number in the order of play. Condition keys are not sent to the page, because they may reveal the type
    of team."""
    keys = {f"team-{number}": one.key for number, one in enumerate(teams, start=1)}
    choices = zip(keys, (one.label for one in teams), strict=True)
    return _radio(item, choices, gettext("Choose one of these."), keys.__getitem__)


def _multiple(item: ItemPlan, _: Any) -> forms.Field:
    return forms.MultipleChoiceField(
        label=item.text,
        choices=list(zip(item.options, item.shown_options, strict=True)),
        required=must_be_answered(item),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext("Choose at least one of these.")},
    )


def _number(item: ItemPlan, _: Any) -> forms.Field:
    if marks := [format_number(mark) for mark in number_marks(item)]:
        return _radio(item, zip(marks, marks, strict=True), gettext("Choose one of the marks."), float)
    return forms.FloatField(
        label=item.text,
        required=must_be_answered(item),
        widget=forms.NumberInput(attrs=_number_attributes(item)),
        help_text=range_words(item),
        error_messages=dict.fromkeys(("required", "invalid"), gettext("Give a number.")),
    )


def _slider(item: ItemPlan, _: Any) -> forms.Field:
    """Return a field for a number, which the page shows as a slider. `data-silent` says that the participant
    sees no number."""
    attributes = _number_attributes(item) | {"step": format_number(slider_step(item))}
    attributes |= {} if item.step is not None else {"data-silent": "yes"}
    return forms.FloatField(
        label=item.text,
        required=must_be_answered(item),
        widget=forms.NumberInput(attrs=attributes),
        error_messages=dict.fromkeys(("required", "invalid"), gettext("Move the slider.")),
    )


def _number_attributes(item: ItemPlan) -> dict[str, str]:
    attributes = {"inputmode": "decimal", "step": "any" if item.step is None else format_number(item.step)}
    ends = {"min": item.minimum, "max": item.maximum}
    return attributes | {name: format_number(end) for name, end in ends.items() if end is not None}


def _date(item: ItemPlan, _: Any) -> forms.Field:
    field = _IsoDateField(
        label=item.text,
        required=must_be_answered(item),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )
    field.error_messages = dict.fromkeys(("required", "invalid"), gettext("Enter a date."))
    return field


class _IsoDateField(forms.DateField):
    """A day, as a text in ISO 8601."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%d"], **kwargs)

    def clean(self, value: Any) -> Any:
        """Return the day as a text, or None."""
        day = super().clean(value)
        return None if day is None else day.isoformat()


def _text(item: ItemPlan, _: Any) -> forms.Field:
    return forms.CharField(
        label=item.text,
        required=must_be_answered(item),
        max_length=TEXT_LONGEST,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={
            "required": gettext("Write something here."),
            "max_length": gettext("Please shorten your answer: at most {most} characters are stored.").format(
                most=TEXT_LONGEST
            ),
        },
    )


FIELDS = {
    "best_worst": best_worst_field,
    "date": _date,
    "likert": _likert,
    "multiple": _multiple,
    "number": _number,
    "ranking": ranking_field,
    "single": _single,
    "slider": _slider,
    "team": _team,
    "text": _text,
    "texts": texts_field,
}
