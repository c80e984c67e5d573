"""Define which conditions a participant plays, and generate the sequences of conditions for a group.

By default everybody plays all conditions. A plan can instead give each participant one condition of each
level of a factor, or a balanced subset (balanced incomplete blocks). A plan can also keep the conditions of a
level together. The next participant gets a sequence that evens out how often each condition is played. The
module does not import Django.
"""

# Balanced incomplete blocks: R. C. Bose (1939), On the construction of balanced incomplete block designs,
# Annals of Eugenics 9, 353-399. All subsets of k of n conditions are such a design, but are often too many.
# Then cyclic designs are searched (J. A. John and E. R. Williams 1995, Cyclic and computer generated
# designs):
# base subsets are shifted through all conditions. Each condition comes equally often; pairs come as equally
# often as the search finds.

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb, gcd
from typing import Any, NamedTuple

from kitchen.contract.canonical_json import derived_seed
from study.design.between_groups import conditions_of_group
from study.design.counterbalancing import (
    OrderSequence,
    SchemeError,
    SequenceTally,
    assign_order,
    get_scheme,
    random_order,
    scheme_sequences,
)
from study.design.factors import Factor

MOST_SUBSETS = 120
"""All subsets are used if there are at most this many. Otherwise a smaller design is searched."""
SEARCHED = 400
"""The number of cyclic designs that the search compares."""
Subset = tuple[int, ...]
"""Numbers of the conditions that one participant plays, from 0."""


class RoundPlan(NamedTuple):
    """Which conditions each participant of a group plays, and in which orders.

    Equal plans give equal sequences with equal ids.
    """

    scheme: str
    """The name of the order scheme, a key of `counterbalancing.SCHEMES`."""
    conditions: tuple[str, ...]
    """The keys of the group's conditions."""
    seed: int
    group: str = ""
    """The between-subjects group that plays the conditions; empty without groups."""
    blocks: tuple[tuple[str, ...], ...] = ()
    """The conditions by level of a factor. If given, each participant plays one of each block or, with
    `together`, all conditions of a block one after the other."""
    together: bool = False
    rounds: int = 0
    """The number of conditions that each participant plays as a balanced subset. 0 for all."""

    @property
    def is_plain(self) -> bool:
        """Return True if everybody plays all conditions in an order of the scheme alone."""
        return not self.blocks and not self.rounds


def round_plan(
    conditions: Iterable[Any],
    factors: Sequence[Factor],
    *,
    scheme: str,
    seed: int,
    group: str = "",
    one_round_per: str = "",
    blocked_by: str = "",
    rounds: int | None = None,
) -> RoundPlan:
    """Return the plan for the participants of a between-subjects group. `group` is empty without groups.

    `conditions` have the attributes `key`, `between_group` and `levels`. `one_round_per` and `blocked_by` are
    keys of factors or empty. Keys of factors that do not exist are ignored. Each group has its own seed for
    breaking ties.
    """
    played = conditions_of_group(conditions, group)
    split = next((one for one in factors if one.key == (one_round_per or blocked_by)), None)
    own = derived_seed(seed, "orders of group", group) if group else seed
    blocks = [
        tuple(one.key for one in played if split and one.levels.get(split.key) == level.key)
        for level in (split.levels if split else ())
    ]
    return RoundPlan(
        scheme,
        tuple(one.key for one in played),
        own,
        group,
        blocks=tuple(filter(None, blocks)),
        together=bool(split and not one_round_per),
        rounds=rounds or 0,
    )


def _rounds_problem(plan: RoundPlan) -> str:
    most = len(plan.conditions)
    if most < 2:
        return "Add another condition, or choose no number of rounds: each participant plays in two at least."
    number = "2" if most == 2 else f"2 to {most}"
    return f"Each participant can play {number} rounds, not {plan.rounds}."


def plan_problem(plan: RoundPlan) -> str:
    """Return why the plan cannot be carried out. Return an empty string if it can be."""
    if plan.rounds and plan.blocks:
        return "Choose either one round for each level, or a number of rounds."
    if plan.rounds and not 2 <= plan.rounds <= len(plan.conditions):
        return _rounds_problem(plan)
    if plan.blocks and len({len(block) for block in plan.blocks}) > 1:
        return "The levels of the factor have different numbers of conditions."
    if plan.blocks and sum(map(len, plan.blocks)) < len(plan.conditions):
        return "Some conditions have no level of the factor."
    return get_scheme(plan.scheme).problem(_ordered_number(plan))


