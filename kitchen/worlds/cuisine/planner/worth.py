"""What a rollout is worth: orders served in time, dishes for orders to come, work begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import comb

from kitchen.worlds.cuisine.planner.book import MOVE, Book
from kitchen.worlds.cuisine.planner.rollout import Rollout
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.trips import CARRY
from kitchen.worlds.cuisine.planner.work import Batch

OUTLASTS = 0.35
"""Worth of serving an order that could still stand at the end, where it counts for nothing."""
DECAY = 0.97
"""What is left of a dish's worth for each step that it waits on the table: it could be cooked later."""
SIGHT = 120
"""Steps from now beyond which orders to come are not thought of."""
HASTE = 0.004
"""Worth lost with each step that a dish comes later."""
BEGUN = 0.8
"""Worth of a dish in work at the horizon, as a part of its worth when served, times the part done."""


@lru_cache(maxsize=8192)
def hits_then(nth: int, draw: int, chance: float) -> float:
    """The chance that the nth hit comes at exactly this draw (both count from 1)."""
    if draw < nth:
        return 0.0
    return comb(draw - 1, nth - 1) * chance**nth * (1 - chance) ** (draw - nth)


class Demand:
    """The orders that stand and the chances of those to come, seen from one scene."""

    def __init__(self, book: Book, scene: Scene) -> None:
        self.book = book
        self.left = book.max_steps - scene.step
        self.standing: dict[str, list[int]] = {}
        self.stock: Counter[str] = Counter(scene.ready)
        for dish, life in sorted(scene.orders, key=lambda order: order[1]):
            if self.stock[dish] > 0 and life > 0:
                self.stock[dish] -= 1
            else:
                self.standing.setdefault(dish, []).append(life)
        first = book.interval - scene.step % book.interval
        self._later: dict[tuple[str, int, int], float] = {}
        self.arrivals = range(first, min(self.left, SIGHT), book.interval)

    def worth(self, served: Sequence[tuple[str, int]]) -> float:
        """The worth of these dishes, put on the table at these steps from now."""
        open_orders = {dish: lives[:] for dish, lives in self.standing.items()}
        stock = Counter(self.stock)
        total = 0.0
        for dish, step in served:
            total += self._serve(dish, step, open_orders, stock) * (1.0 - HASTE * step)
        return total

    def _serve(self, dish: str, step: int, open_orders: dict[str, list[int]], stock: Counter[str]) -> float:
        lives = open_orders.get(dish, ())
        for position, life in enumerate(lives):
            if step < life:
                del open_orders[dish][position]
                return 1.0 if life < self.left else OUTLASTS
        stock[dish] += 1
        return self.later(dish, step, stock[dish])

    def later(self, dish: str, step: int, nth: int) -> float:
        """The worth of the nth dish of this kind without an order, put down at this step."""
        key = (dish, step, nth)
        if key not in self._later:
            self._later[key] = self._expected(self.book.lifetimes[dish], step, nth)
        return self._later[key]

    def _expected(self, life: int, step: int, nth: int) -> float:
        useful = [start for start in self.arrivals if start + life > step]
        total = 0.0
        for draw, start in enumerate(useful, 1):
            weight = 1.0 if start + life < self.left else OUTLASTS
            wait = max(0, start - step)
            total += hits_then(nth, draw, self.book.chance) * weight * DECAY**wait
        return total

    def value(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> float:
        """The worth of a rollout that was run to this horizon."""
        total = self.worth(rollout.served)
        if horizon >= self.left:
            return total
        return total + BEGUN * self._begun(rollout, wishes, horizon)

    def _begun(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> float:
        left: dict[int, float] = {}
        for batch in rollout.open:
            if batch not in rollout.work.junk:
                left[batch.rank] = left.get(batch.rank, 0.0) + _commands_left(batch)
        for trip in rollout.trips:
            if trip is not None and trip.stage == CARRY and trip.target is not None:
                left[trip.target.rank] = left.get(trip.target.rank, 0.0) - MOVE / 2
        done = []
        for rank, commands in left.items():
            dish = wishes[rank]
            work = self.book.recipes[dish].work
            if commands < work:
                done.append((dish, int(horizon + commands / 3), 1.0 - commands / work))
        return self._shares(rollout, done)

    def _shares(self, rollout: Rollout, done: Sequence[tuple[str, int, float]]) -> float:
        """Each begun dish's worth, after those already served, times the part of it that is done."""
        before = self.worth(rollout.served)
        total = 0.0
        served = list(rollout.served)
        for dish, step, part in sorted(done, key=lambda entry: (entry[1], entry[0])):
            served.append((dish, step))
            after = self.worth(served)
            total += (after - before) * part
            before = after
        return total


def _commands_left(batch: Batch) -> float:
    if batch.done_at is not None:
        return MOVE - 1.0
    return MOVE * batch.due + (MOVE if batch.parent is None else 0.0)
