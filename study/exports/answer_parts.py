"""Split the answers that have several parts into a column for each option: rankings, best and worst, any of
several options, and several short texts.

Statistics programs cannot compute with the whole answer, which is JSON. The module does not import Django.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kitchen.contract.world import Json
from study.design.questions.choice_item_kinds import BEST, WORST
from study.design.questions.item_fields import ItemPlan

LONGEST_PART = 24
"""Maximum number of characters of an option in the name of its column."""
IS_BEST, IS_NEITHER, IS_WORST = 1, 0, -1
Codes = tuple[tuple[str | int | float, str], ...]


@dataclass(frozen=True, slots=True)
class PartKind:
    """The export of answers of one kind, part by part."""

    column: str
    """The kind of their columns (`study.exports.export_table.Column.kind`)."""
    meaning: str
    """The meaning of a cell, with `{}` in place of the option."""
    levels: Callable[[ItemPlan], str]
    codes: Callable[[ItemPlan], Codes]
    values: Callable[[ItemPlan, Json], Mapping[str, Json]]
    """Returns the cell of each option for one answer."""


def _ranks(item: ItemPlan, answer: Json) -> Mapping[str, Json]:
    return {option: place for place, option in enumerate(answer, start=1)} if isinstance(answer, list) else {}


def _best_and_worst(item: ItemPlan, answer: Json) -> Mapping[str, Json]:
    if not isinstance(answer, Mapping) or not {BEST, WORST} <= set(answer):
        return {}
    ends = {answer[BEST]: IS_BEST, answer[WORST]: IS_WORST}
    return {option: ends.get(option, IS_NEITHER) for option in item.options}


def _chosen(item: ItemPlan, answer: Json) -> Mapping[str, Json]:
    return {option: option in answer for option in item.options} if isinstance(answer, list) else {}


def _texts(item: ItemPlan, answer: Json) -> Mapping[str, Json]:
    return {option: answer.get(option) for option in item.options} if isinstance(answer, Mapping) else {}


PART_KINDS: Mapping[str, PartKind] = {
    "ranking": PartKind(
        "integer",
        "Rank of “{}”",
        lambda item: f"1 = first place; {len(item.options)} = last place",
        lambda item: ((1, "first place"), (len(item.options), "last place")),
        _ranks,
    ),
    "best_worst": PartKind(
        "integer",
        "Choice of “{}”",
        lambda item: "1 = best; 0 = neither; -1 = worst",
        lambda item: ((IS_BEST, "best"), (IS_NEITHER, "neither"), (IS_WORST, "worst")),
        _best_and_worst,
    ),
    "multiple": PartKind("boolean", "1 if “{}” was chosen", lambda item: "", lambda item: (), _chosen),
    "texts": PartKind("text", "Text for “{}”", lambda item: "", lambda item: (), _texts),
}
"""The kinds of items whose answers have a part for each option. Items in a table (matrix) have columns of
their own already."""


def part_kind(item: ItemPlan) -> PartKind | None:
    """Return how the parts of answers to this item are exported. Return None if its answers have no parts."""
    return PART_KINDS.get(item.kind)


def part_values(item: ItemPlan, answer: Json) -> Mapping[str, Json]:
    """Return the value of each option for this answer. The result is empty if the answer has no parts, or
    belongs to an earlier kind of the item."""
    kind = part_kind(item)
    return kind.values(item, answer) if kind and answer is not None else {}


def part_name(item: ItemPlan, option: str) -> str:
    """Return the end of the column's name for this option, such as `good_company`. An option without Latin
    letters or digits is called by its number, such as `option_2`."""
    plain = unicodedata.normalize("NFKD", option).encode("ascii", "ignore").decode().lower()
    short = re.sub(r"[^a-z0-9]+", "_", plain)[:LONGEST_PART].strip("_")
    return short or f"option_{item.options.index(option) + 1}"
