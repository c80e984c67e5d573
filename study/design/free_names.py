"""Names that are not taken yet: of copies, and of the teams that participants read about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, product
from string import ascii_uppercase

from study.design.models import Study


def free_name(name: str, suffix: str, longest: int, taken: Callable[[str], bool]) -> str:
    """The name with the suffix, and with a number after it if that is taken."""
    for number in count(1):
        end = suffix if number == 1 else f"{suffix}{number}"
        candidate = f"{name[: longest - len(end)]}{end}"
        if not taken(candidate):
            return candidate
    raise AssertionError


def free_label(study: Study) -> str:
    """The next of Team A, Team B … that no condition of the study is called by: no hint at who plays."""
    taken = set(study.conditions.values_list("label", flat=True))
    return next(label for label in _labels() if label not in taken)


def _labels() -> Iterator[str]:
    """`Team A` to `Team Z`, then `Team AA` and on."""
    for length in count(1):
        yield from (f"Team {''.join(letters)}" for letters in product(ascii_uppercase, repeat=length))
