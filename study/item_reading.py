"""One item of a questionnaire: what it is, and how its table is read. What can be asked, `study.items` says.
Plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from kitchen.worlds.cuisine.reading import Table
from study.items import CHOICES, LONGEST, SCALED, item_problems
from study.measures import item_key_problem, measure_problem

KINDS = ("likert", "single", "multiple", "number", "text", "team")

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
    "needs_teammates",
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
    """What there is to choose: two or more."""
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
    needs_teammates: bool = False
    """It is not asked after episodes in which the participant plays alone."""


def read_item(table: Table, place: str) -> Item:
    """An item from its table; DataError for whatever cannot be asked at this place."""
    kind = _kind(table)
    item = Item(
        key=_named(table, "key", item_key_problem),
        measure=_named(table, "measure", measure_problem),
        text=_words(table, "text"),
        scale=_words(table, "scale", ""),
        kind=kind,
        points=table.whole("points", 0, 5),
        low=_words(table, "low", "Strongly disagree" if kind == "likert" else ""),
        high=_words(table, "high", "Strongly agree" if kind == "likert" else ""),
        options=_options(table, kind),
        minimum=_number(table, "minimum"),
        maximum=_number(table, "maximum"),
        step=_number(table, "step"),
        reversed=table.truth("reversed", False),
        correct=_correct(table, kind),
        required=table.truth("required", True),
        needs_teammates=table.truth("needs_teammates", False),
    )
    for field, words in item_problems(item, place).items():
        raise table.error(field, words)
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
    name = _words(table, key)
    if problem := problem_of(name):
        raise table.error(key, problem)
    return name


def _words(table: Table, key: str, default: str | None = None) -> str:
    """A text that is not too long; with a default it may be left out."""
    if default is not None and key not in table.values:
        return default
    words = table.text(key)
    if len(words) > LONGEST[key]:
        raise table.error(key, f"has more than {LONGEST[key]} characters")
    return words


def _options(table: Table, kind: str) -> tuple[str, ...]:
    return table.distinct("options") if kind in CHOICES else ()


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
