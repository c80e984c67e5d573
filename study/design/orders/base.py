"""What an order scheme promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class SchemeError(ValueError):
    """A scheme that cannot be used so; the message is for the researcher."""


@dataclass(frozen=True, slots=True)
class OrderSequence:
    """One way through all conditions."""

    id: int
    """From 1 on within the block, the same for the same conditions in the same order; 0 without a block."""
    order: tuple[str, ...]


class Scheme(Protocol):
    """A family of sequences. A *block* is all of them once; it is full when each has been played."""

    @property
    def label(self) -> str:
        """Its name as researchers read it."""

    @property
    def meaning(self) -> str:
        """What it balances, in one sentence."""

    def problem(self, n: int) -> str:
        """Why it cannot be used for n conditions, in words; empty if it can."""

    def block(self, n: int) -> int:
        """How many sequences a block has for n conditions; 0 if there are no blocks."""

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """One block; empty if there are no blocks."""


def numbered(orders: Sequence[Sequence[str]]) -> tuple[OrderSequence, ...]:
    """These orders as a block, numbered from 1."""
    return tuple(OrderSequence(number, tuple(order)) for number, order in enumerate(orders, start=1))
