"""Order schemes of conditions (Williams squares, all permutations, one fixed order, random orders), the
next sequence to assign, and how balanced the orders are. Plain Python.

Williams squares: E. J. Williams (1949), Experimental designs balanced for the estimation of residual
effects of treatments, Australian Journal of Scientific Research A 2, 149-168. An even number of
conditions takes one square, an odd number a pair, the second being the first one read backwards. Random
orders: MindAgent, section 5.

A sequence counts as filled by participants who finished it or still play it. When somebody drops out,
times out, withdraws or is excluded, the sequence is assigned again. Missing sequences are filled first.
Without drop-outs no sequence is ever two ahead of another. After drop-outs it takes only as many more
people as there are gaps.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import factorial
from typing import Protocol

from kitchen.contract.canonical_json import derived_seed
from kitchen.registry.dotted_paths import load_named


class SchemeError(ValueError):
    """A scheme that cannot be used so; the message is for the researcher."""


@dataclass(frozen=True, slots=True)
class OrderSequence:
    """One way through all conditions."""

    id: int
    """From 1 on within the block, the same for the same conditions in the same order; 0 without a block."""
    order: tuple[str, ...]


class OrderScheme(Protocol):
    """A family of sequences. A *block* is all of them once; it is full when each has been played."""

    @property
    def label(self) -> str:
        """Its name as researchers read it."""

    @property
    def meaning(self) -> str:
        """What it balances, in one sentence."""

    def problem(self, n: int) -> str:
        """Why it cannot be used for n conditions, in words; empty if it can."""

    def block(self, n: int) -> int:
        """How many sequences a block has for n conditions; 0 if there are no blocks."""

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """One block; empty if there are no blocks."""


def numbered_sequences(orders: Sequence[Sequence[str]]) -> tuple[OrderSequence, ...]:
    """These orders as a block, numbered from 1."""
    return tuple(OrderSequence(number, tuple(order)) for number, order in enumerate(orders, start=1))


SCHEMES: dict[str, str] = {
    "balanced": "study.design.counterbalancing:WilliamsSquares",
    "fixed": "study.design.counterbalancing:FixedOrder",
    "permutations": "study.design.counterbalancing:AllPermutations",
    "random": "study.design.counterbalancing:RandomOrders",
}


def get_scheme(name: str) -> OrderScheme:
    """A scheme by its name; UnknownNameError if there is none."""
    scheme: OrderScheme = load_named(SCHEMES, name)()
    return scheme


def scheme_choices() -> list[tuple[str, str]]:
    """Names and labels, for a form."""
    return [(name, get_scheme(name).label) for name in SCHEMES]


def scheme_sequences(scheme: str, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
    """One full block of a scheme; empty if it has none.

    The ids hold for these conditions in this order, so give them in one that does not change in a running
    study.
    UnknownNameError for an unknown scheme; SchemeError if a condition is named twice or there
    are too many.
    """
    order_scheme = get_scheme(scheme)
    if len(set(conditions)) < len(conditions):
        raise SchemeError("A condition is named twice.")
    if problem := order_scheme.problem(len(conditions)):
        raise SchemeError(problem)
    return order_scheme.sequences(conditions)


class WilliamsSquares:
    """Williams squares for any number of conditions."""

    label = "Balanced (Williams squares)"
    meaning = (
        "Every condition comes equally often at every position and directly after every other condition, as "
        "soon as a block is full."
    )

    def problem(self, n: int) -> str:
        """There is a square for every number of conditions."""
        return ""

    def block(self, n: int) -> int:
        """n sequences, or 2 n if n is odd; 1 for one condition."""
        return 2 * n if n % 2 and n > 1 else n

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """The square, or the pair of squares."""
        n = len(conditions)
        square = [[conditions[(place + row) % n] for place in _first_row(n)] for row in range(n)]
        mirrored = [row[::-1] for row in square] if self.block(n) > n else []
        return numbered_sequences([*square, *mirrored])


def _first_row(n: int) -> list[int]:
    """0, 1, n-1, 2, n-2, ...: the steps from each to the next are all different modulo n (n even)."""
    return [0, *((place + 1) // 2 if place % 2 else n - place // 2 for place in range(1, n))]


class FixedOrder:
    """The conditions as they stand."""

    label = "Fixed"
    meaning = (
        "Everybody plays the conditions in the order in which they are listed: conditions and positions "
        "cannot be told apart in the analysis."
    )

    def problem(self, n: int) -> str:
        """Any number of conditions has an order."""
        return ""

    def block(self, n: int) -> int:
        """One sequence; 0 for no conditions."""
        return min(n, 1)

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """The one there is."""
        return numbered_sequences([conditions]) if conditions else ()


MOST = 6
"""Conditions: six have 720 orders, and a block of seven, 5040, is filled by no study."""


class AllPermutations:
    """All permutations, in the order in which itertools makes them."""

    label = "All permutations"
    meaning = "Every possible order comes equally often, as soon as a block is full."

    def problem(self, n: int) -> str:
        """Too many conditions have too many orders."""
        if n <= MOST:
            return ""
        return (
            f"{n} conditions have {factorial(n)} orders, more than a study has participants. "
            f"All permutations are for up to {MOST} conditions; take the balanced scheme."
        )

    def block(self, n: int) -> int:
        """n! sequences; 0 for no conditions."""
        return factorial(n) if n else 0

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """All of them."""
        return numbered_sequences(list(permutations(conditions))) if conditions else ()


def random_order(conditions: Sequence[str], seed: int) -> list[str]:
    """Every condition once, in an order that follows from the seed."""
    return random.Random(seed).sample(list(conditions), len(conditions))  # noqa: S311 - not a secret


class RandomOrders:
    """No blocks: `random_order` gives each participant's order from a seed."""

    label = "Random"
    meaning = "Each participant's order is shuffled by chance; positions are balanced only on average."

    def problem(self, n: int) -> str:
        """Any number of conditions can be shuffled."""
        return ""

    def block(self, n: int) -> int:
        """There are no blocks."""
        return 0

    def sequences(self, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
        """There are no blocks."""
        return ()


@dataclass(frozen=True, slots=True)
class SequenceTally:
    """How many participants hold one sequence. Those who are gone or left out are in neither number."""

    finished: int = 0
    playing: int = 0

    @property
    def filled(self) -> int:
        """How often it is filled if everybody who plays now finishes."""
        return self.finished + self.playing


def next_sequence(block_size: int, used: Mapping[int, SequenceTally], *, seed: int) -> int:
    """The id of the sequence to issue next, 1 to `block_size`.

    The least filled; among equals the one finished least often; among those, chance that follows from the
    seed and is drawn anew for every block. A missing id is unused; one outside the block does not count.
    SchemeError if there is no block.
    """
    if block_size < 1:
        raise SchemeError("This scheme has no sequences to issue.")
    tallies = {id: used.get(id, SequenceTally()) for id in range(1, block_size + 1)}
    least = min(tally.filled for tally in tallies.values())
    chance = _permutation(block_size, derived_seed(seed, "sequence", least))
    return min(tallies, key=lambda id: (tallies[id].filled, tallies[id].finished, chance[id - 1]))


def assign_order(
    scheme: str, conditions: Sequence[str], used: Mapping[int, SequenceTally], *, seed: int, number: int
) -> OrderSequence:
    """The order of the next participant: a sequence of the block, or with id 0 an order of their own.

    `seed` is the study's, `number` the participant's: without blocks the order follows from both.
    UnknownNameError and SchemeError as for `sequences`.
    """
    block = scheme_sequences(scheme, conditions)
    if block:
        return block[next_sequence(len(block), used, seed=seed) - 1]
    return OrderSequence(0, tuple(random_order(conditions, derived_seed(seed, "order", number))))


def _permutation(size: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(size), size)  # noqa: S311 - not a secret


def position_counts(orders: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """For every condition, how often it comes at the first position, the second, and so on."""
    rows = [list(order) for order in orders]
    longest = max(map(len, rows), default=0)
    counts = Counter((condition, place) for row in rows for place, condition in enumerate(row))
    return {
        condition: tuple(counts[condition, place] for place in range(longest)) for condition in _named(rows)
    }


def carry_over_counts(orders: Iterable[Sequence[str]]) -> dict[tuple[str, str], int]:
    """For every two conditions (before, after), how often the second comes directly after the first."""
    rows = [list(order) for order in orders]
    counts = Counter(pair for row in rows for pair in pairwise(row))
    return {pair: counts[pair] for pair in permutations(_named(rows), 2)}


def balanced_sample_sizes(block: int, around: int, *, below: int = 1, above: int = 3) -> tuple[int, ...]:
    """Numbers of participants that fill a scheme evenly: multiples of the block near `around`.

    The first number from `around` on, up to `below` of those under it and `above` over it, ascending. Without
    blocks (0) every number does.
    """
    step = max(block, 1)
    first = next_balanced_size(step, around) // step
    return tuple(blocks * step for blocks in range(max(first - below, 1), first + above + 1))


def next_balanced_size(block: int, people: int) -> int:
    """The smallest number from `people` on that fills the scheme evenly; one block at least."""
    step = max(block, 1)
    return max(-(-people // step), 1) * step


def _named(rows: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(condition for row in rows for condition in row))
