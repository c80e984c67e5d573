"""Which items can be asked and which answers fit them: one rule for editor, files, form and data. What holds
for one kind only, `study.design.questions.kinds` says. Plain Python."""

from __future__ import annotations

from kitchen.contract.world import Json
from kitchen.words.speech import gettext
from study.design.questions.fields import DOES_NOT_APPLY, ItemPlan
from study.design.questions.kinds import KINDS, SCALED, Problems, kind_of


def must_be_answered(item: ItemPlan) -> bool:
    """Whether nobody goes on without an answer. What has a right answer always must be, whatever a version of
    before says: a check that is left open would be neither passed nor failed, and attempts without end."""
    return item.required or item.correct is not None


def item_problems(item: ItemPlan) -> Problems:
    """What is wrong with an item where it is asked, by field; empty if nothing is."""
    if item.kind not in KINDS:
        return {"kind": f"{item.kind!r} is not one of {', '.join(KINDS)}"}
    problems = kind_of(item).problems(item) | _scale_problem(item)
    if not problems and item.place == "check" and item.correct is None:
        problems["correct"] = "A question of understanding needs its right answer."
    if not problems and item.correct is not None and (wrong := value_problem(item, item.correct)):
        problems["correct"] = wrong
    if item.needs_teammates and item.place != "survey":
        problems["needs_teammates"] = "Only what is asked after episodes can depend on them."
    if item.may_not_apply and item.correct is not None:
        problems["may_not_apply"] = "What has a right answer always applies."
    if item.correct is not None and not item.required:
        problems["required"] = "What has a right answer must be answered: else it could be left open."
    return problems


def _scale_problem(item: ItemPlan) -> Problems:
    """What is reversed or counts for a sub-scale can be scored."""
    if not item.scale and not item.reversed:
        return {}
    if item.kind not in SCALED:
        field = "scale" if item.scale else "reversed"
        return {field: "Only points and numbers can be reversed or make a sub-scale."}
    if item.scale and item.correct is not None:
        return {"scale": "An item with a right answer cannot count for a sub-scale."}
    ends = (name for name in ("minimum", "maximum") if name in kind_of(item).uses)
    words = "A number that is reversed or in a sub-scale needs minimum and maximum."
    return {name: words for name in ends if getattr(item, name) is None}


def value_problem(item: ItemPlan, value: Json, teams: tuple[str, ...] = ()) -> str:
    """Why this cannot be an answer to the item; empty if it can."""
    if value == DOES_NOT_APPLY:
        return "" if item.may_not_apply else gettext("This question always applies.")
    return kind_of(item).value_problem(item, value, teams)


def in_numbers(value: Json) -> Json:
    """An answer as scores, statistics and columns take it: None if the item did not apply."""
    return None if value == DOES_NOT_APPLY else value


def answer_words(value: Json) -> str:
    """An answer as people read it, several options parted by semicolons."""
    if value == DOES_NOT_APPLY:
        return "does not apply"
    return "; ".join(value) if isinstance(value, list) else str(value)


def is_right(item: ItemPlan, value: Json) -> bool | None:
    """Whether an answer is the right one; None for an item that has none."""
    return None if item.correct is None else kind_of(item).is_right(item, value)
