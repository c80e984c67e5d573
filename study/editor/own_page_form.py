"""Edit a page that researchers wrote: its place, its text, and the rule that decides who sees it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms

from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import OwnPage
from study.design.own_page_checks import page_errors
from study.design.own_pages import (
    FIRST_ROUND,
    PLACES_AFTER,
    PLACES_BEFORE,
    place_words,
    round_after,
)
from study.design.page_and_item_order import pages_before_rounds
from study.design.parts_other_than_rounds import PARTS
from study.design.session_breaks import DAY
from study.editor.condition_and_item_forms import ShowsOtherKinds
from study.editor.design_services import unused_name
from study.editor.rule_fields import DECIDES, HasRule

PART_WORDS = {kind.name: kind.words for kind in PARTS.values()}
UNITS = {1: "hours", DAY: "days"}
"""Units in which the times of a break are written, by their number of hours."""
RETURNS = ("not_before_hours", "not_after_hours")


def page_places(design: Blueprint) -> list[str]:
    """Return the places at which a page can be, in the order of the study."""
    before = [page for page in pages_before_rounds(design) if page in PLACES_BEFORE]
    between = [f"round-{number}" for number in range(2, design.rounds + 1)]
    return [*before, FIRST_ROUND, *between, *PLACES_AFTER]


def occupied_places(design: Blueprint, occupied: Collection[str]) -> list[str]:
    """Return the places of `page_places`, and the `occupied` ones that are no longer among them, in the order
    in which participants see their pages."""
    offered = page_places(design)
    early, late = offered[: offered.index(FIRST_ROUND)], offered[offered.index(FIRST_ROUND) :]
    early += [place for place in PLACES_BEFORE if place in occupied and place not in offered]
    unplayed = sorted((one for one in occupied if round_after(one) > design.rounds), key=round_after)
    rounds, after = late[: -len(PLACES_AFTER)], late[-len(PLACES_AFTER) :]
    return [*early, *rounds, *unplayed, *after]


class OwnPageForm(ShowsOtherKinds, HasRule, forms.ModelForm):  # type: ignore[type-arg]
    """A form for one page, with some rows of comparisons."""

    class Meta:
        model = OwnPage
        fields = ("title", "text", "before", "key", "ends", *RETURNS, "session_code")
        widgets = {"text": forms.Textarea({"rows": 10})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.design = blueprint_of(self.instance.study)
        offered = page_places(self.design)
        if self.instance.before and self.instance.before not in offered:
            offered.append(self.instance.before)
        words = [(one, place_words(one, PART_WORDS)) for one in offered]
        self.fields["before"] = forms.ChoiceField(label="Place", choices=words, widget=forms.Select(DECIDES))
        self.fields[
            "key"
        ].help_text = f"{self.fields['key'].help_text} Page times in the data have it, with “own-” before it."
        self._write_breaks_with_units()
        page = self.instance.plan.page if self.instance.pk else ""
        self.add_rule(self.design, str(self["before"].value()), self.instance.show_if or {}, page)

    def _write_breaks_with_units(self) -> None:
        """Put a choice of the unit behind each time of a break. A stored time is shown in days if it is a
        number of whole days."""
        about = "A break between two sessions: people come back later with their link."
        for name, words in zip(RETURNS, ("earliest", "latest"), strict=True):
            field: Any = self.fields[name]
            hours: Any = self.initial.get(name)
            field.label = f"{words.capitalize()} return after"
            field.help_text = f"{about} Empty: {'at once' if words == 'earliest' else 'at any time'}."
            label = f"Unit of the {words} return"
            unit: Any = forms.TypedChoiceField(label=label, choices=[*UNITS.items()], coerce=int)
            unit.required, unit.empty_value = False, 1
            whole = bool(hours) and hours % DAY == 0
            self.initial[f"{name}_unit"] = DAY if whole or not hours else 1
            if whole:
                self.initial[name] = hours // DAY
            self._insert_after(name, f"{name}_unit", unit)

    def _insert_after(self, name: str, new: str, field: forms.Field) -> None:
        order = list(self.fields)
        order.insert(order.index(name) + 1, new)
        self.fields[new] = field
        self.order_fields(order)

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the rule collected and the times of a break in hours, and check the
        page at its place."""
        cleaned = super().clean() or self.cleaned_data
        for name in RETURNS:
            if cleaned.get(name):
                cleaned[name] *= cleaned.get(f"{name}_unit") or 1
        if self.rule_fields:
            self.instance.show_if = self.rule_fields.rule(cleaned)
        return cleaned

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        others = self.instance.study.own_pages.exclude(pk=self.instance.pk)
        if others.filter(key=self.instance.key).exists():
            self.add_error("key", "Another page of this study has this name.")
        if words := self._fixed_key():
            self.add_error("key", words)
        problems = page_errors(self.instance.plan, self.design)
        if "show_if" not in problems and self.rule_fields:
            problems |= self.rule_fields.value_errors(self.cleaned_data)
        for name, words in problems.items():
            self.add_error(name if name in self.fields else None, words)

    def _fixed_key(self) -> str:
        """Return why the page's key cannot change: answers to its questions have it. Return an empty string
        if it can."""
        former = OwnPage.objects.filter(pk=self.instance.pk).first() if self.instance.pk else None
        if former is None or former.key == self.instance.key:
            return ""
        asked = self.instance.study.items.filter(place=former.plan.page)
        fixed = any("place" in item.fixed_fields() for item in asked)
        return f"Fixed: questions of this page have answers under the name {former.key}." if fixed else ""

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error. An error about the rule is shown above the form."""
        if field is None and "show_if" in getattr(error, "error_dict", {}):
            super().add_error(None, error.error_dict.pop("show_if"))
            if not error.error_dict:
                return
        super().add_error(field, error)


def unused_key(page: OwnPage) -> str:
    """Return a key that no other page of the study has."""
    taken = set(page.study.own_pages.values_list("key", flat=True))
    return unused_name(page.key or "page", "", 30, taken.__contains__)
