"""One item of a questionnaire: what it is, and how its table is read and checked. Plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isclose, isfinite

from kitchen.worlds.cuisine.reading import Table
from study.measures import item_key_problem, measure_problem

KINDS = ("likert", "single", "multiple", "number", "text", "team")
CHOICES = ("single", "multiple")
SCALED = ("likert", "number")
"""Kinds whose answers are numbers, which can be reversed and make a scale."""

KEYS = (
    "key",
    "measure",
    "scale",
    "text",
    "kind",
    "points",
    "low",
    "high",
    "options",
    "minimum",
    "maximum",
    "step",
    "reversed",
    "correct",
    "required",
)
_ONLY: Mapping[str, tuple[str, ...]] = {
    "points": ("likert",),
    "low": SCALED,
    "high": SCALED,
    "options": CHOICES,
    "minimum": ("number",),
    "maximum": ("number",),
    "step": ("number",),
    "scale": SCALED,
    "reversed": SCALED,
}
"""Keys that mean something only for some kinds."""

Correct = float | str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Item:
    """One question. What a kind has no use for keeps its default."""

    key: str
    """Its name in the data."""
    measure: str
    """Its name in tables and figures."""
    text: str
    """What participants read."""
    scale: str = ""
    """The sub-scale that it counts for; empty for none."""
    kind: str = "likert"
    points: int = 5
    """Of a Likert item, 3 to 11: the answers are 1 to `points`."""
    low: str = ""
    high: str = ""
    """The words at the ends: of a Likert item those of agreement if left out, of a number none."""
    options: tuple[str, ...] = ()
    """What there is to choose: two or more for `single`, one or more for `multiple`."""
    minimum: float | None = None
    maximum: float | None = None
    """Of a number; None for no bound. A number that is reversed or in a scale has both."""
    step: float | None = None
    """Of a number: it lies whole steps above the minimum (or 0); None for any number."""
    reversed: bool = False
    """A high answer means little of the scale."""
    correct: Correct = None
    """The right answer of an attention check or a question of understanding, in the kind's own form."""
    required: bool = True


def read_item(table: Table) -> Item:
    """An item from its table; DataError for whatever cannot be asked, or would be asked and not be used."""
    kind = _kind(table)
    item = Item(
        key=_named(table, "key", item_key_problem),
        measure=_named(table, "measure", measure_problem),
        text=table.text("text"),
        scale=_words(table, "scale", ""),
        kind=kind,
        points=_points(table),
        low=_words(table, "low", "Strongly disagree" if kind == "likert" else ""),
        high=_words(table, "high", "Strongly agree" if kind == "likert" else ""),
        options=_options(table, kind),
        minimum=_number(table, "minimum"),
        maximum=_number(table, "maximum"),
        step=_number(table, "step"),
        reversed=table.truth("reversed", False),
        correct=_correct(table, kind),
        required=table.truth("required", True),
    )
    _check_range(table, item)
    _check_correct(table, item)
    return item


def _kind(table: Table) -> str:
    kind = table.text("kind", "likert")
    if kind not in KINDS:
        raise table.error("kind", f"{kind!r} is not one of {', '.join(KINDS)}")
    for key, kinds in _ONLY.items():
        if key in table.values and kind not in kinds:
            raise table.error(key, f"means nothing for the kind {kind}, only for {', '.join(kinds)}")
    return kind


def _named(table: Table, key: str, problem_of: Callable[[str], str]) -> str:
    name = table.text(key)
    if problem := problem_of(name):
        raise table.error(key, problem)
    return name


def _words(table: Table, key: str, default: str) -> str:
    """A text that may be left out."""
    return table.text(key) if key in table.values else default


def _points(table: Table) -> int:
    points = table.whole("points", 3, 5)
    if points > 11:
        raise table.error("points", "must be a whole number from 3 to 11")
    return points


def _options(table: Table, kind: str) -> tuple[str, ...]:
    if kind not in CHOICES:
        return ()
    options = table.distinct("options")
    if kind == "single" and len(options) < 2:
        raise table.error("options", "there must be two or more to choose from")
    return options


def _number(table: Table, key: str) -> float | None:
    if key not in table.values:
        return None
    value = table.values[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise table.error(key, "must be a number")
    return value


def _correct(table: Table, kind: str) -> Correct:
    if "correct" not in table.values:
        return None
    if kind in SCALED:
        return _number(table, "correct")
    return table.distinct("correct") if kind == "multiple" else table.text("correct")


def _check_range(table: Table, item: Item) -> None:
    """The bounds and the step of a number agree with each other."""
    if item.kind != "number":
        return
    if item.step is not None and item.step <= 0:
        raise table.error("step", "must be above 0")
    if item.minimum is None or item.maximum is None:
        if item.reversed or item.scale:
            raise table.error("", "a number that is reversed or in a scale needs minimum and maximum")
    elif item.minimum >= item.maximum:
        raise table.error("maximum", "must be above the minimum")
    elif not on_step(item, item.maximum):
        raise table.error("step", "does not lead from the minimum to the maximum")


def _check_correct(table: Table, item: Item) -> None:
    """The right answer can be given, and nobody's attention counts for a scale."""
    if item.correct is None:
        return
    if not item.required:
        raise table.error("required", "an item with a right answer must be answered")
    if item.scale:
        raise table.error("correct", "an item with a right answer cannot count for a scale")
    if not _can_be_given(item, item.correct):
        raise table.error("correct", f"{table.values['correct']!r} is no answer that can be given")


def _can_be_given(item: Item, answer: Correct) -> bool:
    if isinstance(answer, tuple):
        return set(answer) <= set(item.options)
    if isinstance(answer, str):
        return item.kind == "text" or answer in item.options
    if item.kind == "likert":
        return answer in range(1, item.points + 1)
    return isinstance(answer, int | float) and in_range(item, answer) and on_step(item, answer)


def in_range(item: Item, value: float) -> bool:
    """Whether a number keeps to the item's bounds."""
    above = item.minimum is None or value >= item.minimum
    return above and (item.maximum is None or value <= item.maximum)


def on_step(item: Item, value: float) -> bool:
    """Whether a number lies whole steps above the item's minimum (or 0)."""
    if item.step is None:
        return True
    steps = (value - (item.minimum or 0)) / item.step
    return isclose(steps, round(steps), abs_tol=1e-9)
