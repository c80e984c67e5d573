"""Generate orders in which participants play the conditions, and choose the order of the next participant.

The order schemes are balanced Latin squares (Williams 1949), all permutations, one fixed order, and random
orders. A *block* has each order of a scheme once. A *sequence* is one order of a block. Sequences with the
fewest participants are assigned first. If a participant drops out, times out, withdraws or is excluded, the
sequence is assigned again. The module also measures how balanced the orders are. It does not import Django.
"""

# The schemes are balanced Latin squares (Williams designs), all permutations, one fixed order, and random
# orders. The module is plain Python, without Django.
#
# Balanced Latin squares: E. J. Williams (1949), Experimental designs balanced for the estimation of residual
# effects of treatments, Australian Journal of Scientific Research A 2, 149-168. An even number of conditions
# needs one square. An odd number needs two; the second has the reversed orders of the first.
#
# Random orders: MindAgent (arXiv 2309.09971), section 5.
#
# A *sequence* is one order, with a number in its block. It is held by the participants who finished it or
# still take part. If somebody drops out, times out, withdraws or is excluded, their sequence is assigned
# again. Sequences with the fewest participants are assigned first. Without drop-outs, the numbers of
# participants with two sequences never differ by more than one. After drop-outs, only as many more people are
# needed as there are gaps.

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from math import factorial

from kitchen.contract.canonical_json import derived_seed
from kitchen.registry.dotted_paths import registry_entry


class SchemeError(ValueError):
    """Raised for a scheme that cannot be used with these conditions. The message is for the researcher."""


@dataclass(frozen=True, slots=True)
class OrderSequence:
    """One order of all conditions, with its id."""

    id: int
    """The number within the block, from 1. It is 0 without a block. Equal lists of conditions give equal ids.
    """
    order: tuple[str, ...]


class OrderScheme:
    """A method that generates orders of conditions. A *block* contains each of the method's orders
    (sequences) once.

    This base class has no blocks and accepts any conditions.
    """

    label = ""
    """The scheme's name for researchers."""
    meaning = ""
    """One sentence that says which orders the scheme balances."""

    def problem(self, n: int) -> str:
        """Return why the scheme cannot be used for n conditions. Return an empty string if it can be used."""
        return ""

    def block(self, n: int) -> int:
        """Return the number of sequences in a block, the set that balances the order of n conditions. Return
        0 if the scheme has no blocks."""
        return 0

    def orders(self, conditions: Sequence[str]) -> Iterable[Sequence[str]]:
        """Return the orders of one block, a set of sequences that balances the order. The result is empty if
        the scheme has no blocks."""
        return ()


class WilliamsSquares(OrderScheme):
    """Williams squares: one square if the number of conditions is even, two if it is odd."""

    label = "Balanced (Williams squares)"
    meaning = (
        "Every condition comes equally often at every position and directly after every other condition, as "
        "soon as a block is full."
    )

    def block(self, n: int) -> int:
        return 2 * n if n % 2 and n > 1 else n

    def orders(self, conditions: Sequence[str]) -> Iterable[Sequence[str]]:
        n = len(conditions)
        square = [[conditions[(place + row) % n] for place in _first_row(n)] for row in range(n)]
        return [*square, *([row[::-1] for row in square] if self.block(n) > n else [])]


