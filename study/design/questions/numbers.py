"""Numbers as answers: their steps, the marks they are asked as, and how they are written. Plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from kitchen.words.speech import gettext
from study.design.questions.fields import AGREEMENT, ItemPlan

MOST_MARKS = 21
"""A number with at most so many possible answers and words at both ends is asked as a row of marks, as the
NASA-TLX is on paper."""
MOST_FIGURES = 66
"""The room for the figures of a row: marks times the figures of the longest."""
LARGEST, DECIMALS = 1e12, 9
"""A number that is asked for is not larger, and has not more digits behind the point."""


def marks(item: ItemPlan) -> tuple[float, ...]:
    """Every answer that a number can have, in rising order, if it is asked as a row of marks; empty if it is
    typed."""
    ends = (item.minimum, item.maximum, item.step)
    if item.kind != "number" or None in ends or not (meant(item.low) and meant(item.high)):
        return ()
    low, high, step = (_exact(end or 0) for end in ends)
    if not step or (high - low) / step >= MOST_MARKS:
        return ()
    values = tuple(float(low + number * step) for number in range(int((high - low) / step) + 1))
    fits = len(values) * max(len(written(mark)) for mark in values) <= MOST_FIGURES
    return values if fits and values[-1] == item.maximum else ()


def meant(words: str) -> str:
    """What stands at an end of a number, unless nobody wrote it, in the language of whoever reads."""
    return "" if words in AGREEMENT or words in map(gettext, AGREEMENT) else words


def written(value: float) -> str:
    """A number in figures, without the noise of binary fractions."""
    return f"{round(value, DECIMALS):.15g}"


def on_step(item: ItemPlan, value: float) -> bool:
    """Whether a number lies whole steps above the item's minimum (or 0)."""
    step = _exact(item.step or 0)
    return not step or (_exact(value) - _exact(item.minimum or 0)) % step == 0


def _exact(value: float) -> Decimal:
    """The number that was written, in which 0.3 is three times 0.1."""
    return Decimal(written(value))


def range_words(item: ItemPlan) -> str:
    """Which numbers are wanted and what the ends mean: “From 0 (Low) to 100 (High), in steps of 5”."""
    low, high = _end(item.minimum, item.low), _end(item.maximum, item.high)
    step = written(item.step) if item.step is not None and item.step != 1 else ""
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
"""By whether there is a lowest number, a highest one, and a step that is worth a word."""


def _end(end: float | None, words: str) -> str:
    """A bound with what it means; empty where there is none."""
    if end is None:
        return ""
    told = meant(words)
    return f"{written(end)} ({told})" if told else written(end)
