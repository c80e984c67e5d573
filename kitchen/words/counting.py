"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """As in `1 participant`, `12 participants`; `many` where an s is not enough."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def lasting(seconds: float) -> str:
    """How long something takes, roughly: `less than a minute`, `about 12 minutes`, `about 5 hours`."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return f"about {counted(minutes, 'minute') if minutes < 120 else counted(round(minutes / 60), 'hour')}"
