"""What the planner has been asked in words so far (`kitchen.worlds.cuisine.wishes`).

It is told of the newest messages alone, so what was asked before stands in its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.agent import Situation
from kitchen.contract.talk import Said
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.wishes import (
    LEAVES,
    STOP,
    Wish,
    for_us,
    of_people,
    people_in,
    taken_back,
    wishes_of,
)

KEY = "heeded"
"""Under which the planner's memory has what was asked; only where somebody asked something."""


@dataclass(frozen=True, slots=True)
class Heard:
    """All that may still stand, and what of it is new."""

    before: Mapping[str, Json]
    """What was remembered: the number of the `last` message, whether somebody was `helped`, `wishes`."""
    news: tuple[Said, ...]
    read: tuple[Wish, ...]
    """What is understood of the news."""
    fresh: tuple[Wish, ...]
    """As far as it is asked of this mind."""
    wishes: tuple[Wish, ...]
    """Those of before and the fresh ones, in order."""

    @property
    def last(self) -> int:
        """The number of the newest message."""
        return max([int(self.before["last"]), *(one.number for one in self.news)])

    def stops(self, mine: Iterable[int]) -> dict[int, int]:
        """Robots of `mine` that are told to stop now, and the number of the message that says so."""
        stops = [wish for wish in self.fresh if wish.do == STOP]
        return {seat: wish.number for wish in stops for seat in wish.meant(mine)}


def listen(situation: Situation) -> Heard | None:
    """What people asked up to now; None where nobody said anything."""
    before = _remembered(situation.memory)
    said = of_people(situation.messages, situation.organisation, after=situation.taken_over)
    news = tuple(one for one in said if one.number > before["last"])
    if not (news or before["last"]):
        return None
    read = tuple(wishes_of(news, next(iter(situation.briefs.values()))))
    fresh = tuple(_for_us(situation, news, read))
    gone, people = taken_back(situation.messages), people_in(situation.organisation)
    wishes = tuple(
        one
        for one in (*map(Wish.read, before["wishes"]), *fresh)
        if not (one.is_job and one.number in gone) and (one.do not in LEAVES or one.sender in people)
    )
    return Heard(before, news, read, fresh, wishes)


def _for_us(situation: Situation, news: Sequence[Said], read: Sequence[Wish]) -> list[Wish]:
    """Those of new wishes that are asked of this mind."""
    messages, organisation = {one.number: one for one in news}, situation.organisation
    if organisation is None:
        return []
    return [wish for wish in read if for_us(wish, messages[wish.number], organisation, situation.member)]


def _remembered(memory: Json) -> dict[str, Json]:
    known = memory.get(KEY) if isinstance(memory, dict) else None
    return known or {"last": 0, "helped": False, "wishes": []}
