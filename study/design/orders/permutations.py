"""Every order there is, once per block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import factorial

from study.design.orders.base import OrderSequence, numbered

MOST = 6
"""Conditions: six have 720 orders, and a block of seven, 5040, is filled by no study."""


class Permutations:
    """All permutations, in the order in which itertools makes them."""

    label = "All permutations"
    meaning = "Every possible order comes equally often, as soon as a block is full."

    def problem(self, n: int) -> str:
        """Too many conditions have too many orders."""
        if n <= MOST:
            return ""
        return (
            f"{n} conditions have {factorial(n)} orders, more than a study has participants. "
            f"All permutations are for up to {MOST} conditions; take the balanced scheme."
        )

    def block(self, n: int) -> int:
        """n! sequences; 0 for no conditions."""
        return factorial(n) if n else 0

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """All of them."""
        return numbered(list(permutations(conditions))) if conditions else ()