def _ordered_number(plan: RoundPlan) -> int:
    """Return for how many things the scheme must generate orders: conditions, or blocks that stay
    together."""
    if plan.blocks:
        return max(len(plan.blocks), len(plan.blocks[0]) if plan.together else 0)
    return plan.rounds or len(plan.conditions)


def even_number(plan: RoundPlan) -> int:
    """Return the number of participants of the group with which the plan is balanced: all of its sequences
    or, if each participant plays a subset, all of its subsets. 0 for random orders of all conditions."""
    if plan.is_plain:
        return get_scheme(plan.scheme).block(len(plan.conditions))
    subsets = len({frozenset(one.order) for one in plan_sequences(plan)})
    return subsets if subsets > 1 else len(plan_sequences(plan))


def rounds_of(plan: RoundPlan) -> int:
    """Return how many rounds each participant plays."""
    if plan.blocks and not plan.together:
        return len(plan.blocks)
    return plan.rounds or len(plan.conditions)


def condition_shares(plans: Sequence[RoundPlan]) -> dict[str, float]:
    """Return the expected fraction of all participants who play each condition, by key. `plans` has the plan
    of each between-subjects group; groups are equally large."""
    shares: dict[str, float] = {}
    for plan in plans:
        for key in plan.conditions:
            own = rounds_of(plan) / len(plan.conditions) / len(plans)
            shares[key] = shares.get(key, 0.0) + own
    return {key: round(share, 9) for key, share in shares.items()}


@lru_cache(maxsize=64)
def plan_sequences(plan: RoundPlan) -> tuple[OrderSequence, ...]:
    """Return all sequences of the plan, numbered from 1. The result is empty if the scheme is random and
    everybody plays all conditions.

    Raises UnknownNameError for an unknown scheme, and SchemeError for a plan that cannot be carried out.
    """
    if problem := plan_problem(plan):
        raise SchemeError(problem)
    if plan.is_plain:
        return scheme_sequences(plan.scheme, plan.conditions)
    orders = _kept_together(plan) if plan.together else _ordered_subsets(plan)
    return tuple(OrderSequence(number, order) for number, order in enumerate(orders, start=1))


def _kept_together(plan: RoundPlan) -> Iterator[tuple[str, ...]]:
    """Yield orders in which the conditions of a block follow one another. Blocks and conditions within them
    have the orders of the scheme."""
    within = _scheme_orders(plan.scheme, len(plan.blocks[0]))
    for blocks in _scheme_orders(plan.scheme, len(plan.blocks)):
        for first in range(len(within)):
            yield tuple(
                plan.blocks[block][place]
                for number, block in enumerate(blocks)
                for place in within[(first + number) % len(within)]
            )


def _ordered_subsets(plan: RoundPlan) -> Iterator[tuple[str, ...]]:
    """Yield each subset in each order of the scheme."""
    if plan.blocks:
        chosen = [
            tuple(block[place] for block, place in zip(plan.blocks, places, strict=True))
            for places in one_per_block(len(plan.blocks), len(plan.blocks[0]))
        ]
    else:
        chosen = [
            tuple(plan.conditions[place] for place in places)
            for places in balanced_subsets(len(plan.conditions), plan.rounds)
        ]
    for subset in chosen:
        for order in _scheme_orders(plan.scheme, len(subset)):
            yield tuple(subset[place] for place in order)


def _scheme_orders(scheme: str, n: int) -> list[tuple[int, ...]]:
    """Return the orders of the numbers 0 to n - 1 in one block of a scheme. A random scheme has the one order
    0, 1, 2 … here; `assign_sequence` shuffles it."""
    names = [str(number) for number in range(n)]
    found = [tuple(map(int, one.order)) for one in scheme_sequences(scheme, names)]
    return found or [tuple(range(n))]


def one_per_block(blocks: int, size: int) -> list[Subset]:
    """Return choices of one place (0 to size - 1) in each of several blocks. Over all choices, each place of
    each block comes equally often. Within a choice, the places come as equally often as possible."""
    steps = [step for step in range(1, max(size, 2)) if gcd(step, size) == 1]
    rows = (
        tuple((step * block + shift) % size for block in range(blocks))
        for step in steps
        for shift in range(size)
    )
    return list(dict.fromkeys(rows))