def _first_row(n: int) -> list[int]:
    """Return the numbers 0, 1, n-1, 2, n-2, and so on. If `n` is even, the differences between neighbours
    are all different modulo `n`."""
    return [0, *((place + 1) // 2 if place % 2 else n - place // 2 for place in range(1, n))]


class FixedOrder(OrderScheme):
    """One order for everybody: the order in which the conditions are listed."""

    label = "Fixed"
    meaning = (
        "Everybody plays the conditions in the order in which they are listed: conditions and positions "
        "cannot be told apart in the analysis."
    )

    def block(self, n: int) -> int:
        return min(n, 1)

    def orders(self, conditions: Sequence[str]) -> Iterable[Sequence[str]]:
        return [conditions] if conditions else []


MOST = 6
"""The most conditions of `AllPermutations`. Six have 720 orders, seven 5040: more than any study fills."""


class AllPermutations(OrderScheme):
    """All possible orders of the conditions, in the sequence of `itertools.permutations`."""

    label = "All permutations"
    meaning = "Every possible order comes equally often, as soon as a block is full."

    def problem(self, n: int) -> str:
        if n <= MOST:
            return ""
        return (
            f"{n} conditions have {factorial(n)} orders, more than a study has participants. "
            f"All permutations are for up to {MOST} conditions; take the balanced scheme."
        )

    def block(self, n: int) -> int:
        return factorial(n) if n else 0

    def orders(self, conditions: Sequence[str]) -> Iterable[Sequence[str]]:
        return permutations(conditions) if conditions else ()


class RandomOrders(OrderScheme):
    """Random orders without blocks. `random_order` derives each participant's order from a seed."""

    label = "Random"
    meaning = "Each participant's order is shuffled by chance; positions are balanced only on average."


SCHEMES: dict[str, OrderScheme] = {
    "balanced": WilliamsSquares(),
    "fixed": FixedOrder(),
    "permutations": AllPermutations(),
    "random": RandomOrders(),
}


def get_scheme(name: str) -> OrderScheme:
    """Return the scheme with this name. Raises UnknownNameError if there is none."""
    return registry_entry(SCHEMES, name)


def scheme_choices() -> list[tuple[str, str]]:
    """Return (name, label) pairs of all order schemes, as the choices of a form field."""
    return [(name, scheme.label) for name, scheme in SCHEMES.items()]


def scheme_sequences(scheme: str, conditions: Sequence[str]) -> tuple[OrderSequence, ...]:
    """Return one full block of a scheme, the set of sequences that balances the order. They are numbered from
    1. The result is empty if the scheme has no blocks.

    The numbers depend on the order of `conditions`, so always pass the same order while a study runs. Raises
    UnknownNameError for an unknown scheme. Raises SchemeError if a condition is named twice or there are too
    many.
    """
    order_scheme = get_scheme(scheme)
    if len(set(conditions)) < len(conditions):
        raise SchemeError("A condition is named twice.")
    if problem := order_scheme.problem(len(conditions)):
        raise SchemeError(problem)
    orders = enumerate(order_scheme.orders(conditions), start=1)
    return tuple(OrderSequence(number, tuple(order)) for number, order in orders)


def random_order(conditions: Sequence[str], seed: int) -> list[str]:
    """Return all conditions in a random order that the seed determines."""
    return random.Random(seed).sample(list(conditions), len(conditions))  # noqa: S311 - not a secret


@dataclass(frozen=True, slots=True)
class SequenceTally:
    """The number of participants with one sequence who finished, and the number of those who still take part.

    Participants who left or were excluded are in neither number.
    """

    finished: int = 0
    playing: int = 0

    @property
    def filled(self) -> int:
        """Return how many participants will have this sequence if all active participants finish."""
        return self.finished + self.playing


def next_sequence(block_size: int, used: Mapping[int, SequenceTally], *, seed: int) -> int:
    """Return the id of the sequence for the next participant, from 1 to `block_size`. It is the sequence with
    the fewest participants. Raises SchemeError if the scheme has no block.

    Of several such sequences, the one that was finished least often is chosen, and then a random one. `seed`
    determines the random order, which differs between blocks. `used` holds the counts by sequence id; a
    missing sequence has no participants.
    """
    if block_size < 1:
        raise SchemeError("This scheme has no sequences to issue.")
    tallies = {id: used.get(id, SequenceTally()) for id in range(1, block_size + 1)}
    least = min(tally.filled for tally in tallies.values())
    chance = random.Random(derived_seed(seed, "sequence", least)).sample(range(block_size), block_size)  # noqa: S311
    return min(tallies, key=lambda id: (tallies[id].filled, tallies[id].finished, chance[id - 1]))


def next_group(groups: Sequence[str], used: Mapping[str, SequenceTally], *, seed: int) -> str:
    """Return the between-subjects group for the next participant: the one with the fewest participants. Ties
    are broken by a random order.

    `used` has the counts by group, `seed` is the study's seed. The result is empty if there are no groups.
    """
    if not groups:
        return ""
    held = {number: used.get(group, SequenceTally()) for number, group in enumerate(groups, start=1)}
    return groups[next_sequence(len(groups), held, seed=derived_seed(seed, "groups")) - 1]


def assign_order(
    scheme: str, conditions: Sequence[str], used: Mapping[int, SequenceTally], *, seed: int, number: int
) -> OrderSequence:
    """Return the order of conditions for the next participant: a sequence of the block or, if the scheme has
    no blocks, a random order with id 0.

    `seed` is the study's seed, `number` the participant's number. Both determine the random order. Raises
    UnknownNameError and SchemeError like `scheme_sequences`.
    """
    block = scheme_sequences(scheme, conditions)
    if block:
        return block[next_sequence(len(block), used, seed=seed) - 1]
    return OrderSequence(0, tuple(random_order(conditions, derived_seed(seed, "order", number))))


def position_counts(orders: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Return how often each condition comes at each position. The tuple of a condition has the counts of
    the first position, the second, and so on."""
    rows = [list(order) for order in orders]
    longest = max(map(len, rows), default=0)
    counts = Counter((condition, place) for row in rows for place, condition in enumerate(row))
    return {
        condition: tuple(counts[condition, place] for place in range(longest)) for condition in _named(rows)
    }


def carry_over_counts(orders: Iterable[Sequence[str]]) -> dict[tuple[str, str], int]:
    """Return, for each pair (before, after), how often the second condition directly follows the first."""
    rows = [list(order) for order in orders]
    counts = Counter(pair for row in rows for pair in pairwise(row))
    return {pair: counts[pair] for pair in permutations(_named(rows), 2)}


def balanced_sample_sizes(block: int, around: int, *, below: int = 1, above: int = 3) -> tuple[int, ...]:
    """Return numbers of participants near `around` that give every sequence equally often (multiples of the
    block size), in ascending order.

    The first multiple that is at least `around` is included, with up to `below` smaller ones and `above`
    larger ones. Without blocks (`block` is 0), every number qualifies.
    """
    step = max(block, 1)
    first = next_balanced_size(step, around) // step
    return tuple(blocks * step for blocks in range(max(first - below, 1), first + above + 1))


def next_balanced_size(block: int, people: int) -> int:
    """Return the smallest number of participants, at least `people`, that gives every sequence equally often.
    It is at least the block size."""
    step = max(block, 1)
    return max(-(-people // step), 1) * step


def _named(rows: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(condition for row in rows for condition in row))
