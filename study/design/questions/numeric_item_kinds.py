"""Define the kinds of survey items whose answers are numbers: scales with points, numbers and sliders.

The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from random import Random

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kind_base import POINTS, ItemKind, Problems
from study.design.questions.item_numbers import (
    DECIMALS,
    LARGEST,
    format_number,
    is_on_step,
    number_marks,
    range_words,
)


class Likert(ItemKind):
    """The kind of items that ask for a point on a scale with labels at its ends."""

    words = "scale with points"
    uses = ("points", "low", "high", "scale", "reversed", "table")
    column = "integer"

    def problems(self, item: ItemPlan) -> Problems:
        fewest, most = POINTS
        good = type(item.points) is int and fewest <= item.points <= most
        return {} if good else {"points": f"A whole number from {fewest} to {most} is wanted."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        good = type(value) is int and 1 <= value <= item.points
        return "" if good else gettext("Choose a point from 1 to {most}.").format(most=item.points)

    def ends(self, item: ItemPlan) -> tuple[float, float]:
        return 1, item.points

    def row(self, item: ItemPlan) -> Sequence[float]:
        return range(1, item.points + 1)

    def end_words(self, item: ItemPlan) -> tuple[str, str]:
        return item.low, item.high

    def answers_words(self, item: ItemPlan) -> str:
        low, high = (f" ({end})" if end else "" for end in (item.low, item.high))
        return f"{self.words}: 1{low} to {item.points}{high}"

    def levels(self, item: ItemPlan) -> str:
        return f"1 = {item.low}; {item.points} = {item.high}"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return list(self.row(item))


class Number(ItemKind):
    """The kind of items that ask for a number, typed or chosen as a mark on a scale."""

    words = "number"
    uses: tuple[str, ...] = ("low", "high", "minimum", "maximum", "step", "unit", "scale", "reversed")
    column = "number"

    def problems(self, item: ItemPlan) -> Problems:
        given = {"minimum": item.minimum, "maximum": item.maximum, "step": item.step}
        if wrong_ends := {name: wrong for name, one in given.items() if one and (wrong := _end_problem(one))}:
            return wrong_ends
        if item.step is not None and item.step <= 0:
            return {"step": "It must be above 0."}
        if item.minimum is None or item.maximum is None:
            return {}
        if item.minimum >= item.maximum:
            return {"maximum": "It must be above the minimum."}
        leads = is_on_step(item, item.maximum)
        return {} if leads else {"step": "The steps do not lead from the minimum to the maximum."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        if type(value) not in {int, float} or value != value or abs(value) == float("inf"):
            return gettext("Enter a number.")
        if abs(value) > LARGEST:
            return gettext("Give a number of at most {most}.").format(most=format_number(LARGEST))
        if item.minimum is not None and value < item.minimum:
            return gettext("Give a number of at least {least}.").format(least=format_number(item.minimum))
        if item.maximum is not None and value > item.maximum:
            return gettext("Give a number of at most {most}.").format(most=format_number(item.maximum))
        steps = gettext("Give a number in steps of {step}.").format(step=format_number(item.step or 0))
        return "" if is_on_step(item, value) else steps

    def ends(self, item: ItemPlan) -> tuple[float, float] | None:
        return None if item.minimum is None or item.maximum is None else (item.minimum, item.maximum)

    def row(self, item: ItemPlan) -> Sequence[float]:
        return number_marks(item)

    def levels(self, item: ItemPlan) -> str:
        return range_words(item)

    def answers_words(self, item: ItemPlan) -> str:
        said = range_words(item) or "Any"
        if item.step is not None and "in steps of" not in said:
            said += f", in steps of {format_number(item.step)}"
        row = len(number_marks(item))
        return f"{self.words}: {said[:1].lower()}{said[1:]}" + (f", as a row of {row} marks" if row else "")

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Return the numbers next to the right answer, and the bounds. Numbers that are not valid answers
        are left out."""
        step = item.step or 1.0
        numbers = [item.correct + step, item.correct - step, item.minimum, item.maximum]
        return [_plain(one) for one in numbers if one is not None and not self.value_problem(item, one, ())]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        low, step = item.minimum or 0.0, item.step or 1.0
        most = floor(((low + 60 if item.maximum is None else item.maximum) - low) / step + 1e-9)
        least = min(0, most - 60) if item.minimum is None else 0
        return _plain(round(low + step * rng.randint(least, most), DECIMALS))


class Slider(Number):
    """The kind of items that ask for a place between two ends (a visual analogue scale).

    Without a step, participants see no number, and answers are hundredths of the range. There is no answer
    before the participant moves the slider.
    """

    words = "slider"
    looks = "slider"

    def problems(self, item: ItemPlan) -> Problems:
        """Return the problems of a number. A slider needs both ends."""
        missing = [name for name in ("minimum", "maximum") if getattr(item, name) is None]
        return super().problems(item) or dict.fromkeys(missing, "A slider needs minimum and maximum.")

    def row(self, item: ItemPlan) -> Sequence[float]:
        return ()

    def places(self, item: ItemPlan) -> Sequence[float]:
        """Return the places of the slider, at most about a hundred."""
        low, step = item.minimum or 0.0, slider_step(item)
        count = floor(((item.maximum or 0.0) - low) / step + 1e-9) + 1
        return [round(low + step * place, DECIMALS) for place in range(0, count, max(1, count // 100))]

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return super().some_answers(item.model_copy(update={"step": slider_step(item)}))

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return _plain(rng.choice(self.places(item)))


def slider_step(item: ItemPlan) -> float:
    """Return the distance between two places of a slider: its step, or a hundredth of its range."""
    if item.step is not None:
        return item.step
    return round(((item.maximum or 0) - (item.minimum or 0)) / 100, DECIMALS) or 10**-DECIMALS


def _end_problem(value: float) -> str:
    if abs(value) > LARGEST:
        return f"A number of at most {format_number(LARGEST)} is wanted."
    exact = round(value, DECIMALS) == value
    return "" if exact else f"At most {DECIMALS} digits behind the point are wanted."


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
