"""One thing that may be well or not, in words for whoever runs the installation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WELL, LOOK, BROKEN = "well", "look", "broken"
"""All is well; somebody should look; it does not work."""
ORDER = (WELL, LOOK, BROKEN)


@dataclass(frozen=True, slots=True)
class Line:
    """What is looked at, how it is, what that means, and what to do; nothing to do where it is well."""

    name: str
    state: str
    means: str
    do: str = ""


def worst(lines: Iterable[Line]) -> str:
    """The worst of these states."""
    return max((line.state for line in lines), key=ORDER.index, default=WELL)


def summary(lines: Iterable[Line]) -> str:
    """All of them in one sentence."""
    lines = list(lines)
    broken = [line.name for line in lines if line.state == BROKEN]
    look = [line.name for line in lines if line.state == LOOK]
    if broken:
        more = f" Look at these, too: {', '.join(look)}." if look else ""
        return f"Something is broken: {', '.join(broken)}.{more}"
    return f"Nothing is broken. Look at: {', '.join(look)}." if look else "Everything is well."


def seconds_said(seconds: float) -> str:
    """`12 ms`, `3.4 s`, `2 minutes`."""
    if seconds < 0.001:
        return "1 ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def size_said(number: float) -> str:
    """`12 MB`, `3.4 GB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"
