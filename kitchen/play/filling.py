"""What seats do that are not asked: who has nothing to choose does nothing, and the step goes on without.

Their commands are given in the transaction that opens the turn. So nobody who looks for a missing command
ever finds one of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kitchen.contract.world import Command, World

WORLD = "world"
"""`chosen_by` of the command of a seat that had nothing to choose."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The command of a seat that is not asked."""

    seat: int
    command: Command
    chosen_by: str = WORLD


def fill(world: World, seats: Iterable[int], *, passes_by: bool) -> list[Filled]:
    """The commands of those of these seats that are not asked in the coming step: of nobody, unless seats are
    passed by that have nothing to choose."""
    if not passes_by:
        return []
    return [Filled(seat, world.idle) for seat in sorted(seats) if not world.asks(seat)]
