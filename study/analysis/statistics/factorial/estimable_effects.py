"""Build the design matrix of a factorial design that may lack cells, and the weights that test each effect.

A fraction of a factorial design lacks cells: they were not planned, or nobody has a value there. Then some
contrasts of its interactions cannot be estimated. Each effect is tested by the contrasts that can be (type
III). The tests are those of R's `lmerTest` and of SAS.
"""

# With missing cells, the weights of an effect are the estimable functions of its columns in the
# overparametrised model. They are orthogonal to those of the effects that contain it (Goodnight 1978, SAS
# technical report R-101).

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.type_three_sums import (
    Integers,
    Subset,
    deviation_codes,
    factorial_design,
    subsets,
)

SMALL = 1e-8
"""Weights below this number are rounding errors of 0."""


@dataclass(frozen=True, slots=True)
class EstimableDesign:
    """The design matrix `x` (values x columns) of full rank, with the intercept first.

    `tests` has the weights that test each effect, of shape (contrasts, columns). An effect that cannot be
    estimated has no contrasts. `lost` counts the contrasts of each effect that cannot be estimated. `cells`
    has the columns' values in each observed cell, by its level numbers.
    """

    x: Array
    tests: dict[Subset, Array]
    lost: dict[Subset, int]
    cells: dict[tuple[int, ...], Array]

    def mean_weights(self, counts: Sequence[int], at: Subset, levels: Sequence[int]) -> Array | None:
        """Return the weights of the mean at these levels of the factors `at`, over all other factors. Return
        None if a cell of it has no values. `counts` are the numbers of levels of all factors."""
        wanted = dict(zip(at, levels, strict=True))
        rows = [
            self.cells.get(place)
            for place in np.ndindex(*counts)
            if all(place[factor] == level for factor, level in wanted.items())
        ]
        known = [row for row in rows if row is not None]
        return np.mean(known, axis=0) if len(known) == len(rows) else None


def estimable_design(levels: Integers, counts: Sequence[int]) -> EstimableDesign:
    """Return the design of all factors and interactions. `levels` has shape (values, factors), with level
    numbers from 0. `counts` are the numbers of levels."""
    observed = sorted({tuple(row) for row in levels.tolist()})
    grid = np.array(observed, dtype=int).reshape(len(observed), len(counts))
    places = [observed.index(tuple(row)) for row in levels.tolist()]
    if len(observed) == int(np.prod(counts)):
        whole = factorial_design(grid, counts)
        tests = {
            one: differences([counts[i] for i in one]) @ np.eye(whole.x.shape[1])[own]
            for one, own in whole.places.items()
            if one
        }
        return EstimableDesign(
            whole.x[places], tests, dict.fromkeys(tests, 0), dict(zip(observed, whole.x, strict=True))
        )
    x, tests, lost = _fraction(grid, counts)
    return EstimableDesign(x[places], tests, lost, dict(zip(observed, x, strict=True)))


def differences(counts: Sequence[int]) -> Array:
    """Return what tests an effect of a design without missing cells: for each factor its levels minus the
    first, as weights of the effect's columns in deviation coding.

    F is the same for other weights that test the effect. The denominator's degrees of freedom are not; these
    are the weights of lmerTest.
    """
    found = np.ones((1, 1))
    for count in counts:
        codes = deviation_codes(np.arange(count), count)
        found = np.kron(found, codes[1:] - codes[0])
    return found


def _fraction(grid: Integers, counts: Sequence[int]) -> tuple[Array, dict[Subset, Array], dict[Subset, int]]:
    """Return the columns of the observed cells that do not depend on earlier ones, in treatment coding.

    Return also the tests of each effect, and the number of its contrasts that are lost.
    """
    effects = subsets(len(counts))
    treated = {one: _indicators(grid, counts, one, first=1) for one in effects}
    every = np.column_stack([_indicators(grid, counts, one, first=0) for one in effects])
    kept = {one: block.shape[1] for one, block in treated.items()}
    columns, x = _independent(np.column_stack(list(treated.values())))
    owners = [one for one in effects for _ in range(kept[one])]
    own = {one: [i for i, place in enumerate(columns) if owners[place] == one] for one in effects}
    weights = (np.linalg.pinv(x) @ every).T
    for one in sorted(effects[1:], key=len, reverse=True):
        above = [i for other in effects if set(one) < set(other) for i in own[other]]
        if above and own[one]:
            basis = weights[:, above]
            weights[:, own[one]] -= basis @ np.linalg.lstsq(basis, weights[:, own[one]], rcond=None)[0]
    names = _names(counts, effects, first=0)
    treated_names = _names(counts, effects, first=1)
    rows = weights[[names.index(treated_names[place]) for place in columns]]
    rows[np.abs(rows) < SMALL] = 0.0
    tests = {one: rows[:, own[one]].T for one in effects if one}
    tests = {one: block[np.abs(block).sum(axis=1) > SMALL] for one, block in tests.items()}
    return x, tests, {one: kept[one] - len(block) for one, block in tests.items()}


def _names(
    counts: Sequence[int], effects: Sequence[Subset], first: int
) -> list[tuple[Subset, tuple[int, ...]]]:
    """Return the (effect, levels) of the columns of `_indicators` for all effects."""
    return [
        (one, tuple(first + i for i in place))
        for one in effects
        for place in np.ndindex(*(counts[i] - first for i in one))
    ]


def _indicators(grid: Integers, counts: Sequence[int], effect: Subset, first: int) -> Array:
    """Return a column for each combination of the effect's levels from number `first` on: 1 in the cells that
    have it, else 0."""
    found = np.ones((len(grid), 1))
    for i in effect:
        own = (grid[:, i][:, None] == np.arange(first, counts[i])).astype(float)
        found = (found[:, :, None] * own[:, None, :]).reshape(len(grid), -1)
    return found


def _independent(x: Array) -> tuple[list[int], Array]:
    """Return the numbers of the columns that do not depend linearly on earlier ones, and these columns."""
    kept: list[int] = []
    for number in range(x.shape[1]):
        if np.linalg.matrix_rank(x[:, [*kept, number]]) > len(kept):
            kept.append(number)
    return kept, x[:, kept]