@lru_cache(maxsize=64)
def balanced_subsets(n: int, k: int) -> tuple[Subset, ...]:
    """Return subsets of k of n conditions in which each condition comes equally often. Each pair of
    conditions comes equally often, too, if all subsets are few enough or the search finds such a design."""
    if comb(n, k) <= MOST_SUBSETS:
        return tuple(combinations(range(n), k))
    chance = random.Random(derived_seed(0, "balanced subsets", n, k))  # noqa: S311 - not a secret
    found: tuple[int, tuple[Subset, ...]] | None = None
    for bases in (1, 2, 3):
        for _ in range(SEARCHED // 3):
            rows = tuple(
                row
                for base in (chance.sample(range(n), k) for _ in range(bases))
                for row in dict.fromkeys(
                    tuple(sorted((place + shift) % n for place in base)) for shift in range(n)
                )
            )
            spread = max(counts := pair_counts(rows, n)) - min(counts)
            if found is None or spread < found[0]:
                found = spread, rows
        if found and not found[0]:
            break
    assert found is not None  # noqa: S101 - the loop ran
    return found[1]


def pair_counts(subsets: Iterable[Subset], n: int) -> list[int]:
    """Return how many subsets contain each pair of the n conditions."""
    counts = Counter(pair for subset in subsets for pair in combinations(sorted(subset), 2))
    return [counts[pair] for pair in combinations(range(n), 2)]


def assign_sequence(
    plan: RoundPlan, used: Mapping[int, SequenceTally], *, number: int, seed: int | None = None
) -> OrderSequence:
    """Return the sequence of the next participant. `used` has the numbers of participants by sequence id.
    `number` is the participant's number. `seed` is that of the draws; the default is the plan's.

    If everybody plays all conditions, `assign_order` decides. Otherwise one of the sequences with the fewest
    participants is chosen: the one whose conditions were played least, so far at these positions. Ties are
    broken at random. Raises UnknownNameError and SchemeError as `plan_sequences` does.
    """
    seed = plan.seed if seed is None else seed
    if plan.is_plain:
        return assign_order(plan.scheme, plan.conditions, used, seed=seed, number=number)
    sequences = plan_sequences(plan)
    filled = {one.id: used.get(one.id, SequenceTally()).filled for one in sequences}
    played = Counter(_weighted((key, filled[one.id]) for one in sequences for key in one.order))
    placed = Counter(
        _weighted((place, filled[one.id]) for one in sequences for place in enumerate(one.order))
    )
    followed = Counter(_weighted((pair, filled[one.id]) for one in sequences for pair in pairwise(one.order)))
    chance = random.Random(derived_seed(seed, "sequence", sum(filled.values())))  # noqa: S311

    def imbalance(one: OrderSequence) -> tuple[float, ...]:
        return (
            sum(played[key] for key in one.order),
            sum(placed[place] for place in enumerate(one.order)),
            filled[one.id],
            sum(followed[pair] for pair in pairwise(one.order)),
            chance.random(),
        )

    chosen = min(sequences, key=imbalance)
    if get_scheme(plan.scheme).block(len(chosen.order)):
        return chosen
    return _shuffled(plan, chosen, derived_seed(seed, "order", number))


def _weighted(counts: Iterable[tuple[object, int]]) -> dict[object, int]:
    """Return the sum of the counts of each thing."""
    total: Counter[object] = Counter()
    for thing, count in counts:
        total[thing] += count
    return dict(total)


def _shuffled(plan: RoundPlan, one: OrderSequence, seed: int) -> OrderSequence:
    """Return the sequence in a random order, which the seed determines. Blocks that are played together stay
    together."""
    if not plan.together:
        return OrderSequence(one.id, tuple(random_order(one.order, seed)))
    blocks = random_order([str(place) for place in range(len(plan.blocks))], seed)
    order = [
        key for place in blocks for key in random_order(plan.blocks[int(place)], derived_seed(seed, place))
    ]
    return OrderSequence(one.id, tuple(order))


def condition_counts(plan: RoundPlan, used: Mapping[int, SequenceTally]) -> dict[str, SequenceTally]:
    """Return how many participants finished, and how many still play, each condition. `used` has these
    numbers by sequence id."""
    totals = {key: [0, 0] for key in plan.conditions}
    for one in plan_sequences(plan):
        tally = used.get(one.id, SequenceTally())
        for key in one.order:
            totals[key][0] += tally.finished
            totals[key][1] += tally.playing
    return {key: SequenceTally(*counts) for key, counts in totals.items()}
