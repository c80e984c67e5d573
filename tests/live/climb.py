"""Increase the number of players until they are no longer served well, and measure what twice as many get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.live.company import Company, Stretch

SHARE = 0.95
"""Of the steps that were to be played, so many are."""
GROWS = 1.5
"""Times as many people at the next number."""
CLOSE = 1.2
"""The knee is looked for until the next number that was too many is at most so many times as high."""
OVERLOAD = 2.0
"""Times the knee."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long each number is measured, and when it is served well."""

    seconds: float
    bound: float
    """Milliseconds that 99 of 100 steps stay within."""
    start: int
    most: int

    def held(self, stretch: Stretch) -> bool:
        """Whether so many are served well."""
        return (
            stretch.played.p99 <= self.bound
            and stretch.share >= SHARE
            and not stretch.errors
            and not stretch.late
        )


async def measured(company: Company, people: int, terms: Terms) -> Stretch:
    """So many people, once they all play."""
    await company.become(people)
    return await company.measure(warm=max(company.every, terms.seconds / 3), seconds=terms.seconds)


async def climbed(
    company: Company, terms: Terms, say: Callable[[Stretch], object]
) -> tuple[list[Stretch], int]:
    """What every number got, and the knee: the highest that was served well, 0 where none was."""
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
    """Between the highest that was served well and the lowest that was not (0: none yet); 0 at the end."""
    if held >= terms.most or (failed and failed <= max(held * CLOSE, 1)):
        return 0
    if not failed:
        return min(terms.most, round_to_ten(held * GROWS)) if held else terms.start
    between = round_to_ten((held * failed) ** 0.5) if held else failed // 2
    return between if held < between < failed else 0


def round_to_ten(number: float) -> int:
    """To tens above fifty."""
    return 10 * round(number / 10) if number > 50 else round(number)
