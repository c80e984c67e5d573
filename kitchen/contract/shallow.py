"""JSON and TOML that strangers wrote: nested so deep that no program of ours is led astray. Plain Python.

Python's own readers end with a RecursionError somewhere near a thousand levels, and what they still read
makes others fail later, who compare it, print it or hash it.
"""

from __future__ import annotations

import json
import math
from typing import Any

from kitchen.contract.world import Json

DEEPEST = 50
"""Lists and tables within each other; a study's document has about ten."""


class TooDeepError(ValueError):
    """Lists or tables within each other without end."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {DEEPEST} levels")


def read_json(text: str) -> Json:
    """The value of this JSON; ValueError if it is none, as with NaN, TooDeepError if it is too deep."""
    try:
        return shallow(json.loads(text, parse_float=_finite, parse_constant=_finite))
    except RecursionError:
        raise TooDeepError from None


def _finite(text: str) -> float:
    """A number that JSON has; Python's own reader takes NaN and 1e999, too."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


class ShallowDecoder(json.JSONDecoder):
    """For libraries that read JSON themselves: what is too deep is no JSON to them."""

    def decode(self, text: str, *args: Any) -> Json:
        """The value; JSONDecodeError."""
        try:
            return shallow(super().decode(text, *args))
        except (TooDeepError, RecursionError):
            raise json.JSONDecodeError(str(TooDeepError()), "", 0) from None


def shallow(value: Json) -> Json:
    """The value, if it is not too deep; TooDeepError."""
    level = [value]
    for _ in range(DEEPEST):
        if not level:
            return value
        level = [part for one in level for part in _parts(one)]
    raise TooDeepError


def _parts(value: Json) -> list[Json]:
    """What a list or a table holds; nothing for anything else."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
