"""Names that are written so alike that one of them may be a slip. Plain Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

WORD = re.compile(r"\w+")
LONG = 5
"""Letters from which on one of them may be a slip; `pre` and `pro` are two words."""


def slips(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every two of these names that differ in capitals, spaces and signs alone, or by one letter of a long
    word: `Experience` and `experience`, `Work load` and `Workload`, `Fluency` and `Fluencey`. Numbers are no
    slip."""
    return ((one, other) for one, other in combinations(dict.fromkeys(names), 2) if _is_slip(one, other))


def _is_slip(one: str, other: str) -> bool:
    words, others = _words(one), _words(other)
    if "".join(words) == "".join(others):
        return True
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    return len(words) == len(others) and len(differing) == 1 and _one_letter(*differing[0])


def _words(name: str) -> list[str]:
    return WORD.findall(name.casefold())


def _one_letter(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed, or two beside each other were exchanged."""
    short, long = sorted((one, other), key=len)
    if len(short) < LONG or not (one + other).isalpha() or len(long) - len(short) > 1:
        return False
    first = next(
        (at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    if len(short) < len(long):
        return short[first:] == long[first + 1 :]
    exchanged = short[first : first + 2] == long[first : first + 2][::-1]
    return short[first + 1 :] == long[first + 1 :] or (exchanged and short[first + 2 :] == long[first + 2 :])
