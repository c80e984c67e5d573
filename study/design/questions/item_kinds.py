"""List the kinds of survey items, and check items and answers by their kind.

The kinds are Likert, single choice, multiple choice, number, slider, ranking, best and worst, date, text,
several texts, and team. A team item asks the participant to choose one of the teams that they played with.
Kinds also draw random answers for synthetic participants (programs). `study.participation.item_forms` has the
form field of each kind. The module does not import Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random

from kitchen.contract.world import Json
from kitchen.words.gettext_without_django import gettext
from study.design.questions.choice_item_kinds import BestWorst, Multiple, Ranking, Single, Team, Texts
from study.design.questions.item_fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.item_kind_base import TEXT_LONGEST, ItemKind, Problems
from study.design.questions.numeric_item_kinds import Likert, Number, Slider


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


def needed_fields(kind: str) -> list[str]:
    """Return the fields that every item of this kind needs, among those that may be empty for other kinds."""
    problems = KINDS[kind].problems(ItemPlan.model_construct(kind=kind)) if kind in KINDS else {}
    return [name for name in ("options", "minimum", "maximum") if name in problems]


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
