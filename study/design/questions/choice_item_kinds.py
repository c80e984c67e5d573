"""Define the kinds of survey items that ask to choose or order options, or to fill in a text for each.

The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kind_base import OPTION_LONGEST, ItemKind, Problems, must_be_answered
from study.design.questions.item_numbers import end_label

SHORT_TEXT_LONGEST = 300
"""Maximum number of characters of one of several texts."""


class Single(ItemKind):
    """The kind of items that ask for one of several options."""

    words = "one of several"
    uses: tuple[str, ...] = ("options", "shuffled")
    looks = "options"

    def problems(self, item: ItemPlan) -> Problems:
        options = item.options
        if not isinstance(options, list | tuple) or not all(
            isinstance(one, str) and one.strip() for one in options
        ):
            return {"options": "A list of texts is wanted."}
        if len(options) < 2 or len(set(options)) < len(options):
            return {"options": "At least two, all of them different."}
        return {"options": "An option is too long."} if max(map(len, options)) > OPTION_LONGEST else {}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        return "" if value in item.options else gettext("Choose one of the options.")


class Multiple(Single):
    """The kind of items that ask for any number of several options."""

    words = "any of several"
    column = "json"

    def problems(self, item: ItemPlan) -> Problems:
        """Return the problems of the options. A right answer without any option is a problem, too."""
        return super().problems(item) or ({"correct": "Choose at least one."} if item.correct == [] else {})

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        good = isinstance(value, list | tuple) and all(one in item.options for one in value)
        return "" if good and len(set(value)) == len(value) else gettext("Choose one of the options.")

    def is_right(self, item: ItemPlan, value: Json) -> bool:
        """Return whether exactly the right options were chosen, in any order."""
        return isinstance(value, list) and set(value) == set(item.correct)

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return [[one] for one in item.options] + [list(item.options)]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Choose each option with probability 0.5, but at least one option."""
        return [one for one in item.options if rng.random() < 0.5] or [rng.choice(item.options)]


class Ranking(Single):
    """The kind of items that ask for an order of all options. The answer lists them, the first place
    first."""

    words = "order of all options"
    column = "json"
    looks = "parts"

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        good = isinstance(value, list | tuple) and sorted(map(str, value)) == sorted(item.options)
        return "" if good else gettext("Give each of these a place of its own.")

    def levels(self, item: ItemPlan) -> str:
        return f"a list, the first place first, of: {super().levels(item)}"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return [list(item.options), list(reversed(item.options))]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return rng.sample(item.options, len(item.options))


BEST, WORST = "best", "worst"


class BestWorst(Single):
    """The kind of items that ask for the best and the worst of several options (best-worst scaling).

    The answer is an object with `best` and `worst`. `high` and `low` replace these words on pages.
    """

    words = "best and worst of several"
    uses = ("options", "shuffled", "low", "high")
    column = "json"
    looks = "parts"

    def problems(self, item: ItemPlan) -> Problems:
        """Return the problems of the options. They are three at least: of two, one question asks for both."""
        few = {"options": "At least three, all of them different."} if len(item.options) < 3 else {}
        return super().problems(item) or few

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        if not isinstance(value, Mapping) or set(value) != {BEST, WORST}:
            return gettext("Choose one for each of the two.")
        if not set(value.values()) <= set(item.options):
            return gettext("Choose one of the options.")
        return gettext("Choose two different ones.") if value[BEST] == value[WORST] else ""

    def end_words(self, item: ItemPlan) -> tuple[str, str]:
        """Return the words for the worst and the best."""
        return end_label(item.low) or gettext("Worst"), end_label(item.high) or gettext("Best")

    def levels(self, item: ItemPlan) -> str:
        return f"best and worst of: {super().levels(item)}"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        first, last = item.options[0], item.options[-1]
        return [{BEST: first, WORST: last}, {BEST: last, WORST: first}]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        best, worst = rng.sample(item.options, 2)
        return {BEST: best, WORST: worst}


class Texts(Single):
    """The kind of items that ask for several short texts. The options are their labels, and the answer is an
    object with a text for each label that was filled in."""

    words = "several short texts"
    uses = ("options",)
    column = "json"
    looks = "parts"

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        if not isinstance(value, Mapping) or not value or not set(value) <= set(item.options):
            return gettext("Please write something.")
        if not all(isinstance(one, str) and 0 < len(one) <= SHORT_TEXT_LONGEST for one in value.values()):
            return gettext("Please write something.")
        is_whole = len(value) == len(item.options) or not must_be_answered(item)
        return "" if is_whole else gettext("Write something in each line.")

    def answers_words(self, item: ItemPlan) -> str:
        return f"{self.words}, each of at most {SHORT_TEXT_LONGEST} characters"

    def levels(self, item: ItemPlan) -> str:
        return f"a text for each of: {super().levels(item)}"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return [dict.fromkeys(item.options, text) for text in ("I do not know.", "No idea.")]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return {label: rng.choice(["speed", "the plates", "nothing", "talking"]) for label in item.options}


class Team(ItemKind):
    """The kind of items that ask for a team. The answer is the key of a condition that was played."""

    words = "one of the teams played with"
    looks = "options"

    def problems(self, item: ItemPlan) -> Problems:
        """Return a problem if the item is asked before the end of the study. Only then has the participant
        played with all teams."""
        return {} if item.place == "final" else {"kind": "Teams can be compared at the end only."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        return "" if value in teams else gettext("Choose one of the teams.")

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return rng.choice(teams)
