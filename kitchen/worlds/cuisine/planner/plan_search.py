"""Search for a good plan, which is an ordered list of dishes.

The search changes the list at random, simulates each new plan, and keeps the plan with the highest value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import comb
from random import Random
from typing import NamedTuple

from kitchen.worlds.cuisine.planner.planner_state import MOVE_STEPS, KitchenBook, KitchenScene
from kitchen.worlds.cuisine.planner.rollout import Rollout
from kitchen.worlds.cuisine.planner.work_batches import (
    Batch,
    ItemsAround,
    PlanDraft,
    TripStyle,
    WorkBatches,
)

DECAY = 0.97
"""Factor on a dish's worth for each step that it waits on the table, because it could be cooked later."""
SIGHT_STEPS = 120
"""Number of steps from now after which orders to come are ignored."""
HASTE_BONUS = 0.004
"""Worth lost for each step by which a dish comes later."""
BEGUN_SHARE = 0.8
"""Factor on the worth of an unfinished dish at the horizon: worth when served, times the part done, times
this.
"""


@lru_cache(maxsize=8192)
def chance_of_nth_hit(nth: int, draw: int, chance: float) -> float:
    """Return the probability that the nth success comes at exactly this draw; both are counted from 1.

    `chance` is the probability of a success at each draw.
    """
    if draw < nth:
        return 0.0
    return comb(draw - 1, nth - 1) * chance**nth * (1 - chance) ** (draw - nth)


