"""Define `ItemKind`, the base class of all kinds of survey items.

The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_numbers import end_label

POINTS = (3, 11)
"""Minimum and maximum number of points of a Likert item."""
OPTION_LONGEST = 200
TEXT_LONGEST = 5000
"""Maximum number of characters of a free text."""

Problems = dict[str, str]
"""Sentences that name an item's problems, by field; empty if there are none."""


def must_be_answered(item: ItemPlan) -> bool:
    """Return whether participants must answer the item to continue.

    An item with a right answer must always be answered, even if an older design version says otherwise.
    Without an answer, the check would have no result.
    """
    return item.required or item.correct is not None


class ItemKind:
    """The base class of all kinds of survey items. Its methods suit an item that is answered by a text."""

    words = ""
    """The kind's name in lists and descriptions."""
    uses: tuple[str, ...] = ()
    """The fields of an item that this kind uses, among those that not every kind uses."""
    column = "text"
    """The type of its column in participants.csv (`study.exports.export_table.Column.kind`)."""
    looks = "typed"
    """The form of the question where it has no row of points or marks: `options` or `typed`."""

    def problems(self, item: ItemPlan) -> Problems:
        """Return why the item cannot be asked, by field name. The result is empty if it can be asked."""
        return {}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """Return why `value` cannot be an answer to the item. Return an empty string if it is valid.

        `teams` holds the keys of the conditions that the participant played.
        """
        good = isinstance(value, str) and len(value) <= TEXT_LONGEST
        return "" if good else gettext("Please write something.")

    def is_right(self, item: ItemPlan, value: Json) -> bool:
        """Return whether the answer is right. The item must have a right answer (`item.correct`)."""
        return bool(value == item.correct)

    def ends(self, item: ItemPlan) -> tuple[float, float] | None:
        """Return the lowest and the highest answer. Return None if the answers are not numbers between two
        bounds."""
        return None

    def row(self, item: ItemPlan) -> Sequence[float]:
        """Return the numbers of an item that are shown side by side as points or marks, in rising order. The
        result is empty if the item has no such row."""
        return ()

    def places(self, item: ItemPlan) -> Sequence[float]:
        """Return the numbers that a synthetic participant chooses from by its experience, in rising order.
        The result is empty if its answers are random."""
        return self.row(item)

    def end_words(self, item: ItemPlan) -> tuple[str, str]:
        """Return the labels at the low and the high end of a row of points or marks. Each label may be an
        empty string."""
        return end_label(item.low), end_label(item.high)

    def answers_words(self, item: ItemPlan) -> str:
        """Return a text that describes how the item is answered, for example with its range."""
        return self.words

    def levels(self, item: ItemPlan) -> str:
        """Return the possible answers for the codebook. Return an empty string if there are too many."""
        return "; ".join(item.options)

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Return a few possible answers to an item with a right answer. At least one is wrong, if a wrong
        one exists."""
        return list(item.options)

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Return a random answer for a synthetic participant."""
        return rng.choice(item.options)
