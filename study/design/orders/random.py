"""An order of each participant's own, by chance alone (MindAgent, section 5: random order)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from study.design.orders.base import OrderSequence


def random_order(conditions: Sequence[str], seed: int) -> list[str]:
    """Every condition once, in an order that follows from the seed."""
    return random.Random(seed).sample(list(conditions), len(conditions))  # noqa: S311 - not a secret


class Random:
    """No blocks: `random_order` gives each participant's order from a seed."""

    label = "Random"
    meaning = "Each participant's order is shuffled by chance; positions are balanced only on average."

    def problem(self, n: int) -> str:
        """Any number of conditions can be shuffled."""
        return ""

    def block(self, n: int) -> int:
        """There are no blocks."""
        return 0

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """There are no blocks."""
        return ()