class OrderDemand:
    """The value of serving dishes, computed from the open orders and the probabilities of later ones."""

    def __init__(self, book: KitchenBook, scene: KitchenScene, outlasts: float) -> None:
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
        self.arrivals = range(first, min(self.left, SIGHT_STEPS), book.interval)

    def tally(self) -> ServedValue:
        """Return an object that adds up the value of served dishes. It begins with nothing served."""
        open_orders = {dish: lives[:] for dish, lives in self.standing.items()}
        return ServedValue(self, open_orders, dict(self.stock))

    def later(self, dish: str, step: int, nth: int) -> float:
        """Return the expected value of serving a dish for an order that may arrive later.

        `step` is when the dish is served, in steps from now. `nth` counts the dishes of this kind for
        which no order is open yet, from 1.
        """
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
            total += chance_of_nth_hit(nth, draw, self.book.chance) * weight * DECAY**wait
        return total

    def value(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> float:
        """Return the value of a simulated plan up to the step `horizon`: the value of the served dishes, and
        a share of the value of unfinished dishes.

        `wishes` are the dishes of the plan.
        """
        tally = self.tally()
        for dish, step in rollout.served:
            tally.serve(dish, step)
        total = tally.total
        if horizon >= self.left:
            return total
        return total + BEGUN_SHARE * self._shares(tally, self._begun(rollout, wishes, horizon))

    def _begun(self, rollout: Rollout, wishes: Sequence[str], horizon: int) -> list[tuple[str, int, float]]:
        """Return (dish, step, share) for each unfinished dish: the step in which it may be served, and the
        share of its work that is done."""
        left: dict[int, float] = {}
        for batch in rollout.open:
            left[batch.rank] = left.get(batch.rank, 0.0) + _commands_left(batch)
        for trip in rollout.trips:
            if trip is not None and trip.target is not None and trip.in_hand(horizon - 1):
                left[trip.target.rank] = left.get(trip.target.rank, 0.0) - MOVE_STEPS / 2
        done = []
        for rank, commands in left.items():
            dish = wishes[rank]
            work = self.book.recipes[dish].work
            if commands < work:
                done.append((dish, int(horizon + commands / 3), 1.0 - commands / work))
        return done

    def _shares(self, tally: ServedValue, done: Sequence[tuple[str, int, float]]) -> float:
        """Return the value of the unfinished dishes in `done`. The value of each dish is multiplied by the
        share of its work that is done."""
        total = 0.0
        for dish, step, part in sorted(done, key=lambda entry: (entry[1], entry[0])):
            before = tally.total
            tally.serve(dish, step)
            total += (tally.total - before) * part
        return total


class ServedValue:
    """Adds up the value of dishes that are served one after another."""

    __slots__ = ("demand", "open", "stock", "total")

    def __init__(self, demand: OrderDemand, standing: dict[str, list[int]], stock: dict[str, int]) -> None:
        self.demand = demand
        self.open = standing
        self.stock = stock
        self.total = 0.0

    def serve(self, dish: str, step: int) -> None:
        """Add the value of this dish, served `step` steps from now."""
        self.total += self._worth(dish, step) * (1.0 - HASTE_BONUS * step)

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
        return MOVE_STEPS - 1.0
    return MOVE_STEPS * batch.due + (MOVE_STEPS if batch.parent is None else 0.0)


class SearchSettings(NamedTuple):
    """Settings of a search."""

    margin: float
    """The amount by which a new plan has to be better than the current one."""
    chances: tuple[int, ...]
    """Cumulative percentages of the DRAFT_CHANGES of a search."""
    outlasts: float
    """Worth of serving an order that could still be open at the end, where it counts for nothing."""
    style: TripStyle
    """The way in which trips are chosen in the first plan."""
    shared_first: bool = True
    """Fetch the ingredients first that most recipes use (`read_book`)."""


PLAYING_SETTINGS = SearchSettings(0.005, (12, 16, 31, 49, 75, 85, 100), 0.1, TripStyle())
DEMONSTRATION_SETTINGS = SearchSettings(
    0.02, (15, 30, 42, 42, 65, 80, 100), 0.35, TripStyle(helps=False), shared_first=False
)
"""Weaker settings, for demonstrations in prompts.

They stay as they are, so that frozen prompts do not change.
"""
TEAM_DEMONSTRATION_SETTINGS = PLAYING_SETTINGS._replace(shared_first=False)
"""Settings for demonstrations of a whole team in prompts, which stay as they are, too."""
DEMONSTRATION_TRIES = 25

HORIZON_STEPS = 60
"""Largest number of steps played ahead: the paper's whole episodes, so that a plan keeps its worth."""
NEAR_STEPS = 4
"""Changes are made among this number of first wishes."""
DRAFT_CHANGES = ("style", "errand", "passing", "helping", "order", "more", "less")
"""Kinds of changes by which a better plan is searched."""


class PlayedDraft(NamedTuple):
    """A plan, the result of simulating it, and its value."""

    draft: PlanDraft
    rollout: Rollout
    value: float


class PlanSearch:
    """Searches for a plan from one state of the kitchen."""

    def __init__(
        self,
        book: KitchenBook,
        scene: KitchenScene,
        idle: Collection[int],
        absent: Collection[int] = (),
        settings: SearchSettings = PLAYING_SETTINGS,
    ) -> None:
        self.book, self.scene, self.settings = book, scene, settings
        self.idle, self.absent = idle, absent
        self.lying = ItemsAround(book, scene)
        self.demand = OrderDemand(book, scene, settings.outlasts)
        self.horizon = min(HORIZON_STEPS, book.max_steps - scene.step)
        self.played: dict[PlanDraft, PlayedDraft] = {}

    def play(self, draft: PlanDraft) -> PlayedDraft:
        """Simulate this plan. Return the plan with the result and the value. Each plan is simulated once."""
        played = self.played.get(draft)
        if played is None:
            toward = {i: self.book.number[where] for i, (what, where) in draft.errands if what == "bring"}
            work = WorkBatches(self.book, self.scene, self.lying, draft.wishes, toward)
            rollout = Rollout(self.book, self.scene, work, draft, self.idle, self.absent)
            rollout.run(self.horizon)
            value = self.demand.value(rollout, draft.wishes, self.horizon)
            played = self.played[draft] = PlayedDraft(draft, rollout, value)
        return played

    def by_deadline(self) -> tuple[str, ...]:
        """Return the dishes of the plan with which the search begins. Open orders that can still be served
        come first, most urgent first. Then follow dishes for later orders."""
        lives = self.demand.standing
        met = [
            (life, dish)
            for dish in self.book.dishes
            for life in lives.get(dish, ())
            if self.book.recipes[dish].span * 0.5 < life
        ]
        return self.filled([dish for _, dish in sorted(met)])

    def filled(self, wishes: Sequence[str]) -> tuple[str, ...]:
        """Return these dishes, followed by dishes for later orders until all robots have enough work."""
        agents = len(self.scene.agents) - len(self.idle)
        work = agents * self.horizon * 1.15
        dishes: list[str] = []
        open_orders = {dish: len(lives) for dish, lives in self.demand.standing.items()}
        count: Counter[str] = Counter(self.demand.stock)
        for dish in wishes:
            if open_orders.get(dish, 0) > 0:
                open_orders[dish] -= 1
            else:
                count[dish] += 1
            dishes.append(dish)
            work -= self.book.recipes[dish].work
        while work > 0 or len(dishes) < len(self.book.dishes):
            dish = max(self.book.dishes, key=lambda d: (self._gain(d, count), d))
            count[dish] += 1
            dishes.append(dish)
            work -= self.book.recipes[dish].work
        return tuple(dishes)

    def _gain(self, dish: str, count: Counter[str]) -> float:
        """Return the value, for each command needed, of one more portion of this dish. `count` has the
        portions so far."""
        recipe = self.book.recipes[dish]
        return self.demand.later(dish, recipe.span, count[dish] + 1) / recipe.work

    def best(self, start: PlanDraft | None, tries: int, rng: Random) -> PlayedDraft:
        """Return the best plan found. The search simulates `tries` random changes of the best plan so far.

        It starts from the plan by deadlines (`by_deadline`). If `start` (the plan of the last step) is
        about as good, the search starts from `start` instead.
        """
        best = self.play(PlanDraft(self.by_deadline(), self.settings.style))
        if start is not None:
            kept = self.play(start._replace(wishes=self.filled(start.wishes)))
            if kept.value > best.value - self.settings.margin:
                best = kept
        margin = self.settings.margin
        for _ in range(tries):
            plan = self.play(self._changed(best.draft, rng))
            if plan.value > best.value + margin:
                best = plan
                margin = 1e-9
        return best

    def _changed(self, draft: PlanDraft, rng: Random) -> PlanDraft:
        """Return the draft with one random change."""
        change = rng.choices(DRAFT_CHANGES, cum_weights=self.settings.chances)[0]
        if change == "style":
            helps = self.settings.style.helps
            style = TripStyle(rng.randrange(4), rng.randrange(3), rng.random() < 0.5, helps)
            return draft._replace(style=style)
        if change == "errand" and draft.errands:
            dropped = rng.randrange(len(draft.errands))
            return draft._replace(errands=draft.errands[:dropped] + draft.errands[dropped + 1 :])
        if change == "passing":
            return draft._replace(passing=self._one_other(draft.passing, rng))
        if change == "helping":
            return draft._replace(helping=self._one_other(draft.helping, rng))
        return draft._replace(wishes=self._other_wishes(list(draft.wishes), change, rng))

    def _one_other(self, agents: Collection[int], rng: Random) -> tuple[int, ...]:
        """Return `agents` with one random agent added, or removed if it was already included."""
        return tuple(sorted(set(agents) ^ {rng.randrange(len(self.scene.agents))}))

    def _other_wishes(self, wishes: list[str], change: str, rng: Random) -> tuple[str, ...]:
        """Return the plan's dishes (`wishes`) after one random change: another order, one dish more, or one
        dish less."""
        if change == "more":
            wishes.insert(rng.randrange(min(NEAR_STEPS, len(wishes) + 1)), rng.choice(self.book.dishes))
        elif change == "less":
            wishes.pop(rng.randrange(min(NEAR_STEPS, len(wishes))))
            return self.filled(wishes)
        else:
            place = min(rng.randrange(len(wishes)), rng.randrange(len(wishes)))
            wishes.insert(place, wishes.pop(rng.randrange(len(wishes))))
        return tuple(wishes)
