"""The kinds of items, each declared once: its rules, how it looks, what its answers are and what a program
answers. Plain Python; the form's field of each is in `study.taking_part.item_forms`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from kitchen.contract.world import Json
from kitchen.words.speech import gettext
from study.design.questions.fields import ItemPlan
from study.design.questions.numbers import DECIMALS, LARGEST, marks, meant, on_step, range_words, written

POINTS = (3, 11)
"""Of a Likert item: the fewest and the most."""
OPTION_LONGEST = 200
TEXT_LONGEST = 5000
"""Characters of a free text that are kept."""

Problems = dict[str, str]
"""What is wrong, by field; empty if nothing is."""


class ItemKind:
    """One kind of item; each says what it does otherwise than this."""

    words = ""
    """What it is called."""
    uses: tuple[str, ...] = ()
    """Of the fields that mean something only for some kinds, those that do for this one."""
    column = "text"
    """Of its answers in participants.csv, as `study.exports.base.Column` has it."""
    looks = "typed"
    """Where no row of points or marks is asked: `options` or `typed`."""

    def problems(self, item: ItemPlan) -> Problems:
        """Why the item cannot be asked."""
        return {}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """Why this cannot be an answer; empty if it can."""
        good = isinstance(value, str) and len(value) <= TEXT_LONGEST
        return "" if good else gettext("Please write a text.")

    def is_right(self, item: ItemPlan, value: Json) -> bool:
        """Whether the answer is the right one; the item has one."""
        return bool(value == item.correct)

    def ends(self, item: ItemPlan) -> tuple[float, float] | None:
        """The lowest and the highest answer, if answers lie between two numbers."""
        return None

    def row(self, item: ItemPlan) -> Sequence[float]:
        """The points or marks that stand in a row, rising; empty if it is asked otherwise."""
        return ()

    def end_words(self, item: ItemPlan) -> tuple[str, str]:
        """The words at the ends of a row; each may be empty."""
        return meant(item.low), meant(item.high)

    def answers_words(self, item: ItemPlan) -> str:
        """How it is answered."""
        return self.words

    def levels(self, item: ItemPlan) -> str:
        """For the codebook: its answers where they are few."""
        return "; ".join(item.options)

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Answers to an item that has a right one, with a wrong one among them if there is such."""
        return list(item.options)

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """What a program answers by chance."""
        return rng.choice(item.options)


