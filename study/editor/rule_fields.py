"""Define the form fields of a rule that decides who sees a page or a part of a study.

Each comparison is a row of three fields. The field of the compared value offers the answers that can be
given: as a list, or as a number with its bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django import forms

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint
from study.design.compared_values import compared_values
from study.design.own_pages import COMPARISONS, MOST_RULES, Comparison, as_number, compared_names

MATCHES = {"all": "all of these hold", "any": "any of these holds"}
FEWEST_ROWS = 2
"""How many rows for comparisons a form has at least."""
NOT_KNOWN = "not known here"
CANNOT_BE = "cannot be answered"
DECIDES = {"class": "decides"}
"""A change of such a field loads the offered values again."""


class RuleFields:
    """The fields of one rule, for a form to take over: `fields` and their `initial` values, by name.

    `stored` is the rule as JSON. `data` is what was sent, or None. `before` is the place of the page,
    and `page` its name.
    """

    def __init__(
        self,
        design: Blueprint,
        before: str,
        stored: Mapping[str, Any],
        data: Mapping[str, Any] | None,
        page: str = "",
    ) -> None:
        self.design, self.data, self.stored = design, data, list(stored.get("rules", ()))
        self.known = compared_names(design, before, page)
        self.rows = min(max(FEWEST_ROWS, len(self.stored) + 1, self._sent_rows() + 1), MOST_RULES)
        self.initial: dict[str, Any] = {"match": stored.get("match", "all")}
        match = forms.ChoiceField(label="Show this page if", choices=[*MATCHES.items()], required=False)
        self.fields: dict[str, forms.Field] = {"match": match}
        for row in range(self.rows):
            one = self.stored[row] if row < len(self.stored) else {}
            self.initial |= {f"{name}_{row}": one.get(name, "") for name in ("what", "compares", "value")}
            self.fields |= self._row(row)

    def _sent_rows(self) -> int:
        sent = self.data or {}
        return max((row + 1 for row in range(MOST_RULES) if sent.get(f"what_{row}")), default=0)

    def _now(self, name: str) -> str:
        """Return the value of a field as it is sent or stored."""
        sent = None if self.data is None else self.data.get(name, "")
        return str(self.initial.get(name, "") if sent is None else sent)

    def _row(self, row: int) -> dict[str, forms.Field]:
        what = self._now(f"what_{row}")
        names = [("", "nothing"), *self.known.items()]
        names += [
            (one, f"{compared_names(self.design, 'end').get(one, one)} ({NOT_KNOWN})")
            for one in dict.fromkeys((what, str(self.initial[f"what_{row}"])))
            if one and one not in self.known
        ]
        return {
            f"what_{row}": forms.ChoiceField(
                label=f"Value {row + 1}",
                choices=names,
                required=False,
                widget=forms.Select(DECIDES),
            ),
            f"compares_{row}": forms.ChoiceField(
                label=f"Comparison {row + 1}", choices=[*COMPARISONS.items()], required=False
            ),
            f"value_{row}": forms.CharField(
                label=f"Compared with {row + 1}",
                max_length=200,
                required=False,
                widget=self._value_widget(what, self._now(f"value_{row}")),
            ),
        }

    def _value_widget(self, what: str, value: str) -> forms.Widget:
        """Return a list of the values that can be, or a field for a number. A value that cannot be stays, so
        that nothing typed is lost."""
        offered = compared_values(what, self.design)
        if offered.options:
            choices = [("", "choose"), *offered.options]
            lost = [(value, f"{value} ({CANNOT_BE})")] if value and value not in dict(offered.options) else []
            return forms.Select(choices=[*choices, *lost])
        if not offered.is_number or (value and as_number(value) is None):
            return forms.TextInput()
        ends = {"min": offered.low, "max": offered.high}
        shown = {name: f"{end:g}" for name, end in ends.items() if end is not None}
        return forms.NumberInput({"step": "any", **shown})

    def rule(self, cleaned: Mapping[str, Any]) -> dict[str, Json]:
        """Return the rule that the form sent, as JSON. It is empty without comparisons."""
        rules: list[Json] = [dict(self._sent(cleaned, row)) for row in self._used(cleaned)]
        return {"match": cleaned.get("match") or "all", "rules": rules} if rules else {}

    def value_errors(self, cleaned: Mapping[str, Any]) -> dict[str, str]:
        """Return why a compared value cannot be, as messages by field name."""
        told = {}
        for row in self._used(cleaned):
            one = Comparison.model_validate(self._sent(cleaned, row))
            told[f"value_{row}"] = compared_values(one.what, self.design).problem(one)
        return {name: words for name, words in told.items() if words}

    def _used(self, cleaned: Mapping[str, Any]) -> list[int]:
        return [row for row in range(self.rows) if cleaned.get(f"what_{row}")]

    def _sent(self, cleaned: Mapping[str, Any], row: int) -> dict[str, str]:
        sent = {name: cleaned.get(f"{name}_{row}") or "" for name in ("what", "compares", "value")}
        return {**sent, "compares": sent["compares"] or "is"}


class HasRule:
    """A form with the fields of a rule (`add_rule`). `rule_names` are their names."""

    rule_fields: RuleFields | None = None

    def add_rule(self, design: Blueprint, before: str, stored: Mapping[str, Any], page: str = "") -> None:
        """Add the fields of a stored rule to the form. `before` is the place of the page, and `page` its
        name."""
        sent = self.data if self.is_bound else None  # type: ignore[attr-defined]
        made = RuleFields(design, before, stored, sent, page)
        self.rule_fields = made
        self.fields.update(made.fields)  # type: ignore[attr-defined]
        for name, value in made.initial.items():
            self.initial.setdefault(name, value)  # type: ignore[attr-defined]

    def checked_rule(
        self, cleaned: Mapping[str, Any], problems: Callable[[dict[str, Json], Blueprint], Iterable[str]]
    ) -> dict[str, Json]:
        """Return the rule that the form sent, as JSON. Add an error for each of its `problems`, or else for
        each compared value that cannot be. `problems` is called with the rule and the design."""
        fields = self.rule_fields
        rule = fields.rule(cleaned) if fields else {}
        if fields and rule:
            wrong = [(None, words) for words in problems(rule, fields.design)]
            for name, words in wrong or fields.value_errors(cleaned).items():
                self.add_error(name, words)  # type: ignore[attr-defined]
        return rule

    @property
    def sections(self) -> dict[str, list[Any]]:
        """Return the fields outside the rule as `plain`, and those of the rule as `rule`."""
        names = self.rule_fields.fields if self.rule_fields else {}
        fields = [*self]  # type: ignore[misc]
        return {
            "plain": [one for one in fields if one.name not in names],
            "rule": [one for one in fields if one.name in names],
        }
