"""Compute the ANOVA of a factorial design with factors between and within participants, and simple effects.

Sums of squares are of type III: all cells weigh alike, however many participants they have. Effects within
participants are corrected for violated sphericity. The numbers are those of R's `afex::aov_ez`.
"""

# Each subset of the within factors is one error stratum: its contrasts are regressed on the design between
# participants, and every subset of the between factors gives one effect. Epsilon and Mauchly's test use the
# covariance of the contrasts within cells. Generalised eta squared follows Olejnik and Algina (2003) for
# manipulated factors: its denominator has the effect and the errors of all strata.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from study.analysis.statistics.factorial.factorial_cases import (
    FactorialCases,
    cells_of,
    select_levels,
    why_not_factorial,
)
from study.analysis.statistics.factorial.factorial_results import (
    FactorialAnova,
    FactorialEffect,
    SimpleEffect,
    SphericityCorrection,
    Term,
    UntestedEffect,
    UntestedSimpleEffect,
)
from study.analysis.statistics.observations import DefinitionError, NotComputable
from study.analysis.statistics.within.complete_cases import Array
from study.analysis.statistics.within.paired_contrasts import holm_adjusted
from study.analysis.statistics.within.repeated_measures_anova import epsilons_of, f_tail, mauchly_of
from study.analysis.statistics.within.type_three_sums import (
    ContrastRegression,
    FactorialDesign,
    Subset,
    factorial_design,
    orthonormal_contrasts,
    regress_contrasts,
    subsets,
)

FLAT = NotComputable("no_variance_within", "participants do not differ from one another in this effect")


def factorial_anova(cases: FactorialCases) -> FactorialAnova | NotComputable:
    """Test all main effects and interactions of the design. Return NotComputable if the data do not allow
    it. An effect whose error does not vary is an `UntestedEffect`."""
    problem = why_not_factorial(cases)
    if problem:
        return problem
    design = factorial_design(cases.members, [len(factor.levels) for factor in cases.between])
    counts = [len(factor.levels) for factor in cases.within]
    strata = {
        one: regress_contrasts(cases.values, orthonormal_contrasts(counts, one), design.x)
        for one in subsets(len(counts))
    }
    noise = sum(float(np.trace(one.error)) for one in strata.values())
    effects = _effects(cases, design, strata, noise)
    if not any(isinstance(one, FactorialEffect) for one in effects):
        return FLAT
    sizes = zip(cells_of(cases.between), map(int, cases.cell_sizes), strict=True)
    return FactorialAnova(len(cases.participants), tuple(sizes), effects, cases.left_out)


def _effects(
    cases: FactorialCases, design: FactorialDesign, strata: dict[Subset, ContrastRegression], noise: float
) -> tuple[FactorialEffect | UntestedEffect, ...]:
    """Return the tests of all effects, main effects first."""
    places = [(inner, outer) for inner, outer in product(strata, design.places) if inner or outer]
    keys = [factor.key for factor in cases.factors]
    numbers = {
        (inner, outer): (*outer, *(len(cases.between) + one for one in inner)) for inner, outer in places
    }
    ordered = sorted(places, key=lambda one: (len(numbers[one]), numbers[one]))
    return tuple(
        _effect(tuple(keys[i] for i in numbers[one]), strata[one[0]], design.places[one[1]], noise)
        for one in ordered
    )


def _effect(
    term: Term, stratum: ContrastRegression, places: Sequence[int], noise: float
) -> FactorialEffect | UntestedEffect:
    """Test one effect. `places` are its columns in the design between participants. `noise` is the sum of
    squares of all error terms."""
    ss, ss_error = float(np.trace(stratum.hypothesis(places))), float(np.trace(stratum.error))
    if ss_error <= 0:
        return UntestedEffect(term, FLAT)
    contrasts = len(stratum.error)
    df, df_error = len(places) * contrasts, stratum.df * contrasts
    f = ss / df / (ss_error / df_error)
    return FactorialEffect(
        term=term,
        ss=ss,
        ss_error=ss_error,
        f=f,
        df=df,
        df_error=df_error,
        p=f_tail(f, df, df_error),
        partial_eta_squared=ss / (ss + ss_error),
        generalised_eta_squared=ss / (ss + noise),
        correction=_correction(f, df, df_error, stratum.covariance, stratum.df),
    )


def _correction(
    f: float, df: int, df_error: int, covariance: Array, free: int
) -> SphericityCorrection | None:
    """Return the corrections for sphericity of an F ratio. Return None for a single contrast. `free` are
    the degrees of freedom of `covariance`."""
    sphericity = mauchly_of(covariance, free)
    if sphericity is None:
        return None
    gg, hf = epsilons_of(covariance, free)
    p_gg, p_hf = (f_tail(f, epsilon * df, epsilon * df_error) for epsilon in (gg, min(hf, 1.0)))
    return SphericityCorrection(sphericity, gg, p_gg, hf, p_hf)


def simple_effects(
    cases: FactorialCases, factor: str, at: Sequence[str] = ()
) -> tuple[SimpleEffect | UntestedSimpleEffect, ...]:
    """Test the factor at each combination of levels of the factors `at`; by default of all others.

    Each test is an ANOVA of its own, so it has its own error term and correction for sphericity. Factors
    that are not fixed stay in that ANOVA. P values are corrected after Holm over all simple effects of the
    call. Raises DefinitionError for an unknown factor.
    """
    keys = [one.key for one in cases.factors]
    fixed = [one for one in cases.factors if one.key in (at or keys) and one.key != factor]
    if factor not in keys or factor in at or not set(at) <= set(keys) or not fixed:
        raise DefinitionError(f"no simple effects of {factor!r}: known factors are {', '.join(keys)}")
    found = [
        _simple_effect(cases, factor, tuple(zip((one.key for one in fixed), cell, strict=True)))
        for cell in cells_of(fixed)
    ]
    tested = [one for one in found if isinstance(one, SimpleEffect)]
    adjusted = iter(holm_adjusted([one.p_adjusted for one in tested]))
    return tuple(
        replace(one, p_adjusted=next(adjusted)) if isinstance(one, SimpleEffect) else one for one in found
    )


def _simple_effect(
    cases: FactorialCases, factor: str, at: tuple[tuple[str, str], ...]
) -> SimpleEffect | UntestedSimpleEffect:
    found = factorial_anova(select_levels(cases, dict(at)))
    if isinstance(found, NotComputable):
        return UntestedSimpleEffect(at, found)
    effect = found.effect(factor)
    return SimpleEffect(at, effect, effect.p_corrected) if effect else UntestedSimpleEffect(at, FLAT)
