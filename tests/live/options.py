"""Parse the values of options of the programs in this folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import Any


def number(least: float, most: float) -> Any:
    """Return a parser for numbers from `least` to `most`. It accepts only whole numbers if both are whole."""

    def read(text: str) -> float:
        try:
            value = type(least)(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            kind = "a whole number" if isinstance(least, int) else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind} from {least:g} to {most:g}")
        return value

    return read


def some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """Return a parser for a list of these names, separated by commas."""

    def read(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        if wrong := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(map(repr, wrong))}: there is {', '.join(known)}")
        return names

    return read
