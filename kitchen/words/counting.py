"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """As in `1 participant`, `12 participants`; `many` where an s is not enough."""
    return f"{number} {one if number == 1 else many or one + 's'}"
