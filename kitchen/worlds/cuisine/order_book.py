"""Manage an episode's orders: draw, complete or fail them, and compute how long each stays open.

The times follow MindAgent, section 3, and are whole steps. Floating-point operations run in a fixed order, so
that every machine rounds in the same way.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

STEPS_PER_WORK = 0.3


@dataclass(frozen=True, slots=True)
class Timing:
    """The interval between orders and the lifetime of each dish's orders, in steps."""

    interval: int
    """Steps between two orders."""
    lifetimes: Mapping[str, int]
    """Steps for which an order of each dish is open."""


def timing_of(work: Mapping[str, int], dishes: Iterable[str], alpha: float, beta: float) -> Timing:
    """Return the interval between orders and their lifetimes in steps, computed from the work W of each dish.

    The base time of a dish is (alpha * W) * 0.3. Its lifetime is ceil(beta * base). The interval is the
    largest ceil(base).
    """
    base = {dish: (alpha * work[dish]) * STEPS_PER_WORK for dish in dishes}
    lifetimes = {dish: ceil(beta * each) for dish, each in base.items()}
    return Timing(interval=max(ceil(each) for each in base.values()), lifetimes=lifetimes)


MAX_ORDERS = 6
"""Largest number of orders that are open at once."""


class OrderBook:
    """All open, completed and failed orders of an episode. All random choices depend only on the seed and
    on the number of draws so far."""

    __slots__ = ("_dishes", "_generator", "_timing", "completed", "draws", "failed", "seed", "standing")

    def __init__(self, dishes: Sequence[str], timing: Timing, seed: int, draws: int = 0) -> None:
        self._dishes = dishes
        self._timing = timing
        self._generator = Random(seed)  # noqa: S311 - a game, and the seed is to be repeatable
        self.seed = seed
        self.draws = 0
        self.standing: list[tuple[int, str]] = []
        """Open orders as (due, dish), sorted."""
        self.completed: list[str] = []
        """Dishes in the order in which they were delivered."""
        self.failed: list[str] = []
        """Dishes in the order in which they expired."""
        for _ in range(draws):
            self.next_dish()

    def draw(self, clock: int) -> str | None:
        """Add an order for a random dish at step `clock`, and return the dish. Return None if MAX_ORDERS are
        already open."""
        if len(self.standing) >= MAX_ORDERS:
            return None
        dish = self.next_dish()
        insort(self.standing, (clock + self._timing.lifetimes[dish], dish))
        return dish

    def expire(self, clock: int) -> list[str]:
        """Remove the orders whose time is over at step `clock`, and count them as failed. Return their
        dishes."""
        late = [dish for due, dish in self.standing if due <= clock]
        del self.standing[: len(late)]
        self.failed += late
        return late

    def serve(self, lying: Sequence[str]) -> list[str]:
        """Complete open orders with the dishes on the table (`lying`). Return the dishes that completed an
        order. Each dish completes at most one order."""
        left, served, waiting = list(lying), [], []
        for order in self.standing:
            if order[1] in left:
                left.remove(order[1])
                served.append(order[1])
            else:
                waiting.append(order)
        self.standing = waiting
        self.completed += served
        return served

    def lives(self, clock: int) -> list[tuple[str, int]]:
        """Return (dish, steps left) for each open order at step `clock`, the most urgent first."""
        return [(dish, due - clock) for due, dish in self.standing]

    def next_dish(self) -> str:
        """Draw the next dish at random and return it. This increases `draws`."""
        self.draws += 1
        return self._generator.choice(self._dishes)
