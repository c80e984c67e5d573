"""Which participant plays which condition when. Plain Python."""

from __future__ import annotations

import random
from collections.abc import Sequence


def random_order(conditions: Sequence[str], seed: int) -> list[str]:
    """Every condition once, in an order that follows from the seed (the paper's section 5: random order)."""
    return random.Random(seed).sample(list(conditions), len(conditions))  # noqa: S311 - not a secret
