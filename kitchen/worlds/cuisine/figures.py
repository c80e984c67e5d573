"""What CuisineWorld measures, as the paper does. Orders that still stand count in none of it."""

from __future__ import annotations

from kitchen.contract.world import Figure
from kitchen.words.speech import marked_plural

FIGURES = (
    Figure(
        "success_rate",
        "share",
        "Success rate",
        undefined="blank where both are 0",
        unit="share",
        of=("completed", "failed"),
    ),
    Figure(
        "completed",
        "count",
        "Dishes completed",
        meaning="Orders completed",
        so_far="Orders completed so far",
        unit="orders",
        words=marked_plural("dish served", "dishes served"),
    ),
    Figure(
        "failed",
        "count",
        "Orders that ran out of time",
        so_far="Orders failed so far",
        unit="orders",
        better="lower",
        measured=False,
        words=marked_plural("order missed", "orders missed"),
    ),
)
