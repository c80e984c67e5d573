"""Compute how equally a plan of rounds uses its conditions, positions and successions.

The first participants are assigned as in a study without drop-outs, and their rounds are counted. The module
does not import Django.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, permutations, product
from typing import NamedTuple

from study.design.counterbalancing import SequenceTally
from study.design.round_plans import RoundPlan, assign_sequence, even_number, plan_sequences, rounds_of

MOST_ASSIGNED = 120
"""The most participants whose assignment is computed."""


class Spread(NamedTuple):
    """The smallest and the largest of several counts."""

    least: int
    most: int

    @property
    def difference(self) -> int:
        """Return the largest difference of two counts."""
        return self.most - self.least


class PlanBalance(NamedTuple):
    """How often the first `people` participants of a group play each condition, at each position, and
    directly after each other condition."""

    people: int
    conditions: Spread
    positions: Spread
    followers: Spread


def balance_sizes(plan: RoundPlan) -> tuple[int, ...]:
    """Return the numbers of participants for which the balance is worth stating, in ascending order. They are
    the number with which conditions are played equally often, and the number of all sequences."""
    sizes = {even_number(plan), len(plan_sequences(plan))}
    return tuple(sorted(size for size in sizes if 1 < size <= MOST_ASSIGNED)) or (MOST_ASSIGNED,)


@lru_cache(maxsize=64)
def plan_balance(plan: RoundPlan, people: int) -> PlanBalance:
    """Return how equally the first `people` participants of the group use the conditions, if nobody drops
    out.

    Raises UnknownNameError and SchemeError as `plan_sequences` does.
    """
    used: Counter[int] = Counter()
    orders = []
    for number in range(1, people + 1):
        tallies = {id: SequenceTally(finished=count) for id, count in used.items()}
        one = assign_sequence(plan, tallies, number=number)
        used[one.id] += 1
        orders.append(one.order)
    return PlanBalance(
        people,
        _spread([key for order in orders for key in order], plan.conditions),
        _spread(
            [place for order in orders for place in enumerate(order)],
            product(range(rounds_of(plan)), plan.conditions),
        ),
        _spread([pair for order in orders for pair in pairwise(order)], permutations(plan.conditions, 2)),
    )


def _spread(observed: Sequence[object], possible: Iterable[object]) -> Spread:
    """Return how often the rarest and the most frequent of the possible things occur."""
    found = Counter(observed)
    counts = [found[one] for one in possible]
    return Spread(min(counts, default=0), max(counts, default=0))
