"""What a rollout is worth: orders served in time, dishes for orders to come, work begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import comb

from kitchen.worlds.cuisine.planner.book import MOVE, Book
from kitchen.worlds.cuisine.planner.rollout import Rollout
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.work import Batch

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

    def __init__(self, book: Book, scene: Scene, outlasts: float) -> None:
        self.book = book
        self.outlasts = outlasts
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

    def tally(self) -> Tally:
        """Nothing served yet."""
        open_orders = {dish: lives[:] for dish, lives in self.standing.items()}
        return Tally(self, open_orders, dict(self.stock))

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
            weight = 1.0 if start + life < self.left else self.outlasts
            wait = max(0, start - step)
            total += hits_then(nth, draw, self.book.chance) * weight * DECAY**wait
        return total

    def value(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> float:
        """The worth of a rollout that was run to this horizon."""
        tally = self.tally()
        for dish, step in rollout.served:
            tally.serve(dish, step)
        total = tally.total
        if horizon >= self.left:
            return total
        return total + BEGUN * self._shares(tally, self._begun(rollout, wishes, horizon))

    def _begun(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> list[tuple[str, int, float]]:
        """The dishes in work: when they may be served, and the part of them that is done."""
        left: dict[int, float] = {}
        for batch in rollout.open:
            left[batch.rank] = left.get(batch.rank, 0.0) + _commands_left(batch)
        for trip in rollout.trips:
            if trip is not None and trip.target is not None and trip.in_hand(horizon - 1):
                left[trip.target.rank] = left.get(trip.target.rank, 0.0) - MOVE / 2
        done = []
        for rank, commands in left.items():
            dish = wishes[rank]
            work = self.book.recipes[dish].work
            if commands < work:
                done.append((dish, int(horizon + commands / 3), 1.0 - commands / work))
        return done

    def _shares(self, tally: Tally, done: Sequence[tuple[str, int, float]]) -> float:
        """Each begun dish's worth, after those already served, times the part of it that is done."""
        total = 0.0
        for dish, step, part in sorted(done, key=lambda entry: (entry[1], entry[0])):
            before = tally.total
            tally.serve(dish, step)
            total += (tally.total - before) * part
        return total


class Tally:
    """What dishes are worth that are put on the table one after another."""

    __slots__ = ("demand", "open", "stock", "total")

    def __init__(self, demand: Demand, standing: dict[str, list[int]], stock: dict[str, int]) -> None:
        self.demand = demand
        self.open = standing
        self.stock = stock
        self.total = 0.0

    def serve(self, dish: str, step: int) -> None:
        """Put a dish on the table at this step from now."""
        self.total += self._worth(dish, step) * (1.0 - HASTE * step)

    def _worth(self, dish: str, step: int) -> float:
        lives = self.open.get(dish, ())
        for position, life in enumerate(lives):
            if step < life:
                del self.open[dish][position]
                return 1.0 if life < self.demand.left else self.demand.outlasts
        nth = self.stock[dish] = self.stock.get(dish, 0) + 1
        return self.demand.later(dish, step, nth)


def _commands_left(batch: Batch) -> float:
    if batch.done_at is not None:
        return MOVE - 1.0
    return MOVE * batch.due + (MOVE if batch.parent is None else 0.0)
