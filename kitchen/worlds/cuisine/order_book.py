"""Draw, keep, complete and fail the orders of an episode, and compute how long they last.

An order is kept with the step at which it fails. Work, lifetimes and interval follow MindAgent, section 3.
All times are whole steps. The order of floating-point operations is part of the rule, so every machine rounds
in the same direction.
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
    """Interval and lifetimes of orders, computed from a level and its difficulty."""

    interval: int
    """Steps between two orders."""
    lifetimes: Mapping[str, int]
    """Steps for which an order of each dish is open."""


def timing_of(work: Mapping[str, int], dishes: Iterable[str], alpha: float, beta: float) -> Timing:
    """Return lifetimes and interval: base = (alpha * W) * 0.3, ceil(beta * base), and the largest
    ceil(base).
    """
    base = {dish: (alpha * work[dish]) * STEPS_PER_WORK for dish in dishes}
    lifetimes = {dish: ceil(beta * each) for dish, each in base.items()}
    return Timing(interval=max(ceil(each) for each in base.values()), lifetimes=lifetimes)


MAX_ORDERS = 6
"""Largest number of orders that are open at once."""


class OrderBook:
    """All orders of an episode. Randomness comes from one generator, whose state is its seed and `draws`."""

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
        """Add a new order with its full life and return its dish; None if there is no room for it."""
        if len(self.standing) >= MAX_ORDERS:
            return None
        dish = self.next_dish()
        insort(self.standing, (clock + self._timing.lifetimes[dish], dish))
        return dish

    def expire(self, clock: int) -> list[str]:
        """Remove the orders whose life is over, count them as failed, and return their dishes."""
        late = [dish for due, dish in self.standing if due <= clock]
        del self.standing[: len(late)]
        self.failed += late
        return late

    def serve(self, lying: Sequence[str]) -> list[str]:
        """Remove the orders, in list order, that the dishes on the table complete; return their dishes."""
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
        """Return (dish, remaining life in steps) of the open orders, in list order."""
        return [(dish, due - clock) for due, dish in self.standing]

    def next_dish(self) -> str:
        """Return the next dish of the generator, and count it in `draws`."""
        self.draws += 1
        return self._generator.choice(self._dishes)
