"""Define the kinds of survey items, and which answers are valid for each kind.

The kinds are Likert, single choice, multiple choice, number, slider, ranking, best and worst, date, text,
several texts, and team. A team item asks the participant to choose one of the teams that they played with.
The module also draws random answers for synthetic participants (programs).
`study.participation.item_forms` has the form field of each kind. The module does not
import Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from math import floor
from random import Random

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_numbers import (
    DECIMALS,
    LARGEST,
    end_label,
    format_number,
    is_on_step,
    number_marks,
    range_words,
)

POINTS = (3, 11)
"""Minimum and maximum number of points of a Likert item."""
OPTION_LONGEST = 200
TEXT_LONGEST = 5000
"""Maximum number of characters of a free text."""
SHORT_TEXT_LONGEST = 300
"""Maximum number of characters of one of several texts."""

Problems = dict[str, str]
"""Sentences that name an item's problems, by field; empty if there are none."""


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


class Date(ItemKind):
    """The kind of items that ask for a day. The answer is its text in ISO 8601, such as `2026-01-31`."""

    words = "date"

    def value_problem(self, item: ItemPlan, value: Json, teams: Sequence[str]) -> str:
        wanted = gettext("Enter a date.")
        try:
            day = date.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            return wanted
        return "" if day and day.isoformat() == value else wanted

    def levels(self, item: ItemPlan) -> str:
        return "a day, as year-month-day"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        return ["2001-01-01", "2002-02-02"]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return (date(1950, 1, 1) + timedelta(days=rng.randrange(365 * 50))).isoformat()


class Text(ItemKind):
    """The kind of items that ask for a free text."""

    words = "text"

    def answers_words(self, item: ItemPlan) -> str:
        return f"{self.words}, at most {TEXT_LONGEST} characters"

    def some_answers(self, item: ItemPlan) -> list[Json]:
        """Return two different texts. At least one is a wrong answer."""
        return ["I do not know.", "No idea."]

    def any_answer(self, item: ItemPlan, rng: Random, teams: Sequence[str]) -> Json:
        return rng.choice(
            ["It was fun.", "I would have liked more time.", "The second team helped the most.", "No."]
        )


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


def _end_problem(value: float) -> str:
    if abs(value) > LARGEST:
        return f"A number of at most {format_number(LARGEST)} is wanted."
    exact = round(value, DECIMALS) == value
    return "" if exact else f"At most {DECIMALS} digits behind the point are wanted."


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number


KINDS: Mapping[str, ItemKind] = {
    "likert": Likert(),
    "single": Single(),
    "multiple": Multiple(),
    "number": Number(),
    "slider": Slider(),
    "ranking": Ranking(),
    "best_worst": BestWorst(),
    "date": Date(),
    "text": Text(),
    "texts": Texts(),
    "team": Team(),
}
KIND_FIELDS = frozenset(name for kind in KINDS.values() for name in kind.uses)
"""All fields of an item that not every kind uses."""
SCALED = tuple(name for name, kind in KINDS.items() if "scale" in kind.uses)
"""Kinds whose answers are numbers. They can be reversed and count for a sub-scale."""


def kind_of(item: ItemPlan) -> ItemKind:
    """Return the kind of an item. An unknown kind is treated as a free text."""
    return KINDS.get(item.kind, KINDS["text"])


def must_be_answered(item: ItemPlan) -> bool:
    """Return whether participants must answer the item to continue.

    An item with a right answer must always be answered, even if an older design version says otherwise.
    Without an answer, the check would have no result.
    """
    return item.required or item.correct is not None


def item_problems(item: ItemPlan) -> Problems:
    """Return the problems of an item at the point of the study where it is asked (`item.place`), by field
    name. The result is empty if there are none."""
    if item.kind not in KINDS:
        return {"kind": f"{item.kind!r} is not one of {', '.join(KINDS)}"}
    problems = kind_of(item).problems(item) | _scale_problem(item)
    if not problems and item.place == "check" and item.correct is None:
        problems["correct"] = "A comprehension question needs a correct answer."
    if not problems and item.correct is not None and (wrong := value_problem(item, item.correct)):
        problems["correct"] = wrong
    if item.needs_teammates and item.place != "survey":
        problems["needs_teammates"] = "Only questions after episodes can have this setting."
    if item.may_not_apply and item.correct is not None:
        problems["may_not_apply"] = "A question with a correct answer always applies."
    if item.correct is not None and not item.required:
        problems["required"] = "A question with a correct answer must be answered, so it cannot be optional."
    return problems


def _scale_problem(item: ItemPlan) -> Problems:
    """Return why the item cannot be scored, if it is reversed or belongs to a sub-scale."""
    if not item.scale and not item.reversed:
        return {}
    if item.kind not in SCALED:
        field = "scale" if item.scale else "reversed"
        return {field: "Only points and numbers can be reversed or make a sub-scale."}
    if item.scale and item.correct is not None:
        return {"scale": "A question with a correct answer cannot belong to a sub-scale."}
    ends = (name for name in ("minimum", "maximum") if name in kind_of(item).uses)
    words = "A number that is reversed or in a sub-scale needs minimum and maximum."
    return {name: words for name in ends if getattr(item, name) is None}


def value_problem(item: ItemPlan, value: Json, teams: tuple[str, ...] = ()) -> str:
    """Return why this value cannot be an answer to the item. Return an empty string if it is valid."""
    if value == DOES_NOT_APPLY:
        return "" if item.may_not_apply else gettext("This question always applies.")
    return kind_of(item).value_problem(item, value, teams)


def numeric_answer(value: Json) -> Json:
    """Return the answer for scores, statistics and columns. Return None for the answer “does not apply”."""
    return None if value == DOES_NOT_APPLY else value


def answer_words(value: Json) -> str:
    """Return the answer as text. Several chosen options or named parts are joined by semicolons."""
    if value == DOES_NOT_APPLY:
        return "does not apply"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {one}" for name, one in value.items())
    return "; ".join(value) if isinstance(value, list) else str(value)


def is_right(item: ItemPlan, value: Json) -> bool | None:
    """Return whether an answer is right. Return None for an item without a right answer."""
    return None if item.correct is None else kind_of(item).is_right(item, value)
