"""Contrasts within participants: pairs and planned ones, Holm's correction, effects with intervals.

A contrast is a sum of a participant's values, weighted; the weights are scaled so that it is a difference of
means. Its test against zero is the paired t test; its
error is that of these differences alone, so sphericity is not needed. Hedges' g is over the standard
deviation of the sums (d_z) with the exact correction of Hedges (1981); its interval inverts the noncentral t
(Smithson 2003), corrected alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr
from scipy.stats import chi
from scipy.stats import t as t_distribution

from kitchen.words.counting import and_list
from study.analysis.statistics.table import MeasureTable, NotComputable
from study.analysis.statistics.within.bayes import bayes_factor
from study.analysis.statistics.within.cells import FEWEST, Array, Cells, cells_of, same
from study.analysis.statistics.within.results import Contrast, Family, NoContrast
from study.design.testing import PlannedContrast

CONFIDENCE = 0.95
NODES = 400


def all_pairs_within(table: MeasureTable) -> Family:
    """Every two conditions that have values, the second less the first, corrected together."""
    known = [c for c in table.conditions if table.values(c.key)]
    pairs = [
        PlannedContrast(f"{b.label} \N{MINUS SIGN} {a.label}", {b.key: 1.0, a.key: -1.0})
        for a, b in combinations(known, 2)
    ]
    return family(table, pairs)


def family(table: MeasureTable, planned: Sequence[PlannedContrast]) -> Family:
    """These contrasts, in their order, corrected together after Holm; only those computed count."""
    found = [contrast(table, one.name, one.weights) for one in planned]
    computed = [one for one in found if isinstance(one, Contrast)]
    adjusted = iter(holm([one.p for one in computed]))
    return Family(
        tuple(replace(one, p_adjusted=next(adjusted)) if isinstance(one, Contrast) else one for one in found)
    )


def contrast(table: MeasureTable, name: str, weights: Mapping[str, float]) -> Contrast | NoContrast:
    """One contrast by key of condition, without a correction."""
    used = of_means(weights)
    cells = cells_of(table, tuple(used))
    sums = (
        cells.values @ np.array([used[c.key] for c in cells.conditions]) if len(cells.participants) else None
    )
    problem = _no_values(table, used) or _why_not(cells, used, sums)
    if problem or sums is None:
        return NoContrast(name, problem or NotComputable("no_data", "no condition has a value"))
    return _tested(name, used, sums, cells)


def of_means(weights: Mapping[str, float]) -> dict[str, float]:
    """These weights, whose sum is 0, scaled: those above 0 add up to 1 and those below to -1, so that the sum
    is a difference of means, in the measure's unit. Weights of 0 are not there."""
    half = sum(abs(weight) for weight in weights.values()) / 2
    return {key: weight / half for key, weight in weights.items() if weight}
