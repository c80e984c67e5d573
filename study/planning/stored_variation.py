"""Estimate how much the values of a measure vary and correlate in a study's data, for the sample-size page.

Only differences within conditions count, so the estimates do not show which condition has higher values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from study.analysis.statistics.observations import MeasureTable
from study.analysis.statistics.run_analysis import Analysis
from study.analysis.statistics.within.complete_cases import complete_cases, values_by_participant
from study.analysis.statistics.within.repeated_measures_anova import epsilons_of
from study.analysis.statistics.within.type_three_sums import orthonormal_contrasts

FEWEST_PEOPLE = 5
"""Minimum number of participants; fewer tell too little about a correlation."""


class StoredVariation(NamedTuple):
    """The variation of one measure in the data of a study."""

    measure: str
    """The label of the measure."""
    people: int
    deviation: float
    """The standard deviation within conditions, in the measure's unit."""
    correlation: float
    """The mean correlation of two values of one participant, at least 0."""
    epsilon: float | None
    """Box's measure of sphericity (Greenhouse and Geisser). None if too few participants have all
    conditions."""


def stored_variations(analysis: Analysis) -> list[StoredVariation]:
    """Return the variation of each measure that the analysis tests and that varies. Exploratory measures are
    left out."""
    tables = (one.table for one in analysis.measures if not one.measure.exploratory)
    return [found for table in tables if (found := measure_variation(table))]


def measure_variation(table: MeasureTable) -> StoredVariation | None:
    """Return the variation of a measure. Return None for fewer than FEWEST_PEOPLE participants with two
    values, or without variation."""
    residuals = _residuals(table)
    pairs = [one for values in residuals for one in combinations(values, 2)]
    people = sum(len(values) > 1 for values in residuals)
    free = sum(map(len, residuals)) - len({row.condition for row in table.observations})
    if people < FEWEST_PEOPLE or free <= 0:
        return None
    variance = sum(value**2 for values in residuals for value in values) / free
    if variance <= 0:
        return None
    correlation = sum(a * b for a, b in pairs) / len(pairs) / variance
    bounded = min(max(correlation, 0.0), 0.99)
    return StoredVariation(table.measure.label, people, variance**0.5, bounded, _epsilon(table))


def _residuals(table: MeasureTable) -> list[Sequence[float]]:
    """Return each participant's differences from the means of the conditions."""
    means = {one.key: np.mean(table.values(one.key)) for one in table.conditions if table.values(one.key)}
    return [
        [float(value - means[key]) for key, value in values.items()]
        for values in values_by_participant(table).values()
    ]


def _epsilon(table: MeasureTable) -> float | None:
    cases = complete_cases(table)
    people, k = cases.values.shape
    if k < 3 or people < max(FEWEST_PEOPLE, k + 1):
        return None
    contrasts = orthonormal_contrasts([k], (0,))
    covariance = np.cov(cases.values @ contrasts, rowvar=False)
    return epsilons_of(covariance, people - 1)[0] if np.trace(covariance) > 0 else None
