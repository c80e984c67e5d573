"""Every order scheme: one line each, sorted by name."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.registry.names import look_up
from study.design.orders.base import OrderSequence, Scheme, SchemeError

SCHEMES: dict[str, str] = {
    "balanced": "study.design.orders.balanced:Balanced",
    "fixed": "study.design.orders.fixed:Fixed",
    "permutations": "study.design.orders.permutations:Permutations",
    "random": "study.design.orders.random:Random",
}


def get_scheme(name: str) -> Scheme:
    """A scheme by its name; UnknownNameError if there is none."""
    scheme: Scheme = look_up(SCHEMES, name)()
    return scheme


def scheme_choices() -> list[tuple[str, str]]:
    """Names and labels, for a form."""
    return [(name, get_scheme(name).label) for name in SCHEMES]


def sequences(scheme: str, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
    """One full block of a scheme; empty if it has none.

    The ids hold for these conditions in this order, so give them in one that does not change in a running
    study.
    UnknownNameError for an unknown scheme; SchemeError if a condition is named twice or there
    are too many.
    """
    order_scheme = get_scheme(scheme)
    if len(set(conditions)) < len(conditions):
        raise SchemeError("A condition is named twice.")
    if problem := order_scheme.problem(len(conditions)):
        raise SchemeError(problem)
    return order_scheme.sequences(conditions)
