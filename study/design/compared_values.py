"""List the values that a rule can compare: the options of a question, the keys of conditions, or numbers.

The module imports no Django.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from study.design.own_pages import COUNTING, Comparison, as_number
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import kind_of

MOST_POINTS = 11
"""Scales with at most so many points are offered as a list."""
NUMERIC = ("at_least", "at_most")
"""Comparisons that need a number."""


@dataclass(frozen=True, slots=True)
class ComparedValues:
    """The values that something can have: `options`, each with its words, or numbers from `low` to `high`.

    Without options, and with `is_number` False, any text is possible.
    """

    options: tuple[tuple[str, str], ...] = ()
    is_number: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def range_words(self) -> str:
        """Return the possible numbers in words, such as `from 1 to 7`. Return an empty string for any
        number."""
        ends = [f"from {self.low:g}"] if self.low is not None else []
        return " ".join([*ends, *([f"to {self.high:g}"] if self.high is not None else [])])

    def problem(self, one: Comparison) -> str:
        """Return why nothing can have the compared value. Return an empty string if something can."""
        value, number = one.value.strip(), as_number(one.value)
        if self.options and one.compares not in NUMERIC:
            if any(holds_value == value for holds_value, _ in self.options):
                return ""
            if self.is_number and number is not None and self._is_listed(number):
                return ""
            known = ", ".join(words for _, words in self.options)
            return f"“{value}” cannot be answered. Choose one of: {known}." if value else f"Choose: {known}."
        if not self.is_number:
            return ""
        if number is None:
            return f"Write a number{f' {self.range_words}' if self.range_words else ''}."
        return "" if self._is_possible(number) else f"“{value}” cannot be. Write a number {self.range_words}."

    def _is_listed(self, number: float) -> bool:
        return any(as_number(value) == number for value, _ in self.options)

    def _is_possible(self, number: float) -> bool:
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


COUNTED = ComparedValues(is_number=True, low=0)
FREE = ComparedValues()


def compared_values(what: str, design: Any) -> ComparedValues:
    """Return the values that a comparison with `what` can name. `design` is a `Blueprint`."""
    source, _, name = what.partition(":")
    if source in COUNTING:
        return COUNTED
    if source == "group":
        return ComparedValues(_pairs(design.groups))
    if source == "condition":
        return ComparedValues(_condition_pairs(design))
    if source == "figure":
        return ComparedValues(is_number=True)
    item = next((one for one in design.items if one.key == name), None)
    return _answers(item, design) if item else FREE


def _answers(item: ItemPlan, design: Any) -> ComparedValues:
    """Return the answers that can be given to an item."""
    kind = kind_of(item)
    if item.kind == "team":
        return ComparedValues(_condition_pairs(design))
    if "options" in kind.uses:
        return ComparedValues(_pairs(item.options))
    if kind.column in {"integer", "number"}:
        low, high = kind.ends(item) or (item.minimum, item.maximum)
        points = kind.row(item) if item.kind == "likert" and item.points <= MOST_POINTS else ()
        options = tuple((f"{one:g}", _point_words(item, one)) for one in points)
        return ComparedValues(options, is_number=True, low=low, high=high)
    return FREE


def _point_words(item: ItemPlan, point: float) -> str:
    """Return a point of a scale with the words at its end, such as `7 (strongly agree)`."""
    words = {1: item.low, item.points: item.high}.get(int(point), "")
    return f"{point:g} ({words})" if words else f"{point:g}"


def _pairs(values: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((one, one) for one in values)


def _condition_pairs(design: Any) -> tuple[tuple[str, str], ...]:
    return tuple((one.key, f"{one.name} ({one.key})") for one in design.conditions)
