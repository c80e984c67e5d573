"""The same order for everybody."""

from __future__ import annotations

from collections.abc import Sequence

from study.design.orders.base import OrderSequence, numbered


class Fixed:
    """The conditions as they stand."""

    label = "Fixed"
    meaning = (
        "Everybody plays the conditions in the order in which they are listed: conditions and positions "
        "cannot be told apart in the analysis."
    )

    def problem(self, n: int) -> str:
        """Any number of conditions has an order."""
        return ""

    def block(self, n: int) -> int:
        """One sequence; 0 for no conditions."""
        return min(n, 1)

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """The one there is."""
        return numbered([conditions]) if conditions else ()
