"""Compute type III sums of squares of designs with any number of factors, by multivariate contrasts.

Effects within participants are orthonormal contrasts between the cells that each participant has values in.
Each contrast is regressed on the design between participants, in deviation coding. The hypothesis matrix and
the error matrix of an effect give its sums of squares, and the covariance for the tests of sphericity.
"""

# This is the multivariate approach of O'Brien and Kaiser (1985), as in R's `car::Anova` with type III sums.
# In deviation coding the columns of an effect sum to 0 over the levels of each factor, so cells weigh alike.

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import helmert

from study.analysis.statistics.observations import SAME
from study.analysis.statistics.within.complete_cases import Array

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int_]]"
Subset: TypeAlias = tuple[int, ...]
"""Numbers of the factors of an effect, ascending. It is empty for the intercept."""


def subsets(count: int) -> list[Subset]:
    """Return all subsets of `count` factors, the empty one first, then in order of size."""
    return [one for size in range(count + 1) for one in combinations(range(count), size)]


def deviation_codes(levels: Integers, count: int) -> Array:
    """Return level numbers in deviation coding, as an array of shape (values, count - 1).

    The last level is coded as -1 in all columns.
    """
    whole = np.vstack([np.eye(count - 1), -np.ones((1, count - 1))])
    return np.asarray(whole[levels])


@dataclass(frozen=True, slots=True)
class FactorialDesign:
    """The design matrix of a full factorial. `x` has one row for each participant or value. `places` gives
    the columns of each effect; the intercept is the empty effect."""

    x: Array
    places: dict[Subset, list[int]]


def factorial_design(levels: Integers, counts: Sequence[int]) -> FactorialDesign:
    """Return the design matrix of all factors and their interactions, in deviation coding.

    `levels` has shape (rows, factors), with level numbers from 0. `counts` are the numbers of levels.
    """
    codes = [deviation_codes(levels[:, number], count) for number, count in enumerate(counts)]
    blocks = {one: _products((codes[number] for number in one), len(levels)) for one in subsets(len(counts))}
    places: dict[Subset, list[int]] = {}
    first = 0
    for one, block in blocks.items():
        places[one] = list(range(first, first + block.shape[1]))
        first += block.shape[1]
    return FactorialDesign(np.column_stack(list(blocks.values())), places)


def _products(codes: Iterable[Array], rows: int) -> Array:
    """Return the products of every column of one block with every column of the others, row by row."""
    found = np.ones((rows, 1))
    for block in codes:
        found = (found[:, :, None] * block[:, None, :]).reshape(rows, -1)
    return found


def orthonormal_contrasts(counts: Sequence[int], effect: Subset) -> Array:
    """Return the orthonormal contrasts of an effect within participants, as an array of shape (cells,
    contrasts).

    Cells are in row-major order of the factors, whose numbers of levels are `counts`. The contrasts average
    over factors outside the effect.
    """
    found = np.ones((1, 1))
    for number, count in enumerate(counts):
        part = helmert(count) if number in effect else np.full((1, count), count**-0.5)
        found = np.kron(found, part)
    return np.asarray(found.T)


@dataclass(frozen=True, slots=True)
class ContrastRegression:
    """The regression of contrasts on a design between participants. `estimates` has shape (columns,
    contrasts). `error` is the matrix of error sums of squares and products. `df` are its degrees of
    freedom."""

    estimates: Array
    unscaled: Array
    """The inverse of X'X."""
    error: Array
    df: int

    def hypothesis(self, places: Sequence[int]) -> Array:
        """Return the matrix of sums of squares and products of the effect with these columns."""
        b = self.estimates[places]
        return np.asarray(b.T @ np.linalg.solve(self.unscaled[np.ix_(places, places)], b))

    @property
    def covariance(self) -> Array:
        """Return the covariance matrix of the contrasts within the cells between participants."""
        return self.error / self.df


def regress_contrasts(values: Array, weights: Array, x: Array) -> ContrastRegression:
    """Regress contrasts of the values, minus their grand mean, on the columns of `x`. These columns must be
    linearly independent.

    `values` has shape (participants, cells), and `weights` (cells, contrasts). Residuals as small as rounding
    errors become 0.
    """
    contrasts = (values - values.mean()) @ weights
    unscaled = np.asarray(np.linalg.inv(x.T @ x), dtype=float)
    estimates = unscaled @ x.T @ contrasts
    left = contrasts - x @ estimates
    correction = unscaled @ x.T @ left  # a second step removes rounding errors
    left = left - x @ correction
    left = np.where(np.abs(left) <= 16 * SAME * float(np.abs(values).max()), 0.0, left)
    return ContrastRegression(estimates + correction, unscaled, left.T @ left, len(x) - x.shape[1])
