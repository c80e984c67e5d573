"""Name the values of coded columns: the ends of scales, the options of items, the keys of conditions.

The codebook lists them, and files for statistics programs have them as value labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from study.design.models import Study
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import kind_of
from study.design.questions.item_numbers import end_label
from study.design.study_versions import version_blueprints
from study.exports.export_table import Column

Codes = tuple[tuple[str | int | float, str], ...]
"""Values, each with its words."""

YES_NO: Codes = ((0, "no"), (1, "yes"))


def item_codes(item: ItemPlan) -> Codes:
    """Return the answers of an item that have words: both ends of a scale, or every option. Return an empty
    tuple for other kinds of items."""
    if item.kind == "likert":
        return ((1, item.low), (item.points, item.high))
    if kind_of(item).column == "number":
        ends = ((item.minimum, end_label(item.low)), (item.maximum, end_label(item.high)))
        return tuple((end, words) for end, words in ends if end is not None and words)
    return tuple((option, option) for option in item.options) if item.kind == "single" else ()


def study_codes(study: Study) -> Mapping[str, Codes]:
    """Return the values that follow from the study's design, by name of the column. Every version of the
    design counts; the words are those of the newest version."""
    designs = version_blueprints(study)
    conditions = {one.key: one.name for design in designs for one in design.conditions}
    items = {one.key: one.measure for design in designs for one in design.items}
    named = {"condition": conditions, "item": items}
    return {name: tuple(words.items()) for name, words in named.items()}


def with_levels(columns: Iterable[Column], codes: Mapping[str, Codes]) -> tuple[Column, ...]:
    """Return the columns with the values that `codes` has for them. Columns of booleans say what 1 and 0
    mean."""
    return tuple(_with_levels(column, codes) for column in columns)


def _with_levels(column: Column, codes: Mapping[str, Codes]) -> Column:
    if column.kind == "boolean":
        return replace(column, levels=column.levels or "1 = yes; 0 = no", codes=YES_NO)
    if column.levels or not (found := codes.get(column.name)):
        return column
    levels = "; ".join(f"{value} = {words}" for value, words in found)
    return replace(column, levels=levels, codes=found)
