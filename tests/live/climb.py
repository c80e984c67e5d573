"""Increase the number of players until they are no longer served well, and measure what twice as many get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.live.company import Company, Stretch

SHARE = 0.95
"""The minimum share of the expected steps that must be played."""
GROWS = 1.5
"""The factor between one number of people and the next."""
CLOSE = 1.2
"""The search ends when the smallest number that was too large is at most this many times the largest that was
served well."""
OVERLOAD = 2.0
"""The overload, as a multiple of the largest number that was served well."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long each number of players is measured, and the limits of good service."""

    seconds: float
    bound: float
    """The time in milliseconds within which 99 of 100 steps must stay."""
    start: int
    most: int

    def held(self, stretch: Stretch) -> bool:
        """Return whether this number of people is served well."""
        return (
            stretch.played.p99 <= self.bound
            and stretch.share >= SHARE
            and not stretch.errors
            and not stretch.late
        )


async def measured(company: Company, people: int, terms: Terms) -> Stretch:
    """Measure this number of people once all of them play."""
    await company.become(people)
    return await company.measure(warm=max(company.every, terms.seconds / 3), seconds=terms.seconds)


async def climbed(
    company: Company, terms: Terms, say: Callable[[Stretch], object]
) -> tuple[list[Stretch], int]:
    """Measure increasing numbers of people. Return the results and the largest number that was served well,
    or 0."""
    stretches: list[Stretch] = []
    held, failed = 0, 0
    while people := next_number(held, failed, terms):
        stretches.append(await measured(company, people, terms))
        say(stretches[-1])
        if terms.held(stretches[-1]):
            held = people
        else:
            failed = people
    return stretches, held


def next_number(held: int, failed: int, terms: Terms) -> int:
    """Return a number between the largest that was served well and the smallest that was not (0 if unknown).
    Return 0 at the end."""
    if held >= terms.most or (failed and failed <= max(held * CLOSE, 1)):
        return 0
    if not failed:
        return min(terms.most, round_to_ten(held * GROWS)) if held else terms.start
    between = round_to_ten((held * failed) ** 0.5) if held else failed // 2
    return between if held < between < failed else 0


def round_to_ten(number: float) -> int:
    """Round numbers above 50 to tens."""
    return 10 * round(number / 10) if number > 50 else round(number)
