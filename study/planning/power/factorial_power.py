"""Compute the power of main effects and interactions of a factorial design, within and between participants.

Each participant belongs to one cell of the between factors and plays all or some of the within cells. Values
have standard deviation 1 in each cell, and any two values of one participant correlate by rho. Cohen's f of
an effect is the standard deviation of its means over all cells. The module does not import Django.
"""

# The noncentrality of an effect is f^2 times the mean diagonal of its information: the generalised least
# squares information of its columns, after all other columns. With columns of mean square 1 and everybody
# playing all K within cells, this is n K / (1 - rho) within people and n K / (1 + (K - 1) rho) between them,
# as in G*Power (Faul et al. 2007, Behav. Res. Methods 39, 175-191). With a part of the cells it also holds
# what can be learned between people.

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import helmert

from study.planning.power.main_test_power import Array
from study.planning.power.planned_factors import FactorialDesignPlan, PlannedFactor, Term
from study.planning.power.power_formulas import PowerPlanError, f_power


def effect_power(
    design: FactorialDesignPlan, term: Term, f: float, people: int, *, alpha: float, epsilon: float = 1.0
) -> float:
    """Return the probability that the F test of an effect finds it, with `people` complete participants in
    each cell of the between factors.

    `f` is Cohen's f of this effect. `epsilon` is Box's measure of sphericity; it applies to effects with two
    or more contrasts within participants. Return 0 if the design cannot estimate the effect, or if there are
    too few participants.
    """
    strength, df, df_error = _noncentral_f(design, term, f, people)
    shared = max(epsilon, 1 / inner) if (inner := design.contrasts(term, is_within=True)) > 1 else 1.0
    return f_power(df * shared, df_error * shared, strength * shared, alpha) if strength > 0 else 0.0


def _noncentral_f(
    design: FactorialDesignPlan, term: Term, f: float, people: int
) -> tuple[float, float, float]:
    """Return the noncentrality and both degrees of freedom of the F test of an effect."""
    total = design.groups * people
    each, is_estimable = _information(design, term)
    df = design.contrasts(term, is_within=True) * design.contrasts(term, is_within=False)
    if not is_estimable:
        return 0.0, df, 1.0
    if design.subsets and design.is_within(term):
        df_error = total * (design.rounds - 1) - _columns_within(design)
    else:
        df_error = (total - design.groups) * design.contrasts(term, is_within=True)
    return total * f**2 * each, df, df_error


def f_of_partial_eta(design: FactorialDesignPlan, term: Term, partial_eta: float) -> float:
    """Return Cohen's f of an effect for a partial eta squared, as software reports it. Raises PowerPlanError
    with the field `effect` for a value out of range.

    Partial eta squared compares an effect with its own error: eta / (1 - eta) = f^2 * information / error
    contrasts, both for one participant.
    """
    if not 0 <= partial_eta < 1:
        raise PowerPlanError("effect", "Partial eta squared is from 0 to below 1.")
    each, is_estimable = _information(design, term)
    if not is_estimable:
        return 0.0
    inner = design.contrasts(term, is_within=True)
    return float((partial_eta / (1 - partial_eta) * inner / each) ** 0.5)


def partial_eta_of_f(design: FactorialDesignPlan, term: Term, f: float) -> float:
    """Return the partial eta squared that belongs to Cohen's f of an effect. It is the inverse of
    `f_of_partial_eta`."""
    each, is_estimable = _information(design, term)
    ratio = f**2 * each / design.contrasts(term, is_within=True) if is_estimable else 0.0
    return ratio / (1 + ratio)


@lru_cache(maxsize=256)
def _information(design: FactorialDesignPlan, term: Term) -> tuple[float, bool]:
    """Return the mean information of one participant about the columns of an effect, after all other columns,
    and whether all of them can be estimated. The variance of a value is 1."""
    whole, columns = _summed(design), effect_columns(design)
    own = columns[term]
    others = [place for other, places in columns.items() if other != term for place in places]
    across = whole[np.ix_(own, others)]
    left = whole[np.ix_(own, own)] - across @ np.linalg.pinv(whole[np.ix_(others, others)]) @ across.T
    return float(np.trace(left)) / len(own), bool(np.linalg.eigvalsh(left).min() > 1e-9)


@lru_cache(maxsize=64)
def _summed(design: FactorialDesignPlan) -> Array:
    """Return X' V^-1 X for one participant, averaged over groups and subsets. X has the columns of
    `cell_coding`, and V is the correlation matrix of a participant's values."""
    n, rho = design.rounds, design.correlation
    weights = (np.eye(n) - rho / (1 + (n - 1) * rho)) / (1 - rho) if n > 1 else np.eye(1)
    parts = [x.T @ weights @ x for x in _played(design)]
    return np.asarray(sum(parts) / len(parts))


@lru_cache(maxsize=64)
def _columns_within(design: FactorialDesignPlan) -> int:
    """Return the number of independent columns whose values differ within participants."""
    centred = (x - x.mean(axis=0) for x in _played(design))
    return int(np.linalg.matrix_rank(sum(one.T @ one for one in centred)))


def _played(design: FactorialDesignPlan) -> Iterator[Array]:
    """Yield the rows of `cell_coding` that a participant plays, for each group and subset."""
    coding = cell_coding(design)
    numbers = np.arange(len(coding)).reshape(design.groups, design.cells)
    for group, cells in product(range(design.groups), design.subsets or (tuple(range(design.cells)),)):
        yield coding[numbers[group, list(cells)]]


@lru_cache(maxsize=64)
def cell_coding(design: FactorialDesignPlan) -> Array:
    """Return the design matrix of all cells, of shape (cells, columns): between cells first, then within
    cells, in row-major order. Columns are orthogonal and have a mean square of 1."""
    found: Any = np.ones((1, 1))
    for one in _ordered(design):
        found = np.kron(found, np.vstack([np.ones(one.levels), helmert(one.levels) * one.levels**0.5]).T)
    return np.asarray(found)


@lru_cache(maxsize=64)
def effect_columns(design: FactorialDesignPlan) -> dict[Term, list[int]]:
    """Return the columns of `cell_coding` that belong to each effect. The empty term is the intercept."""
    ordered = _ordered(design)
    found: dict[Term, list[int]] = {}
    for place, coded in enumerate(product(*(range(one.levels) for one in ordered))):
        used = {one.key for one, column in zip(ordered, coded, strict=True) if column}
        found.setdefault(tuple(one.key for one in design.factors if one.key in used), []).append(place)
    return found


def _ordered(design: FactorialDesignPlan) -> list[PlannedFactor]:
    """Return the factors between participants, then those within them."""
    return sorted(design.factors, key=lambda one: one.is_within)
