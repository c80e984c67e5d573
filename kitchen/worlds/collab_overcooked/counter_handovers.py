"""Find what the cooks have handed over: things that one put on a shared counter and the other took from it.

The observation lists only commands, so this module follows hands, counters and utensils through all commands
that took effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked.food_rules import UTENSILS, base_food, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import (
    FILL,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    with_dish,
)
from kitchen.worlds.collab_overcooked.room_layout import COUNTER, SEATS, Layout


class Handover(NamedTuple):
    """One thing that was handed over, the seat of the cook who had put it down, and the steps in which it was
    put down and taken (0: not yet)."""

    seat: int
    thing: str
    put_in: int
    taken_in: int = 0


@dataclass(slots=True)
class _Trace:
    """Where things are: in the hands, on the counters of each room, on the shared counters with the seat that
    put them there, and in the utensils."""

    hands: list[str] = field(default_factory=lambda: [""] * len(SEATS))
    own: list[list[str]] = field(default_factory=lambda: [[] for _ in SEATS])
    shared: list[Handover] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in UTENSILS})

    def put_down(self, seat: int, step: int, *, is_full: bool) -> None:
        """Put what the cook holds on a shared counter, or on one of its own if the shared ones were full."""
        if is_full:
            self.own[seat].append(self.hands[seat])
        else:
            self.shared.append(Handover(seat, self.hands[seat], step))

    def take(self, seat: int, food: str) -> Handover | None:
        """Take this food from a counter, from an own one if it lies there. Return what was handed over to
        this cook, if anything. Of equal things on shared counters, the other cook's is taken."""
        own = next((thing for thing in self.own[seat] if base_food(thing) == food), None)
        if own is not None:
            self.own[seat].remove(own)
            self.hands[seat] = own
            return None
        lying = [one for one in self.shared if base_food(one.thing) == food]
        if not lying:
            return None
        taken = next((one for one in lying if one.seat != seat), lying[0])
        self.shared.remove(taken)
        self.hands[seat] = taken.thing
        return taken if taken.seat != seat else None

    def use_place(self, seat: int, verb: str, words: Sequence[str]) -> None:
        """Carry out a command at a utensil or a dispenser. A delivery changes nothing that counts."""
        if verb == PICKUP:
            self.hands[seat] = words[0]
            if words[1] in UTENSILS:
                self._empty(words[1])
        elif verb == PUT:
            self.inside[words[0]].append(base_food(self.hands[seat]))
        elif verb == FILL:
            self.hands[seat] = with_dish(self._empty(words[0]))
        elif verb in STARTED_BY and not food_rules().product(words[0], self.inside[words[0]]):
            self.inside[words[0]].clear()  # these contents make nothing and are lost

    def _empty(self, utensil: str) -> str:
        """Take the product out of a utensil and return it."""
        made = food_rules().product(utensil, self.inside[utensil])
        self.inside[utensil].clear()
        return str(made)


def find_handovers(players: Sequence[Mapping[str, Json]], layout: Layout) -> Iterator[Handover]:
    """Yield what the cooks have handed over, in the order of time. `players` are those of an observation."""
    done = sorted(
        (step, seat, number, tuple(macro))
        for seat in SEATS
        for number, (step, macro) in enumerate(
            zip(players[seat]["done_in"], players[seat]["done"], strict=True)
        )
    )
    trace = _Trace()
    for step, of_step in groupby(done, itemgetter(0)):
        is_full = len(trace.shared) == len(layout.shared)  # cooks chose their counters before this step
        for _, seat, _, (verb, *words) in of_step:
            if verb == PLACE:
                trace.put_down(seat, step, is_full=is_full)
            elif (verb, words[-1:]) != (PICKUP, [COUNTER]):
                trace.use_place(seat, verb, words)
            elif taken := trace.take(seat, words[0]):
                yield taken._replace(taken_in=step)
