"""Sub-scales in numbers: several items' answers become one score. Plain Python.

A score is computed only if every item of its scale was answered: with any missing it is None, and the missing
items are named. Nothing is filled in, so that a score means the same for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from study.design.questions.fields import ItemPlan
from study.design.questions.kinds import kind_of


class ScoringError(ValueError):
    """Items that cannot be scored so; the message says why."""


@dataclass(frozen=True, slots=True)
class Score:
    """One person's score on one scale, or None with the keys of the items without an answer."""

    value: float | None
    missing: tuple[str, ...] = ()


def ends(item: ItemPlan) -> tuple[float, float]:
    """The lowest and the highest answer; ScoringError if the item has none."""
    bounds = kind_of(item).ends(item)
    if bounds is None:
        raise ScoringError(f"{item.key}: only Likert items, and numbers with both bounds, can be scored.")
    return bounds


def turned(item: ItemPlan, value: float) -> float:
    """The answer in the direction of its scale: reversed items are turned round (lowest + highest - value).

    ScoringError if no such answer can be given.
    """
    low, high = ends(item)
    if not low <= value <= high:
        raise ScoringError(f"{item.key}: {value:g} is not from {low:g} to {high:g}.")
    return within(low + high - value, (low, high)) if item.reversed else value


def within(value: float, between: tuple[float, float]) -> float:
    """The value without what rounding put beyond the ends."""
    return min(max(value, between[0]), between[1])


class Mean:
    """The mean of the turned answers, in the items' own unit. The raw NASA-TLX is such a mean."""

    label = "mean of the items"

    def problem(self, items: Sequence[ItemPlan]) -> str:
        """Why these items cannot be put together; empty if they can."""
        return "" if len({ends(item) for item in items}) < 2 else "its items do not share one range"

    def ends(self, items: Sequence[ItemPlan]) -> tuple[float, float]:
        """The lowest and the highest score."""
        return ends(items[0])

    def of(self, values: Sequence[float]) -> float:
        """From turned answers to the score."""
        return fsum(values) / len(values)


class Sus:
    """0 to 100: what each of the ten turned answers lies above 1, summed up, times 2.5 (Brooke 1996)."""

    label = "SUS, 0 to 100"

    def problem(self, items: Sequence[ItemPlan]) -> str:
        """The formula is for ten items of five points."""
        fits = len(items) == 10 and {ends(item) for item in items} == {(1, 5)}
        return "" if fits else "the SUS has ten Likert items of five points"

    def ends(self, _: Sequence[ItemPlan]) -> tuple[float, float]:
        """The lowest and the highest score."""
        return 0, 100

    def of(self, values: Sequence[float]) -> float:
        """From turned answers to the score."""
        return fsum(value - 1 for value in values) * 2.5


SCORES: dict[str, Mean | Sus] = {"mean": Mean(), "sus": Sus()}
"""How a scale's items become one number, by the name that instruments use."""


def scale_problem(items: Sequence[ItemPlan], score: str = "mean") -> str:
    """Why these items make no score, in words that end a sentence; empty if they make one."""
    if not items:
        return "it has no items"
    try:
        return SCORES[score].problem(items)
    except ScoringError as error:
        return str(error).removesuffix(".")


def scale_score(items: Sequence[ItemPlan], values: Mapping[str, float | None], score: str = "mean") -> Score:
    """One scale's score from answers by item key; an item without an answer is absent or None.

    ScoringError if these items, or such an answer, cannot be scored.
    """
    formula = SCORES[score]
    if problem := scale_problem(items, score):
        raise ScoringError(f"This scale cannot be scored: {problem}.")
    given = {item.key: turned(item, value) for item in items if (value := values.get(item.key)) is not None}
    missing = tuple(item.key for item in items if item.key not in given)
    if missing:
        return Score(None, missing)
    return Score(within(formula.of(list(given.values())), formula.ends(items)))
