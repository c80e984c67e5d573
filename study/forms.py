"""What participants fill in: the way in, the consent, and items wherever they are asked."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from django import forms
from django.core import signing
from django.utils import timezone

from kitchen.worlds.base import Json
from study.blueprint import ItemPlan
from study.items import POINTS, TEXT_LONGEST, marks, must_be_answered, value_problem, written
from study.models import Study

INVITATION_SALT = "brigade.invitation"
ENTRY_SALT = "brigade.entry"
INVITATION_SECONDS = 24 * 3600
SYNTHETIC = "synthetic"
"""Who is invited by a link that only the server can write: a program."""


def synthetic_invitation(study: Study) -> str:
    """What marks a participant as synthetic; it needs the server's secret key."""
    return signing.dumps({"study": study.slug, "who": SYNTHETIC}, salt=INVITATION_SALT)


AGREEMENT = ("Strongly disagree", "Strongly agree")
"""What an item says at its ends unless the researcher says otherwise: of a number it means nothing."""


EASY = 7
"""Points of a scale that fit side by side on a phone."""


def entry_name(study: Study) -> tuple[str, str, float]:
    """What `EntryForm.entry` says: the study, a name of its own, and when it was made."""
    return study.slug, secrets.token_urlsafe(16), timezone.now().timestamp()


class EntryForm(forms.Form):
    """The button on the study's link. `entry` names this very form: sent twice, it is one participant, in
    this study only. It also says when the page was made (`opened_at` once it is valid)."""

    entry = forms.CharField(widget=forms.HiddenInput)
    invitation = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.opened_at: datetime | None = None
        self.initial.setdefault("entry", signing.dumps(entry_name(study), salt=ENTRY_SALT))

    def clean_entry(self) -> str:
        """The form's own name, if it is one of ours."""
        try:
            slug, name, opened_at = signing.loads(self.cleaned_data["entry"], salt=ENTRY_SALT)
        except (signing.BadSignature, ValueError) as error:
            raise forms.ValidationError("This form is out of date. Reload the page and try again.") from error
        if slug != self.study.slug:
            raise forms.ValidationError("This form belongs to another study. Reload the page and try again.")
        self.opened_at = datetime.fromtimestamp(opened_at, UTC)
        return str(name)

    def clean_invitation(self) -> str:
        """Who was invited: `SYNTHETIC`, or empty for anybody."""
        given = self.cleaned_data["invitation"]
        if not given:
            return ""
        try:
            found = signing.loads(given, salt=INVITATION_SALT, max_age=INVITATION_SECONDS)
        except signing.BadSignature as error:
            raise forms.ValidationError("This invitation is not valid, or it has expired.") from error
        if found.get("study") != self.study.slug or found.get("who") != SYNTHETIC:
            raise forms.ValidationError("This invitation belongs to another study.")
        return str(found["who"])


class ConsentForm(forms.Form):
    """Agreeing to every statement, each with a box of its own."""

    def __init__(self, *args: Any, statements: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for number, statement in enumerate(statements):
            self.fields[f"agree_{number}"] = forms.BooleanField(
                label=statement, error_messages={"required": "Tick this box if you agree."}
            )


@dataclass(frozen=True, slots=True)
class ItemField:
    """One item with its field."""

    field: forms.BoundField
    item: ItemPlan

    @property
    def looks(self) -> str:
        """How it is asked: as a `scale` of points or marks, as `options`, or `typed`."""
        if self.item.kind == "text":
            return "typed"
        if self.item.kind == "number":
            return "scale" if marks(self.item) else "typed"
        return "scale" if self.item.kind == "likert" else "options"

    @property
    def ends(self) -> tuple[str, str]:
        """The words at the ends of a scale; each may be empty."""
        low, high = self.item.low, self.item.high
        return (low, high) if self.item.kind == "likert" else (_meant(low), _meant(high))

    @property
    def crowding(self) -> str:
        """How many points stand side by side: nothing to say, `long`, or `marks` without figures."""
        points = self.item.points if self.item.kind == "likert" else len(marks(self.item))
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
        found = {item.key: _whole(self.cleaned_data.get(self.name_of(item))) for item in self.asked}
        return {key: value for key, value in found.items() if not _is_empty(value)}


def _whole(value: Any) -> Any:
    """A number without a fraction is stored as a whole one: 30, not 30.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_empty(value: Json) -> bool:
    return value is None or value == "" or value == []


def item_field(item: ItemPlan, teams: Sequence[tuple[str, str]] = ()) -> forms.Field:
    """The field that asks this item."""
    return _FIELDS[item.kind](item, teams)


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
    return _one_of(item, [(one, one) for one in item.options])


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
        choices=[(one, one) for one in item.options],
        required=must_be_answered(item),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one of these."},
    )


def _number(item: ItemPlan, _: Any) -> forms.Field:
    if found := marks(item):
        return forms.TypedChoiceField(
            label=item.text,
            choices=[(written(mark), written(mark)) for mark in found],
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
        help_text=number_words(item),
        error_messages={"required": "Give a number.", "invalid": "Give a number."},
    )


def _number_attributes(item: ItemPlan) -> dict[str, str]:
    found = {"inputmode": "decimal", "step": "any" if item.step is None else written(item.step)}
    ends = {"min": item.minimum, "max": item.maximum}
    return found | {name: written(end) for name, end in ends.items() if end is not None}


def _meant(words: str) -> str:
    """What stands at an end of a number, unless nobody wrote it."""
    return "" if words in AGREEMENT else words


def number_words(item: ItemPlan) -> str:
    """Which numbers are wanted and what the ends mean: “From 0 (Low) to 100 (High), in steps of 5”."""
    words = []
    for name, end, meaning in (("from", item.minimum, item.low), ("to", item.maximum, item.high)):
        if end is not None:
            meant = _meant(meaning)
            words.append(f"{name} {written(end)}" + (f" ({meant})" if meant else ""))
    if words and item.step not in {None, 1}:
        words[-1] += f", in steps of {written(item.step)}"
    said = " ".join(words)
    return said[:1].upper() + said[1:]


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


_FIELDS = {
    "likert": _likert,
    "multiple": _multiple,
    "number": _number,
    "single": _single,
    "team": _team,
    "text": _text,
}


def shuffled(items: Sequence[ItemPlan], seed: int, *, on: bool) -> list[ItemPlan]:
    """The items in the order that one participant reads them: as designed, or drawn from the seed. Those of
    one sub-scale stay together, as they have one kind of scale."""
    if not on:
        return list(items)
    rng, units = Random(seed), defaultdict[str, list[ItemPlan]](list)  # noqa: S311 - not a secret
    for item in items:
        units[f"scale {item.scale}" if item.scale else f"item {item.key}"].append(item)
    order = list(units.values())
    rng.shuffle(order)
    for unit in order:
        rng.shuffle(unit)
    return [item for unit in order for item in unit]
