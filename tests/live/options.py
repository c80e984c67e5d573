"""Parse the options of the programs in this folder. A wrong option prints one line, with exit code 2."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from typing import Any, NoReturn


class OneLineParser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Exit 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def number(least: float, most: float) -> Any:
    """A reader of a number from `least` to `most`; whole ones where these are."""

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
    """A reader of some of these names, with commas between them."""

    def read(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        if wrong := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(map(repr, wrong))}: there is {', '.join(known)}")
        return names

    return read
