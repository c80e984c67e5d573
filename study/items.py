"""Which items can be asked and which answers fit them: one rule for editor, files, form and data. Plain
Python."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any, Protocol

from kitchen.worlds.base import Json

CHOICES = ("single", "multiple")
"""Kinds that need options."""
SCALED = ("likert", "number")
"""Kinds whose answers are numbers, which can be reversed and make a sub-scale."""
POINTS = (3, 11)
"""Of a Likert item: the fewest and the most."""
LONGEST = {"key": 50, "measure": 80, "text": 300, "low": 60, "high": 60, "scale": 40}
"""Characters of an item's texts, at most."""
AGREEMENT = ("Strongly disagree", "Strongly agree")
"""What an item says at its ends unless the researcher says otherwise: of a number it means nothing."""
MOST_MARKS = 21
"""A number with at most so many possible answers and words at both ends is asked as a row of marks, as the
NASA-TLX is on paper."""
MOST_FIGURES = 66
"""The room for the figures of a row: marks times the figures of the longest."""
LARGEST, DECIMALS = 1e12, 9
"""A number that is asked for is not larger, and has not more digits behind the point."""
OPTION_LONGEST = 200
TEXT_LONGEST = 5000
"""Characters of a free text that are kept."""


class Item(Protocol):
    """What the rules look at: a stored item or one of a blueprint."""

    @property
    def kind(self) -> Any: ...
    @property
    def scale(self) -> Any: ...
    @property
    def reversed(self) -> Any: ...
    @property
    def points(self) -> Any: ...
    @property
    def options(self) -> Any: ...
    @property
    def low(self) -> Any: ...
    @property
    def high(self) -> Any: ...
    @property
    def minimum(self) -> Any: ...
    @property
    def maximum(self) -> Any: ...
    @property
    def step(self) -> Any: ...
    @property
    def correct(self) -> Any: ...
    @property
    def required(self) -> Any: ...
    @property
    def needs_teammates(self) -> Any: ...


def must_be_answered(item: Item) -> bool:
    """Whether nobody goes on without an answer. What has a right answer always must be, whatever a version of
    before says: a check that is left open would be neither passed nor failed, and attempts without end."""
    return bool(item.required) or item.correct is not None


def item_problems(item: Item, place: str) -> dict[str, str]:
    """What is wrong with an item that is asked at this place, by field; empty if nothing is."""
    found = _points_problem(item) | _options_problem(item) | _number_problem(item) | _scale_problem(item)
    if item.kind == "team" and place != "final":
        found["kind"] = "Teams can be compared at the end only."
    if not found and place == "check" and item.correct is None:
        found["correct"] = "A question of understanding needs its right answer."
    if not found and item.correct is not None and (wrong := value_problem(item, item.correct)):
        found["correct"] = wrong
    if not found and item.correct == []:
        found["correct"] = "Choose at least one."
    if item.needs_teammates and place != "survey":
        found["needs_teammates"] = "Only what is asked after episodes can depend on them."
    if item.correct is not None and not item.required:
        found["required"] = "What has a right answer must be answered: else it could be left open."
    return found


def _points_problem(item: Item) -> dict[str, str]:
    fewest, most = POINTS
    good = item.kind != "likert" or (type(item.points) is int and fewest <= item.points <= most)
    return {} if good else {"points": f"A whole number from {fewest} to {most} is wanted."}


def _scale_problem(item: Item) -> dict[str, str]:
    """What is reversed or counts for a sub-scale can be scored."""
    if not item.scale and not item.reversed:
        return {}
    if item.kind not in SCALED:
        field = "scale" if item.scale else "reversed"
        return {field: "Only points and numbers can be reversed or make a sub-scale."}
    if item.scale and item.correct is not None:
        return {"scale": "An item with a right answer cannot count for a sub-scale."}
    ends = {"minimum": item.minimum, "maximum": item.maximum} if item.kind == "number" else {}
    words = "A number that is reversed or in a sub-scale needs minimum and maximum."
    return {name: words for name, end in ends.items() if end is None}


