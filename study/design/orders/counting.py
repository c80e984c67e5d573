"""How balanced orders are: what comes at which position, what follows what, how many people fill a scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations


def positions(orders: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """For every condition, how often it comes at the first position, the second, and so on."""
    rows = [list(order) for order in orders]
    longest = max(map(len, rows), default=0)
    counts = Counter((condition, place) for row in rows for place, condition in enumerate(row))
    return {
        condition: tuple(counts[condition, place] for place in range(longest)) for condition in _named(rows)
    }


def carry_over(orders: Iterable[Sequence[str]]) -> dict[tuple[str, str], int]:
    """For every two conditions (before, after), how often the second comes directly after the first."""
    rows = [list(order) for order in orders]
    counts = Counter(pair for row in rows for pair in pairwise(row))
    return {pair: counts[pair] for pair in permutations(_named(rows), 2)}


def even_numbers(block: int, around: int, *, below: int = 1, above: int = 3) -> tuple[int, ...]:
    """Numbers of participants that fill a scheme evenly: multiples of the block near `around`.

    The first number from `around` on, up to `below` of those under it and `above` over it, ascending. Without
    blocks (0) every number does.
    """
    step = max(block, 1)
    first = rounded_up(step, around) // step
    return tuple(blocks * step for blocks in range(max(first - below, 1), first + above + 1))


def rounded_up(block: int, people: int) -> int:
    """The smallest number from `people` on that fills the scheme evenly; one block at least."""
    step = max(block, 1)
    return max(-(-people // step), 1) * step


def _named(rows: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(condition for row in rows for condition in row))
