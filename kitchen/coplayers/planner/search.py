"""Which dishes to wish for, in which order: rollouts of several lists, the best one wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from random import Random

from kitchen.coplayers.planner.book import Book
from kitchen.coplayers.planner.rollout import Rollout
from kitchen.coplayers.planner.scene import Scene
from kitchen.coplayers.planner.trips import Errand, Style
from kitchen.coplayers.planner.work import Work
from kitchen.coplayers.planner.worth import Demand

HORIZON = 44
MARGIN = 0.02
PASSING = 0.42


@dataclass(frozen=True, slots=True)
class Draft:
    """What makes a plan: dishes wished for in their order, a style, and errands to go on with."""

    wishes: tuple[str, ...]
    style: Style
    errands: tuple[tuple[int, Errand], ...] = ()
    passing: tuple[int, ...] = ()
    """Agents who pass over the first thing they would do next."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A draft and what became of it when played ahead."""

    draft: Draft
    rollout: Rollout
    value: float


class Search:
    """Tries plans for one scene."""

    def __init__(self, book: Book, scene: Scene, idle: Collection[int], absent: Collection[int] = ()) -> None:
        self.book = book
        self.scene = scene
        self.idle = idle
        self.absent = absent
        self.demand = Demand(book, scene)
        self.horizon = min(HORIZON, book.max_steps - scene.step)
        self.tried: dict[Draft, Plan] = {}

    def play(self, draft: Draft) -> Plan:
        """The plan of this draft, played ahead once."""
        if draft not in self.tried:
            toward = {i: self.book.number[where] for i, (what, where) in draft.errands if what == "bring"}
            work = Work(self.book, self.scene, draft.wishes, toward)
            errands = dict(draft.errands)
            rollout = Rollout(
                self.book, self.scene, work, draft.style, self.idle, errands, draft.passing, self.absent
            )
            rollout.run(self.horizon)
            value = self.demand.value(rollout, draft.wishes, self.horizon)
            self.tried[draft] = Plan(draft, rollout, value)
        return self.tried[draft]

    def by_deadline(self) -> tuple[str, ...]:
        """Orders that can still be met, the most urgent first, then dishes to have in stock."""
        lives = self.demand.standing
        met = [
            (life, dish)
            for dish in self.book.dishes
            for life in lives.get(dish, ())
            if self.book.recipes[dish].span * 0.5 < life
        ]
        return self.filled([dish for _, dish in sorted(met)])

    def filled(self, wishes: Sequence[str]) -> tuple[str, ...]:
        """The wishes and after them dishes for the stock, until all hands have enough to do."""
        agents = len(self.scene.agents) - len(self.idle)
        work = agents * self.horizon * 1.15
        found: list[str] = []
        open_orders = {dish: len(lives) for dish, lives in self.demand.standing.items()}
        count: Counter[str] = Counter(self.demand.stock)
        for dish in wishes:
            self._count(dish, open_orders, count)
            found.append(dish)
            work -= self.book.recipes[dish].work
        while work > 0 or len(found) < len(self.book.dishes):
            dish = max(self.book.dishes, key=lambda d: (self._gain(d, count), d))
            count[dish] += 1
            found.append(dish)
            work -= self.book.recipes[dish].work
        return tuple(found)

    def _count(self, dish: str, open_orders: dict[str, int], count: Counter[str]) -> None:
        if open_orders.get(dish, 0) > 0:
            open_orders[dish] -= 1
        else:
            count[dish] += 1

    def _gain(self, dish: str, count: Counter[str]) -> float:
        """Worth per command of one more of this dish in stock."""
        recipe = self.book.recipes[dish]
        return self.demand.later(dish, recipe.span, count[dish] + 1) / recipe.work

    def best(self, start: Draft | None, tries: int, rng: Random) -> Plan:
        """The best of so many plans, found by changing the best one so far."""
        best = self.play(Draft(self.by_deadline(), Style()))
        if start is not None:
            kept = self.play(replace(start, wishes=self.filled(start.wishes)))
            if kept.value > best.value - MARGIN:
                best = kept
        margin = MARGIN
        for _ in range(tries):
            plan = self.play(self._changed(best.draft, rng))
            if plan.value > best.value + margin:
                best = plan
                margin = 1e-9
        return best

    def _changed(self, draft: Draft, rng: Random) -> Draft:
        wishes = list(draft.wishes)
        kind = rng.random()
        if kind < 0.15:
            style = Style(rng.randrange(4), rng.randrange(3), rng.random() < 0.5)
            return replace(draft, style=style)
        if kind < 0.3 and draft.errands:
            errands = list(draft.errands)
            errands.pop(rng.randrange(len(errands)))
            return replace(draft, errands=tuple(errands))
        if kind < PASSING:
            agent = rng.randrange(len(self.scene.agents))
            passing = set(draft.passing) ^ {agent}
            return replace(draft, passing=tuple(sorted(passing)))
        if kind < 0.65 and len(wishes) > 1:
            place = min(rng.randrange(len(wishes)), rng.randrange(len(wishes)))
            dish = wishes.pop(rng.randrange(len(wishes)))
            wishes.insert(place, dish)
        elif kind < 0.8:
            wishes.insert(rng.randrange(min(4, len(wishes) + 1)), rng.choice(self.book.dishes))
        else:
            wishes.pop(rng.randrange(min(4, len(wishes))))
            wishes = list(self.filled(wishes))
        return replace(draft, wishes=tuple(wishes))
