"""What the orders of a scheme tell of conditions beside position and carry-over: the columns of the mixed
model of the analysis, and their sums of squares."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from kitchen.contract.seeds import derived_seed
from study.design.orders.random import random_order
from study.design.orders.registry import sequences
from study.planning.power.plan import MOST_PEOPLE
from study.planning.power.simulate import Array

SEED = 20231


def information(k: int, scheme: str, people: int) -> tuple[Array, Array]:
    """X'X, and X'1 1'X summed over participants, of so many (columns x columns each). Columns 1 to k - 1 are
    the conditions. Those beyond MOST_PEOPLE tell as much as those before."""
    counted = min(people, MOST_PEOPLE)
    whole, sums = _summed(k, scheme)
    return whole[counted - 1] * (people / counted), sums[counted - 1] * (people / counted)


def independent(matrix: Array) -> list[int]:
    """Places of columns that do not follow from those before them, as in the model."""
    kept: list[int] = []
    for place in range(len(matrix)):
        if _apart(matrix, kept, place) > 1e-9 * max(matrix[place, place], 1e-300):
            kept.append(place)
    return kept


def _apart(matrix: Array, kept: Sequence[int], place: int) -> float:
    """What of a column's information does not follow from those that are kept."""
    across = matrix[np.ix_(kept, [place])]
    taken = across.T @ np.linalg.solve(matrix[np.ix_(kept, kept)], across) if kept else np.zeros((1, 1))
    return float(matrix[place, place] - taken[0, 0])


@lru_cache(maxsize=16)
def _summed(k: int, scheme: str) -> tuple[Array, Array]:
    """Both of the first so many participants (each MOST_PEOPLE x columns x columns)."""
    columns = [_columns(order) for order in _orders(k, scheme)]
    sums = [one.sum(axis=0) for one in columns]
    return (
        np.cumsum([one.T @ one for one in columns], axis=0),
        np.cumsum([np.outer(one, one) for one in sums], axis=0),
    )


def _orders(k: int, scheme: str) -> list[Sequence[str]]:
    """Orders of MOST_PEOPLE participants: full blocks one after another, or each by chance."""
    names = [str(place) for place in range(k)]
    if block := sequences(scheme, names):
        mixed = random_order([str(place) for place in range(len(block))], SEED)
        return [block[int(mixed[who % len(block)])].order for who in range(MOST_PEOPLE)]
    return [random_order(names, derived_seed(SEED, "order", who)) for who in range(MOST_PEOPLE)]


def _columns(order: Sequence[str]) -> Array:
    """Of one participant, in this order: intercept, conditions in deviations from their mean (the last
    is minus 1 in all), position, the condition before likewise (Jones and Kenward 2014, section 5)."""
    k = len(order)
    deviations = np.vstack([np.eye(k - 1), -np.ones(k - 1)])
    now = deviations[[int(one) for one in order]]
    before = np.vstack([np.zeros(k - 1), now[:-1]])
    return np.column_stack([np.ones(k), now, np.arange(k) - (k - 1) / 2, before])
