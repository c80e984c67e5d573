"""Numbers of things and lists in English words: for staff, logs, and what language models are asked."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """As in `1 participant`, `12 participants`; `many` where an s is not enough."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def and_list(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def lasting(seconds: float) -> str:
    """How long something takes, roughly: `less than a minute`, `about 12 minutes`, `about 5 hours`."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {counted(minutes, 'minute') if minutes < 120 else counted(round(minutes / 60), 'hour')}"


def percent(share: float) -> str:
    """A share in two figures: `0.52%`, `33%`, `100%`."""
    return f"{100 * share:.2g}%" if share < 0.995 else "100%"
