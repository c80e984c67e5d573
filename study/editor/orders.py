"""The order scheme as pages show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from study.design.models import Study
from study.design.orders.base import OrderSequence
from study.design.orders.counting import carry_over, even_numbers
from study.design.orders.registry import get_scheme, sequences

MOST_SHOWN = 24
"""Sequences of a scheme that a page lists."""


def orders_shown(study: Study) -> dict[str, Any]:
    """Its sequences, how many people fill it, what follows what; or the problem that it has."""
    names = dict(study.conditions.values_list("key", "name"))
    scheme = get_scheme(study.orders)
    shown = {"label": scheme.label, "meaning": scheme.meaning, "problem": scheme.problem(len(names))}
    if shown["problem"] or not names:
        return shown
    block = sequences(study.orders, list(names))
    return shown | {
        "block": len(block),
        "rows": [(one.id, [names[key] for key in one.order]) for one in block[:MOST_SHOWN]],
        "even": even_numbers(len(block), study.planned_participants or 24) if block else (),
        "names": list(names.values()),
        "carry_over": _carry_over(names, block) if block else [],
    }


def _carry_over(names: Mapping[str, str], block: Sequence[OrderSequence]) -> list[tuple[str, list[Any]]]:
    """By the name of the condition before: how often each one follows it; empty where none can."""
    over = carry_over([one.order for one in block])
    return [(first, [over.get((before, after), "") for after in names]) for before, first in names.items()]