def _options_problem(item: Item) -> dict[str, str]:
    if item.kind not in CHOICES:
        return {}
    options = item.options
    if not isinstance(options, list | tuple) or not all(
        isinstance(one, str) and one.strip() for one in options
    ):
        return {"options": "A list of texts is wanted."}
    if len(options) < 2 or len(set(options)) < len(options):
        return {"options": "At least two, all of them different."}
    return {"options": "An option is too long."} if max(map(len, options)) > OPTION_LONGEST else {}


def _number_problem(item: Item) -> dict[str, str]:
    if item.kind != "number":
        return {}
    given = {name: getattr(item, name) for name in ("minimum", "maximum", "step")}
    if found := {name: wrong for name, one in given.items() if one and (wrong := _end_problem(one))}:
        return found
    if item.step is not None and item.step <= 0:
        return {"step": "It is not above 0."}
    if item.minimum is None or item.maximum is None:
        return {}
    if item.minimum >= item.maximum:
        return {"maximum": "It is not above the minimum."}
    return (
        {} if on_step(item, item.maximum) else {"step": "It does not lead from the minimum to the maximum."}
    )


def _end_problem(value: float) -> str:
    if not isfinite(value):
        return "A number is wanted."
    if abs(value) > LARGEST:
        return f"A number of at most {written(LARGEST)} is wanted."
    return (
        "" if round(value, DECIMALS) == value else f"At most {DECIMALS} digits behind the point are wanted."
    )


def value_problem(item: Item, value: Json, teams: tuple[str, ...] = ()) -> str:
    """Why this cannot be an answer to the item; empty if it can."""
    if item.kind == "likert":
        good = type(value) is int and 1 <= value <= item.points
        return "" if good else f"A point from 1 to {item.points} is wanted."
    if item.kind == "number":
        return _not_number(item, value)
    if item.kind == "multiple":
        good = isinstance(value, list | tuple) and all(one in item.options for one in value)
        return "" if good and len(set(value)) == len(value) else "One of the options is wanted."
    if item.kind == "single":
        return "" if value in item.options else "One of the options is wanted."
    if item.kind == "team":
        return "" if value in teams else "One of the teams is wanted."
    return "" if isinstance(value, str) and len(value) <= TEXT_LONGEST else "A text is wanted."


def _not_number(item: Item, value: Json) -> str:
    if type(value) not in {int, float} or value != value or abs(value) == float("inf"):
        return "A number is wanted."
    if abs(value) > LARGEST:
        return f"Give a number of at most {written(LARGEST)}."
    if item.minimum is not None and value < item.minimum:
        return f"Give a number of at least {written(item.minimum)}."
    if item.maximum is not None and value > item.maximum:
        return f"Give a number of at most {written(item.maximum)}."
    return "" if on_step(item, value) else f"Give a number in steps of {written(item.step)}."


def marks(item: Item) -> tuple[float, ...]:
    """Every answer that a number can have, in rising order, if it is asked as a row of marks; empty if it is
    typed."""
    ends = (item.minimum, item.maximum, item.step)
    if item.kind != "number" or None in ends or not (meant(item.low) and meant(item.high)):
        return ()
    low, high, step = map(_exact, ends)
    if not step or (high - low) / step >= MOST_MARKS:
        return ()
    found = tuple(float(low + number * step) for number in range(int((high - low) / step) + 1))
    fits = len(found) * max(len(written(mark)) for mark in found) <= MOST_FIGURES
    return found if fits and found[-1] == item.maximum else ()


def meant(words: str) -> str:
    """What stands at an end of a number, unless nobody wrote it."""
    return "" if words in AGREEMENT else words


def written(value: float) -> str:
    """A number in figures, without the noise of binary fractions."""
    return f"{round(value, DECIMALS):.15g}"


def _exact(value: float) -> Decimal:
    """The number that was written, in which 0.3 is three times 0.1."""
    return Decimal(written(value))


def on_step(item: Item, value: float) -> bool:
    """Whether a number lies whole steps above the item's minimum (or 0)."""
    step = _exact(item.step or 0)
    return not step or (_exact(value) - _exact(item.minimum or 0)) % step == 0


def is_right(item: Item, value: Json) -> bool | None:
    """Whether an answer is the right one; None for an item that has none."""
    if item.correct is None:
        return None
    if item.kind == "multiple":
        return isinstance(value, list) and set(value) == set(item.correct)
    return bool(value == item.correct)
