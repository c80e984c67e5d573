"""Which picture stands for a dish. Plain Python."""

from __future__ import annotations

from functools import lru_cache

_ICONS = (
    ("sushi", "sushi"), ("roll", "roll"), ("sashimi", "sashimi"), ("salad", "salad"), ("pasta", "pasta"),
    ("pizza", "pizza"), ("soup", "soup"), ("dumpling", "dumpling"), ("burrito", "burrito"),
    ("burger", "burger"), ("maxjr", "burger"), ("hopper", "burger"), ("meatcake", "patty"),
    ("fries", "fries"),
)  # fmt: skip


@lru_cache(maxsize=512)
def icon(dish: str) -> str:
    """The name of the picture of a dish."""
    lowered = dish.lower()
    return next((picture for part, picture in _ICONS if part in lowered), "plate")
