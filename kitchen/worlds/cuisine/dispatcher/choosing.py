"""Which commands of an answer are meant: for this step, and of each agent those of one passage.

Models quote and weigh commands before they give some, and go on with what comes later or might be done as
well. Lists go before sentences; of several lists the one under the heading that was asked for, else the first
that commands everybody who is asked for. What is for another step, rejected or another way (`headings`)
counts only where nothing else is there. A made-up verb (`cook_agent1_pot0`) counts only for an agent that
gets no command at all. What stays open is told, and not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.contract.world import Command
from kitchen.worlds.cuisine.dispatcher.headings import NOT_NOW
from kitchen.worlds.cuisine.dispatcher.moment import Given
from kitchen.worlds.cuisine.rules import VERBS


@dataclass(frozen=True, slots=True)
class Asked:
    """What the model was asked for: a command for each of these seats, for this step (from 1)."""

    seats: Sequence[int] = ()
    step: int | None = None


ANYTHING = Asked()


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was read of an answer."""

    given: tuple[Given, ...] = ()
    """In their order; an agent may be commanded several times in one passage."""
    unclear: Mapping[int, tuple[Command, ...]] = field(default_factory=dict)
    """Agents that are commanded differently in several passages, with what each of these says first."""


PassageId = tuple[int, str, int]


class Said(NamedTuple):
    """A command, the passage in which it stands, and how much it is meant (`headings.meaning`)."""

    given: Given
    passage: PassageId
    is_list: bool
    meant: int


class _Offer(NamedTuple):
    """What one passage says first for one agent; the smaller rank is meant more."""

    rank: tuple[bool, int, bool]
    command: Command
    passage: PassageId

    @property
    def is_whole(self) -> bool:
        """Its passage commands everybody who is asked for."""
        return not self.rank[2]


def choose(found: Sequence[Said], seats: Sequence[int]) -> Extracted:
    """What is meant of everything that was found, for these seats, in order."""
    real = _real([each for each in found if each.meant > NOT_NOW] or found)
    meant: dict[int, PassageId] = {}
    unclear: dict[int, tuple[Command, ...]] = {}
    for seat, offers in _offers(real, seats).items():
        first = min(offers, key=lambda offer: offer.rank)
        ways = tuple(dict.fromkeys(each.command for each in offers if each.rank == first.rank))
        meant[seat] = first.passage
        if len(ways) > 1 and not first.is_whole and seat in seats:
            unclear[seat] = ways
    kept = (each.given for each in real if each.passage == meant[each.given[0]])
    return Extracted(tuple(each for each in kept if each[0] not in unclear), unclear)


def _real(found: Sequence[Said]) -> list[Said]:
    commanded = {seat for (seat, command), *_ in found if command[0] in VERBS}
    return [each for each in found if each.given[1][0] in VERBS or each.given[0] not in commanded]


def _offers(found: Sequence[Said], seats: Sequence[int]) -> Mapping[int, list[_Offer]]:
    """By seat, in order: the first command of each passage."""
    passages: dict[PassageId, list[Said]] = {}
    for each in found:
        passages.setdefault(each.passage, []).append(each)
    offers: dict[int, list[_Offer]] = {}
    for passage, said in passages.items():
        commands = dict(reversed([each.given for each in said]))
        rank = (not said[0].is_list, -said[0].meant, not commands.keys() >= set(seats))
        for seat, command in commands.items():
            offers.setdefault(seat, []).append(_Offer(rank, command, passage))
    return offers
