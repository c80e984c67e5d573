"""Form fields for survey items that are answered in several parts: rankings, best and worst, several texts.

Each part is a control of its own, which works without JavaScript. Its name is that of the item's field and a
suffix with a full stop, which no item key has, so that names never clash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.utils.safestring import SafeString

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.choice_item_kinds import BEST, SHORT_TEXT_LONGEST, WORST
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kind_base import must_be_answered
from study.design.questions.item_kinds import kind_of

PART_SIGN = "_."
"""The text between the name of an item's field and the number of a part."""


class LabelledPart(NamedTuple):
    """One part of an item on the page."""

    label: str
    id: str
    control: SafeString


class PartsWidget(forms.MultiWidget):
    """Several controls. `codes` name the parts in the answer, `labels` are what participants read."""

    def __init__(self, codes: Sequence[str], labels: Sequence[str], controls: Sequence[forms.Widget]) -> None:
        self.codes, self.labels = list(codes), list(labels)
        numbers = part_numbers(codes)
        named = zip(codes, controls, strict=True)
        super().__init__({f".{numbers[code]}": control for code, control in named})

    def decompress(self, value: Any) -> list[Any]:
        """Return the value of each part. `value` maps the parts' codes to their values."""
        given = value if isinstance(value, Mapping) else {}
        return [given.get(code) for code in self.codes]

    def parts(self, name: str, values: Any, attrs: Mapping[str, str]) -> list[LabelledPart]:
        """Return the parts with their labels and HTML. `name` is the name of the field, `values` are what the
        page sent before, or None."""
        given = values if isinstance(values, list | tuple) else self.decompress(values)
        numbers, made = part_numbers(self.codes), []
        for code, label, control, value in zip(self.codes, self.labels, self.widgets, given, strict=True):
            ours = {**attrs, "id": f"{attrs['id']}_{numbers[code]}"}
            html = control.render(f"{name}{PART_SIGN}{numbers[code]}", value, ours)
            made.append(LabelledPart(label, ours["id"], html))
        return made


def part_numbers(codes: Sequence[str]) -> dict[str, int]:
    """Return the number of each part in the names of controls. It does not depend on the order on the page,
    which may be random."""
    return {code: number for number, code in enumerate(sorted(codes), 1)}


class PartsField(forms.MultiValueField):
    """A field whose cleaned value maps the codes of the filled parts to their values; None without any."""

    widget: PartsWidget

    def compress(self, data_list: Sequence[Any]) -> Json:
        """Return the filled parts by their codes."""
        given = zip(self.widget.codes, data_list or (), strict=False)
        return {code: value for code, value in given if value not in (None, "")} or None


class RankingField(PartsField):
    """A field whose parts are the options, each with its place. The cleaned value lists the options in their
    order."""

    def compress(self, data_list: Sequence[Any]) -> Json:
        """Return the options by their places. Raises ValidationError if two share a place or one has none."""
        places = super().compress(data_list)
        if places is None:
            return None
        if sorted(map(int, places.values())) != list(range(1, len(self.widget.codes) + 1)):
            raise forms.ValidationError(gettext("Give each of these a place of its own."))
        return sorted(places, key=lambda option: int(places[option]))


def ranking_field(item: ItemPlan, _: Any) -> forms.Field:
    """Return the field of a ranking: a list of places for each option."""
    places = [("", "\N{EN DASH}"), *((str(place), str(place)) for place in range(1, len(item.options) + 1))]
    fields = [forms.ChoiceField(choices=places, required=False) for _ in item.options]
    return _made(RankingField, item, item.options, item.shown_options, fields)


def best_worst_field(item: ItemPlan, _: Any) -> forms.Field:
    """Return the field of a best-worst question: a list of the options for each of the two."""
    options = [("", "\N{EN DASH}"), *zip(item.options, item.shown_options, strict=True)]
    fields = [forms.ChoiceField(choices=options, required=False) for _ in (BEST, WORST)]
    worst, best = kind_of(item).end_words(item)
    return _made(PartsField, item, (BEST, WORST), (best, worst), fields)


def texts_field(item: ItemPlan, _: Any) -> forms.Field:
    """Return the field of several short texts, one line for each label."""
    fields = [forms.CharField(max_length=SHORT_TEXT_LONGEST, required=False) for _ in item.options]
    return _made(PartsField, item, item.options, item.shown_options, fields)


def _made(
    kind: type[PartsField],
    item: ItemPlan,
    codes: Sequence[str],
    labels: Sequence[str],
    fields: Sequence[forms.Field],
) -> PartsField:
    controls = [field.widget for field in fields]
    return kind(
        fields=list(fields),
        widget=PartsWidget(codes, labels, controls),
        label=item.text,
        required=must_be_answered(item),
        require_all_fields=False,
        error_messages={"required": kind_of(item).value_problem(item, None, ())},
    )


def sent_parts(item: ItemPlan, name: str, value: Json) -> dict[str, str]:
    """Return the names and values of the controls with which a page sends this answer. `name` is the name of
    the item's field."""
    if item.kind == "ranking":
        by_code = {option: str(place) for place, option in enumerate(value, 1)}
    else:
        by_code = {code: str(one) for code, one in value.items()}
    numbers = part_numbers((BEST, WORST) if item.kind == "best_worst" else item.options)
    return {f"{name}{PART_SIGN}{numbers[code]}": one for code, one in by_code.items()}
