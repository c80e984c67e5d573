"""Whether the values of a figure can tell anything: ceilings, floors, blanks, no variance, in words.

For a few episodes of one condition, before there are people; `within/assumptions.py` says it of data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Figure

FEWEST = 3
"""Of fewer episodes nothing is said."""
OFTEN = 0.75
"""From this share of episodes on, an end of the scale is told."""
BLANK = 0.25
"""From this share of episodes on, blanks are."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One thing to mind: what is so, in how many episodes, and what follows; empty where nothing does."""

    what: str
    where: str
    so: str = ""

    def __str__(self) -> str:
        return f"{self.what} in {self.where}{self._end}"

    @property
    def bare(self) -> str:
        """The same without the episodes."""
        return f"{self.what}{self._end}"

    @property
    def _end(self) -> str:
        return f": {self.so}." if self.so else "."


def spread_of(figure: Figure, values: Sequence[float | None]) -> Iterator[Spread]:
    """What is to be minded of the values of as many episodes; nothing where nothing is."""
    there = [value for value in values if value is not None]
    if len(values) < FEWEST:
        return
    if len(values) - len(there) >= BLANK * len(values):
        yield Spread(f"“{figure.label}” is blank", _of(len(values) - len(there), len(values)))
    if len(there) >= FEWEST:
        yield from _flat(figure, there)


def _flat(figure: Figure, there: Sequence[float]) -> Iterator[Spread]:
    """An end of the scale; or else the same value everywhere."""
    low, high = figure.ends
    for end, words, way in ((high, "highest", "higher"), (low, "lowest", "lower")):
        number = sum(value == end for value in there)
        if end is not None and number >= OFTEN * len(there):
            name = "ceiling" if way == "higher" else "floor"
            what = f"“{figure.label}” is at its {name} ({figure.shown(end)}, the {words} there is)"
            yield Spread(what, _of(number, len(there)), f"nothing {way} can show")
            return
    if len(set(there)) == 1:
        what = f"“{figure.label}” is {figure.shown(there[0])}"
        yield Spread(what, _of(len(there), len(there)), "it does not vary, so that no test can compare it")


def _of(number: int, of: int) -> str:
    return f"all {of} episodes" if number == of else f"{number} of {of} episodes"
