"""Whose turn it is: which sequence the next participant plays.

What balances a study are those who finish. So a sequence counts as filled by those who finished it and by
those who still play it. Whoever dropped out, timed out, withdrew or was excluded counts no more, and the
sequence is issued again. As long as people come, what is missing is filled first. Without drop-outs no
sequence is ever two ahead of another; after drop-outs it takes only as many more people as there are gaps.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.seeds import derived_seed
from study.design.orders.base import OrderSequence, SchemeError
from study.design.orders.random import random_order
from study.design.orders.registry import sequences


@dataclass(frozen=True, slots=True)
class Tally:
    """How many participants hold one sequence. Those who are gone or left out are in neither number."""

    finished: int = 0
    playing: int = 0

    @property
    def filled(self) -> int:
        """How often it is filled if everybody who plays now finishes."""
        return self.finished + self.playing


def next_sequence(block_size: int, used: Mapping[int, Tally], *, seed: int) -> int:
    """The id of the sequence to issue next, 1 to `block_size`.

    The least filled; among equals the one finished least often; among those, chance that follows from the
    seed and is drawn anew for every block. A missing id is unused; one outside the block does not count.
    SchemeError if there is no block.
    """
    if block_size < 1:
        raise SchemeError("This scheme has no sequences to issue.")
    tallies = {id: used.get(id, Tally()) for id in range(1, block_size + 1)}
    least = min(tally.filled for tally in tallies.values())
    chance = _permutation(block_size, derived_seed(seed, "sequence", least))
    return min(tallies, key=lambda id: (tallies[id].filled, tallies[id].finished, chance[id - 1]))


def issue(
    scheme: str, conditions: Sequence[str], used: Mapping[int, Tally], *, seed: int, number: int
) -> OrderSequence:
    """The order of the next participant: a sequence of the block, or with id 0 an order of their own.

    `seed` is the study's, `number` the participant's: without blocks the order follows from both.
    UnknownNameError and SchemeError as for `sequences`.
    """
    block = sequences(scheme, conditions)
    if block:
        return block[next_sequence(len(block), used, seed=seed) - 1]
    return OrderSequence(0, tuple(random_order(conditions, derived_seed(seed, "order", number))))


def _permutation(size: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(size), size)  # noqa: S311 - not a secret
