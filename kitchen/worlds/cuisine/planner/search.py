"""Which dishes to wish for, in which order: rollouts of several lists, the best one wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

from kitchen.worlds.cuisine.planner.book import Book
from kitchen.worlds.cuisine.planner.manner import PLAYING, Manner
from kitchen.worlds.cuisine.planner.rollout import Rollout
from kitchen.worlds.cuisine.planner.scene import Scene
from kitchen.worlds.cuisine.planner.trips import Errand, Style
from kitchen.worlds.cuisine.planner.work import Lying, Work
from kitchen.worlds.cuisine.planner.worth import Demand

HORIZON = 60
"""Steps played ahead at most: the whole of the paper's episodes, so that a plan keeps its worth."""
NEAR = 4
"""Changes to the list of wishes are made among so many first ones."""
CHANGES = ("style", "errand", "passing", "helping", "order", "more", "less")
"""The ways in which a plan is changed to find a better one."""


class Draft(NamedTuple):
    """What makes a plan: dishes wished for in their order, a style, and errands to go on with."""

    wishes: tuple[str, ...]
    style: Style
    errands: tuple[tuple[int, Errand], ...] = ()
    passing: tuple[int, ...] = ()
    """Agents who pass over the first thing they would do next."""
    helping: tuple[int, ...] = ()
    """Agents who next start a tool that somebody else fills."""


class PlayedDraft(NamedTuple):
    """A draft and what became of it when played ahead."""

    draft: Draft
    rollout: Rollout
    value: float


class Search:
    """Tries plans for one scene."""

    def __init__(
        self,
        book: Book,
        scene: Scene,
        idle: Collection[int],
        absent: Collection[int] = (),
        manner: Manner = PLAYING,
    ) -> None:
        self.book = book
        self.manner = manner
        self.scene = scene
        self.idle = idle
        self.absent = absent
        self.lying = Lying(book, scene)
        self.demand = Demand(book, scene, manner.outlasts)
        self.horizon = min(HORIZON, book.max_steps - scene.step)
        self.tried: dict[Draft, PlayedDraft] = {}

    def play(self, draft: Draft) -> PlayedDraft:
        """The plan of this draft, played ahead once."""
        played = self.tried.get(draft)
        if played is None:
            toward = {i: self.book.number[where] for i, (what, where) in draft.errands if what == "bring"}
            work = Work(self.book, self.scene, self.lying, draft.wishes, toward)
            errands = dict(draft.errands)
            rollout = Rollout(
                self.book,
                self.scene,
                work,
                draft.style,
                self.idle,
                errands,
                draft.passing,
                draft.helping,
                self.absent,
            )
            rollout.run(self.horizon)
            value = self.demand.value(rollout, draft.wishes, self.horizon)
            played = self.tried[draft] = PlayedDraft(draft, rollout, value)
        return played

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
        dishes: list[str] = []
        open_orders = {dish: len(lives) for dish, lives in self.demand.standing.items()}
        count: Counter[str] = Counter(self.demand.stock)
        for dish in wishes:
            self._count(dish, open_orders, count)
            dishes.append(dish)
            work -= self.book.recipes[dish].work
        while work > 0 or len(dishes) < len(self.book.dishes):
            dish = max(self.book.dishes, key=lambda d: (self._gain(d, count), d))
            count[dish] += 1
            dishes.append(dish)
            work -= self.book.recipes[dish].work
        return tuple(dishes)

    def _count(self, dish: str, open_orders: dict[str, int], count: Counter[str]) -> None:
        if open_orders.get(dish, 0) > 0:
            open_orders[dish] -= 1
        else:
            count[dish] += 1

    def _gain(self, dish: str, count: Counter[str]) -> float:
        """Worth per command of one more of this dish in stock."""
        recipe = self.book.recipes[dish]
        return self.demand.later(dish, recipe.span, count[dish] + 1) / recipe.work

    def best(self, start: Draft | None, tries: int, rng: Random) -> PlayedDraft:
        """The best of so many plans, found by changing the best one so far."""
        best = self.play(Draft(self.by_deadline(), self.manner.style))
        if start is not None:
            kept = self.play(start._replace(wishes=self.filled(start.wishes)))
            if kept.value > best.value - self.manner.margin:
                best = kept
        margin = self.manner.margin
        for _ in range(tries):
            plan = self.play(self._changed(best.draft, rng))
            if plan.value > best.value + margin:
                best = plan
                margin = 1e-9
        return best

    def _changed(self, draft: Draft, rng: Random) -> Draft:
        """The draft with one change by chance."""
        change = rng.choices(CHANGES, cum_weights=self.manner.chances)[0]
        if change == "style":
            return draft._replace(style=self._other_style(rng))
        if change == "errand" and draft.errands:
            dropped = rng.randrange(len(draft.errands))
            return draft._replace(errands=draft.errands[:dropped] + draft.errands[dropped + 1 :])
        if change == "passing":
            return draft._replace(passing=self._one_other(draft.passing, rng))
        if change == "helping":
            return draft._replace(helping=self._one_other(draft.helping, rng))
        return draft._replace(wishes=self._other_wishes(list(draft.wishes), change, rng))

    def _other_style(self, rng: Random) -> Style:
        return Style(rng.randrange(4), rng.randrange(3), rng.random() < 0.5, self.manner.style.helps)

    def _one_other(self, agents: Collection[int], rng: Random) -> tuple[int, ...]:
        """These agents and one more, or one less."""
        return tuple(sorted(set(agents) ^ {rng.randrange(len(self.scene.agents))}))

    def _other_wishes(self, wishes: list[str], change: str, rng: Random) -> tuple[str, ...]:
        """Another order of the wishes, one wish more, or one less."""
        if change == "more":
            wishes.insert(rng.randrange(min(NEAR, len(wishes) + 1)), rng.choice(self.book.dishes))
        elif change == "less":
            wishes.pop(rng.randrange(min(NEAR, len(wishes))))
            return self.filled(wishes)
        else:
            place = min(rng.randrange(len(wishes)), rng.randrange(len(wishes)))
            wishes.insert(place, wishes.pop(rng.randrange(len(wishes))))
        return tuple(wishes)