class Likert(ItemKind):
    """A point of a scale with words at its ends."""

    words = "scale with points"
    uses = ("points", "low", "high", "scale", "reversed")
    column = "integer"

    def problems(self, item: ItemPlan) -> Problems:
        """A number of points that fits a page."""
        fewest, most = POINTS
        good = type(item.points) is int and fewest <= item.points <= most
        return {} if good else {"points": f"A whole number from {fewest} to {most} is wanted."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """One of the points."""
        good = type(value) is int and 1 <= value <= item.points
        return "" if good else gettext("Choose a point from 1 to {most}.").format(most=item.points)

    def ends(self, item: ItemPlan) -> tuple[float, float]:
        """The first and the last point."""
        return 1, item.points

    def row(self, item: ItemPlan) -> Sequence[float]:
        """The points."""
        return range(1, item.points + 1)

    def end_words(self, item: ItemPlan) -> tuple[str, str]:
        """As they were written."""
        return item.low, item.high

    def answers_words(self, item: ItemPlan) -> str:
        """With the ends."""
        low, high = (f" ({end})" if end else "" for end in (item.low, item.high))
        return f"{self.words}: 1{low} to {item.points}{high}"

    def levels(self, item: ItemPlan) -> str:
        """The ends."""
        return f"1 = {item.low}; {item.points} = {item.high}"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Every point."""
        return list(self.row(item))


class Single(ItemKind):
    """One of several options."""

    words = "one of several"
    uses: tuple[str, ...] = ("options",)
    looks = "options"

    def problems(self, item: ItemPlan) -> Problems:
        """At least two options, told apart, none too long."""
        options = item.options
        if not isinstance(options, list | tuple) or not all(
            isinstance(one, str) and one.strip() for one in options
        ):
            return {"options": "A list of texts is wanted."}
        if len(options) < 2 or len(set(options)) < len(options):
            return {"options": "At least two, all of them different."}
        return {"options": "An option is too long."} if max(map(len, options)) > OPTION_LONGEST else {}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """An option."""
        return "" if value in item.options else gettext("Choose one of the options.")


class Multiple(Single):
    """Any of several options."""

    words = "any of several"
    column = "json"

    def problems(self, item: ItemPlan) -> Problems:
        """As of one of several; where something is right, there is something to choose."""
        return super().problems(item) or ({"correct": "Choose at least one."} if item.correct == [] else {})

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """Options, each once."""
        good = isinstance(value, list | tuple) and all(one in item.options for one in value)
        return "" if good and len(set(value)) == len(value) else gettext("Choose one of the options.")

    def is_right(self, item: ItemPlan, value: Json) -> bool:
        """In whatever order."""
        return isinstance(value, list) and set(value) == set(item.correct)

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Each alone, and all of them."""
        return [[one] for one in item.options] + [list(item.options)]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Each with an even chance."""
        return [one for one in item.options if rng.random() < 0.5]


class Number(ItemKind):
    """A number, typed or as a mark in a row."""

    words = "number"
    uses = ("low", "high", "minimum", "maximum", "step", "scale", "reversed")
    column = "number"

    def problems(self, item: ItemPlan) -> Problems:
        """Bounds and steps between which there are answers."""
        given = {"minimum": item.minimum, "maximum": item.maximum, "step": item.step}
        if wrong_ends := {name: wrong for name, one in given.items() if one and (wrong := _end_problem(one))}:
            return wrong_ends
        if item.step is not None and item.step <= 0:
            return {"step": "It is not above 0."}
        if item.minimum is None or item.maximum is None:
            return {}
        if item.minimum >= item.maximum:
            return {"maximum": "It is not above the minimum."}
        leads = on_step(item, item.maximum)
        return {} if leads else {"step": "It does not lead from the minimum to the maximum."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """A number between the bounds, on a step."""
        if type(value) not in {int, float} or value != value or abs(value) == float("inf"):
            return gettext("Enter a number.")
        if abs(value) > LARGEST:
            return gettext("Give a number of at most {most}.").format(most=written(LARGEST))
        if item.minimum is not None and value < item.minimum:
            return gettext("Give a number of at least {least}.").format(least=written(item.minimum))
        if item.maximum is not None and value > item.maximum:
            return gettext("Give a number of at most {most}.").format(most=written(item.maximum))
        steps = gettext("Give a number in steps of {step}.").format(step=written(item.step or 0))
        return "" if on_step(item, value) else steps

    def ends(self, item: ItemPlan) -> tuple[float, float] | None:
        """Both bounds."""
        return None if item.minimum is None or item.maximum is None else (item.minimum, item.maximum)

    def row(self, item: ItemPlan) -> Sequence[float]:
        """The marks."""
        return marks(item)

    def answers_words(self, item: ItemPlan) -> str:
        """With bounds and steps."""
        said = range_words(item) or "Any"
        if item.step is not None and "in steps of" not in said:
            said += f", in steps of {written(item.step)}"
        row = len(marks(item))
        return f"{self.words}: {said[:1].lower()}{said[1:]}" + (f", as a row of {row} marks" if row else "")

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Those beside the right one, and the bounds."""
        step = item.step or 1.0
        numbers = [item.correct + step, item.correct - step, item.minimum, item.maximum]
        return [_plain(one) for one in numbers if one is not None and not self.value_problem(item, one, ())]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Of the item's range, on its steps."""
        low = 0.0 if item.minimum is None else item.minimum
        high = low + 60 if item.maximum is None else item.maximum
        step = item.step or 1.0
        return _plain(low + step * rng.randrange(int((high - low) / step) + 1))


class Text(ItemKind):
    """Whatever somebody writes."""

    words = "text"

    def answers_words(self, item: ItemPlan) -> str:
        """With the most that is kept."""
        return f"{self.words}, at most {TEXT_LONGEST} characters"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Two, so that one is wrong."""
        return ["I do not know.", "No idea."]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Something short."""
        return rng.choice(
            ["It was fun.", "I would have liked more time.", "The second team helped the most.", "No."]
        )


class Team(ItemKind):
    """The key of a condition that was played."""

    words = "one of the teams played with"
    looks = "options"

    def problems(self, item: ItemPlan) -> Problems:
        """Asked when all teams are known."""
        return {} if item.place == "final" else {"kind": "Teams can be compared at the end only."}

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        """One of the teams."""
        return "" if value in teams else gettext("Choose one of the teams.")

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        """Any of them."""
        return rng.choice(teams)


def _end_problem(value: float) -> str:
    if abs(value) > LARGEST:
        return f"A number of at most {written(LARGEST)} is wanted."
    exact = round(value, DECIMALS) == value
    return "" if exact else f"At most {DECIMALS} digits behind the point are wanted."


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number


KINDS: Mapping[str, ItemKind] = {
    "likert": Likert(),
    "single": Single(),
    "multiple": Multiple(),
    "number": Number(),
    "text": Text(),
    "team": Team(),
}
KIND_FIELDS = frozenset(name for kind in KINDS.values() for name in kind.uses)
"""Fields that mean something only for some kinds."""
SCALED = tuple(name for name, kind in KINDS.items() if "scale" in kind.uses)
"""Kinds whose answers are numbers, which can be reversed and make a sub-scale."""


def kind_of(item: ItemPlan) -> ItemKind:
    """The kind of an item; the plainest one if there is none of the name."""
    return KINDS.get(item.kind, KINDS["text"])
