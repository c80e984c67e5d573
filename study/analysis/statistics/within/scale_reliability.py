"""Compute a scale's reliability: Cronbach's alpha, McDonald's omega, and item-rest correlations.

Alpha has the confidence interval of Feldt (1965). Omega comes from a model with one factor. The model is
fitted by maximum likelihood, as in R's factanal.
"""

# Alpha follows Cronbach (1951) with the interval of Feldt (1965). Omega is that of one factor (McDonald
# 1999): the share of the sum's variance that the factor explains. The factor is fitted by maximum likelihood
# as in Lawley and Maxwell (1971) and R's factanal.

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.stats import f as f_distribution

from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.result_types import Reliability, ScaleAnswers

CONFIDENCE = 0.95
LEAST = 0.005
"""Smallest unique variance of a standardised item, as in R's factanal."""


def reliability(answers: ScaleAnswers) -> Reliability | NotComputable:
    """Return the reliability of a scale, computed from rows without missing answers. Return NotComputable
    if the data do not allow it."""
    rows = np.array([row for row in answers.rows if None not in row], dtype=float)
    if problem := _why_not(rows, answers):
        return problem
    n, k = rows.shape
    covariance = np.cov(rows, rowvar=False)
    a, tail = alpha(covariance), (1 - CONFIDENCE) / 2
    wide = (1 - a) * f_distribution.ppf([1 - tail, tail], n - 1, (n - 1) * (k - 1))
    return Reliability(
        n=n,
        items=k,
        alpha=a,
        alpha_low=1 - float(wide[0]),
        alpha_high=1 - float(wide[1]),
        omega=omega(covariance) if k > 2 else None,
        item_rest=tuple(zip(answers.items, item_rest(rows), strict=True)),
        incomplete=len(answers.rows) - n,
    )


def _why_not(rows: Array, answers: ScaleAnswers) -> NotComputable | None:
    if len(answers.items) < 2:
        return NotComputable("too_few", "one item has nothing to agree with")
    if len(rows) < 3:
        return NotComputable("too_few", "fewer than three people answered all of its items")
    flat = [item for item, column in zip(answers.items, rows.T, strict=True) if np.ptp(column) == 0]
    if flat:
        return NotComputable("no_variance", f"all answers to {flat[0]} are the same")
    if np.ptp(rows.sum(axis=1)) == 0:
        words = "the sum of all answers is the same for everybody: is an item scored the wrong way round?"
        return NotComputable("no_variance", words)
    return None


def alpha(covariance: Array) -> float:
    """Return Cronbach's alpha, computed from the covariance matrix of the items."""
    k = len(covariance)
    return float(k / (k - 1) * (1 - np.trace(covariance) / covariance.sum()))


def item_rest(rows: Array) -> list[float]:
    """Return the correlation of each item with the sum of the other items. Return 0 if that sum does not
    vary. `rows` has shape (participants, items)."""
    total = rows.sum(axis=1)
    rests = [total - column for column in rows.T]
    return [
        float(np.corrcoef(column, rest)[0, 1]) if np.ptp(rest) else 0.0
        for column, rest in zip(rows.T, rests, strict=True)
    ]


def omega(covariance: Array) -> float | None:
    """Return McDonald's omega for one factor, from the items' covariance matrix. Return None if no factor
    can be fitted."""
    sd = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sd, sd)
    if np.linalg.cond(correlation) > 1e10:
        return None
    unique = _uniquenesses(correlation)
    loadings = _loadings(correlation, unique) * sd
    common = float(loadings.sum() ** 2)
    return common / (common + float((unique * sd**2).sum()))


def _uniquenesses(r: Array) -> Array:
    """Return the unique variance of each item in a model with one factor (Lawley and Maxwell, chapter 4).
    `r` is the items' correlation matrix."""
    start = 0.5 / np.diag(np.linalg.inv(r))
    bounds = [(LEAST, 1.0)] * len(r)
    options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-11}
    found = minimize(
        _discrepancy, start, args=(r,), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x)


def _discrepancy(unique: Array, r: Array) -> tuple[float, Array]:
    """Return how far a one-factor model with the unique variances `unique` is from the correlation matrix
    `r`. Also return the gradient of this discrepancy."""
    root = np.sqrt(unique)
    values, _ = np.linalg.eigh(r / np.outer(root, root))
    rest = values[:-1]
    load = _loadings(r, unique)
    fitted = np.outer(load, load) + np.diag(unique)
    return float((rest - np.log(rest) - 1).sum()), np.diag(fitted - r) / unique**2


def _loadings(r: Array, unique: Array) -> Array:
    root = np.sqrt(unique)
    values, vectors = np.linalg.eigh(r / np.outer(root, root))
    load = root * vectors[:, -1] * np.sqrt(max(float(values[-1]) - 1, 0.0))
    return np.asarray(load * (np.sign(load.sum()) or 1.0))
