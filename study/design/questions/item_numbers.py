"""Read and write the numbers of survey items: steps, bounds, rows of marks, and the words at their ends.

The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from kitchen.words.gettext_without_django import gettext
from study.design.questions.item_fields import AGREEMENT, ItemPlan

MOST_MARKS = 21
"""Maximum number of marks in a row, as the NASA-TLX has on paper.

A number with labels at both ends and at most this number of possible answers is asked as a row of marks."""
MOST_FIGURES = 66
"""Maximum width of a row in digits: its marks times the digits of the longest mark."""
LARGEST, DECIMALS = 1e12, 9
"""The largest number that can be an answer or a bound, and the maximum number of its decimal places."""


def number_marks(item: ItemPlan) -> tuple[float, ...]:
    """Return all possible answers of a number item that is shown as a row of marks, in rising order.

    Return an empty tuple if participants type the number.
    """
    ends = (item.minimum, item.maximum, item.step)
    if item.kind != "number" or None in ends or not (end_label(item.low) and end_label(item.high)):
        return ()
    low, high, step = (exact_decimal(end or 0) for end in ends)
    if not step or (high - low) / step >= MOST_MARKS:
        return ()
    values = tuple(float(low + number * step) for number in range(int((high - low) / step) + 1))
    fits = len(values) * max(len(format_number(mark)) for mark in values) <= MOST_FIGURES
    return values if fits and values[-1] == item.maximum else ()


def end_label(words: str) -> str:
    """Return the label `words` at one end of a number scale. Return an empty string if `words` is a default
    label of Likert items."""
    return "" if words in AGREEMENT or words in map(gettext, AGREEMENT) else words


def format_number(value: float) -> str:
    """Return the number as decimal text, without the errors of binary fractions."""
    return f"{round(value, DECIMALS):.15g}"


def is_on_step(item: ItemPlan, value: float) -> bool:
    """Return whether `value` is the item's minimum (or 0) plus a whole number of steps."""
    step = exact_decimal(item.step or 0)
    return not step or (exact_decimal(value) - exact_decimal(item.minimum or 0)) % step == 0


def exact_decimal(value: float) -> Decimal:
    """Return the number as an exact decimal. For example, 0.3 becomes exactly three times 0.1."""
    return Decimal(format_number(value))


def range_words(item: ItemPlan) -> str:
    """Describe the allowed numbers and the labels at the ends, such as “From 0 (Low) to 100 (High), in
    steps of 5”."""
    low, high = _end(item.minimum, item.low), _end(item.maximum, item.high)
    step = format_number(item.step) if item.step is not None and item.step != 1 else ""
    return _RANGES[bool(low), bool(high), bool(step)]().format(low=low, high=high, step=step)


_RANGES: Mapping[tuple[bool, bool, bool], Callable[[], str]] = {
    (False, False, False): lambda: "",
    (False, False, True): lambda: "",
    (True, False, False): lambda: gettext("From {low}"),
    (True, False, True): lambda: gettext("From {low}, in steps of {step}"),
    (False, True, False): lambda: gettext("To {high}"),
    (False, True, True): lambda: gettext("To {high}, in steps of {step}"),
    (True, True, False): lambda: gettext("From {low} to {high}"),
    (True, True, True): lambda: gettext("From {low} to {high}, in steps of {step}"),
}
"""The sentences, by whether there is a minimum, a maximum, and a step that is not 1."""


def _end(end: float | None, words: str) -> str:
    """Return one bound of a number scale with its label, such as “0 (Low)”. Return an empty string if the
    scale has no such bound."""
    if end is None:
        return ""
    told = end_label(words)
    return f"{format_number(end)} ({told})" if told else format_number(end)
