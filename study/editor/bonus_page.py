"""Serve the page on which researchers set the rule for participants' bonuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from kitchen.contract.world import Json
from study.design.bonus_rule import (
    CURRENCIES,
    MOST,
    MOST_TERMS,
    STEPS,
    bonus_problem,
    bonus_rule_words,
    parse_bonus,
)
from study.design.metric_and_scale_names import study_figures
from study.design.models import Study
from study.editor.design_services import study_save
from study.researchers.form_and_button_pages import back_to_page, form_page
from study.researchers.permissions import FORM_METHODS, study_page

FIGURES = 3
"""The fewest figures of play that the form has fields for. It has at least one more than the rule."""


def amount_field(label: str, help_text: str = "") -> forms.DecimalField:
    """Return an optional field for an amount of money."""
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal(0),
        max_value=MOST,
        decimal_places=4,
        max_digits=8,
        help_text=help_text,
    )


class BonusForm(forms.Form):
    """A form for the rule of a bonus. Without a currency, the study has no bonus."""

    currency = forms.ChoiceField(
        required=False, choices=[("", "no bonus"), *((one, one) for one in CURRENCIES)], label="Currency"
    )
    most = amount_field("At most, for one person", "The forecast uses it as the worst case.")
    base = amount_field("Base", "Everybody who completes the study gets it.")
    right_each = amount_field(
        "For each right answer", "Of questions with a right answer, at the first attempt only."
    )
    right_most = amount_field("At most, for right answers")
    step = forms.ChoiceField(label="Rounded to", choices=[(one, one) for one in STEPS], required=False)
    shown = forms.BooleanField(
        label="Show participants their bonus on the last page",
        required=False,
        help_text="They see the amount, and that you check it before you pay it.",
    )

    def __init__(self, data: Any = None, *, study: Study) -> None:
        super().__init__(data, initial=_initial(study.bonus_rule))
        stored = list(study.bonus_rule.get("figures") or {})
        figures = {name: name for name in stored} | {one.name: one.label for one in study_figures(study)}
        self.labels = figures
        self.numbers = _numbers(len(stored), data or {})
        for number in self.numbers:
            self.fields[f"figure_{number}"] = forms.ChoiceField(
                label=f"Figure {number}",
                required=False,
                choices=[("", "none"), *figures.items()],
                error_messages={"invalid_choice": "No condition of this study measures this figure."},
            )
            self.fields[f"each_{number}"] = amount_field(
                f"For each unit of figure {number}", "The figure, added over all rounds, times this amount."
            )
            self.fields[f"most_{number}"] = amount_field(f"At most, for figure {number}")
        last = ("right_each", "right_most", "step", "shown")
        self.order_fields([*(name for name in self.fields if name not in last), *last])

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, and keep the rule in `rule`."""
        cleaned = super().clean() or self.cleaned_data
        self._check_figures(cleaned)
        self.rule = self._rule(cleaned) if cleaned.get("currency") else {}
        if not self.rule and self._has_amounts(cleaned):
            self.add_error("currency", "Choose a currency, or remove the amounts and the figures.")
        elif self.rule and cleaned.get("most") is None:
            self.add_error("most", "Say how much one person can get.")
        elif not self.errors and (why := bonus_problem(self.rule)):
            self.add_error(None, why)
        return cleaned

    @staticmethod
    def _has_amounts(cleaned: dict[str, Any]) -> bool:
        """Return whether an amount is given, or a figure is chosen. Both would be lost without a currency."""
        given = {name for name, value in cleaned.items() if value not in ("", None)}
        return bool(given - {"currency", "step", "shown"})

    def _check_figures(self, cleaned: dict[str, Any]) -> None:
        """Add errors for a figure that is chosen twice, or without an amount: it would be lost."""
        seen = set[str]()
        for number in self.numbers:
            name = cleaned.get(f"figure_{number}")
            if name and name in seen:
                self.add_error(f"figure_{number}", "This figure is chosen twice.")
            elif name and cleaned.get(f"each_{number}") is None and f"each_{number}" not in self.errors:
                self.add_error(f"each_{number}", "Say what a unit pays, or choose no figure.")
            seen.add(name or "")

    def _rule(self, cleaned: dict[str, Any]) -> dict[str, Json]:
        """Return the rule as the study stores it, without what is empty."""
        right = _term(cleaned.get("right_each"), cleaned.get("right_most"))
        rule: dict[str, Json] = {
            "currency": cleaned["currency"],
            "most": _text(cleaned.get("most")),
            "base": _text(cleaned.get("base")),
            "figures": dict(self._figures(cleaned)),
            "right": right,
            "step": cleaned.get("step") or STEPS[0],
            "shown": bool(cleaned.get("shown")),
        }
        return {name: value for name, value in rule.items() if value not in ("", None, {})}

    def _figures(self, cleaned: dict[str, Any]) -> Iterator[tuple[str, Json]]:
        for number in self.numbers:
            name = cleaned.get(f"figure_{number}")
            if name and (term := _term(cleaned.get(f"each_{number}"), cleaned.get(f"most_{number}"))):
                yield name, term


def _numbers(stored: int, data: Any) -> range:
    """Return the numbers of the figures in the form: all that are stored or sent, and one more."""
    sent = [number for number in range(1, MOST_TERMS + 1) if f"figure_{number}" in data]
    return range(1, min(MOST_TERMS, max(FIGURES, stored + 1, *sent, 0)) + 1)


def _text(amount: Decimal | None) -> str:
    return "" if amount is None else f"{amount}"


def _term(each: Decimal | None, most: Decimal | None) -> dict[str, Json]:
    if each is None:
        return {}
    return {"each": _text(each), **({} if most is None else {"most": _text(most)})}


def _initial(document: Any) -> dict[str, Any]:
    """Return the values of the form's fields for a stored rule."""
    terms: Sequence[tuple[str, Any]] = list((document.get("figures") or {}).items())
    right = document.get("right") or {}
    values = {name: document.get(name) for name in ("currency", "most", "base", "step", "shown")}
    values |= {"right_each": right.get("each"), "right_most": right.get("most")}
    for number, (name, term) in enumerate(terms, start=1):
        values |= {
            f"figure_{number}": name,
            f"each_{number}": term.get("each"),
            f"most_{number}": term.get("most"),
        }
    return values


@study_page("edit", FORM_METHODS)
def bonus(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for the bonus, or save it."""
    form = BonusForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        study.bonus_rule = form.rule
        study_save(study=study, fields=["bonus_rule"])
        told = bonus_rule_words(parse_bonus(form.rule), form.labels)
        return back_to_page(request, study, f"Bonus: saved. {told}.")
    note = f"Now: {bonus_rule_words(parse_bonus(study.bonus_rule), form.labels)}."
    return form_page(request, study, form, heading="Bonus", note=note)
