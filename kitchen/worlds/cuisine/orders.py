"""The orders of one episode: drawn, standing, completed and failed (spec: Orders).

An order is kept with the step at which it fails (`due`), so that nothing has to be counted down: its
remaining life is `due - clock`.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from random import Random

from kitchen.worlds.cuisine.timing import Timing

MAX_ORDERS = 6
"""Orders that stand at once, at most."""


class OrderBook:
    """Every order of an episode. Chance comes from one generator, whose state is its seed and `draws`."""

    __slots__ = ("_dishes", "_generator", "_timing", "completed", "draws", "failed", "seed", "standing")

    def __init__(self, dishes: Sequence[str], timing: Timing, seed: int, draws: int = 0) -> None:
        self._dishes = dishes
        self._timing = timing
        self._generator = Random(seed)  # noqa: S311 - a game, and the seed is to be repeatable
        self.seed = seed
        self.draws = 0
        self.standing: list[tuple[int, str]] = []
        """(due, dish), sorted."""
        self.completed: list[str] = []
        """Dishes in the order in which they were delivered."""
        self.failed: list[str] = []
        """Dishes in the order in which they expired."""
        for _ in range(draws):
            self.next_dish()

    def draw(self, clock: int) -> str | None:
        """A new order joins with its full life; None where there is no room for it."""
        if len(self.standing) >= MAX_ORDERS:
            return None
        dish = self.next_dish()
        insort(self.standing, (clock + self._timing.lifetimes[dish], dish))
        return dish

    def expire(self, clock: int) -> list[str]:
        """The dishes of the orders whose life is over; they leave, and each counts as failed."""
        late = [dish for due, dish in self.standing if due <= clock]
        del self.standing[: len(late)]
        self.failed += late
        return late

    def serve(self, lying: Sequence[str]) -> list[str]:
        """The dishes of the orders, in list order, that are met by what lies on the table; they leave."""
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
        """(dish, remaining life in steps) of the standing orders, in list order."""
        return [(dish, due - clock) for due, dish in self.standing]

    def next_dish(self) -> str:
        """What the generator draws next; counted in `draws`."""
        self.draws += 1
        return self._generator.choice(self._dishes)
