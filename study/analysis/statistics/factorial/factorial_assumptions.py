"""Check the assumptions of factorial tests.

A failed check removes no test. It adds a sentence to the results.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import shapiro

from kitchen.words.english_text import counted_noun
from study.analysis.statistics.apa_format import format_number, format_p, format_share
from study.analysis.statistics.factorial.factorial_cases import FactorialCases, cells_of
from study.analysis.statistics.factorial.factorial_results import (
    AncovaEffect,
    FactorialAnova,
    FactorialEffect,
)
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.observations import MeasureTable, NotComputable
from study.analysis.statistics.within.complete_cases import Array, are_equal
from study.analysis.statistics.within.result_types import LEVEL, Assumption, Sphericity
from study.analysis.statistics.within.run_within_tests import (
    FAR,
    MOST_NAMED,
    brown_forsythe,
    check_ends,
    check_variance,
)

MOST_TESTED = 5000
"""The most residuals for which the p value of Shapiro and Wilk's test is exact enough."""


def factorial_assumptions(
    table: MeasureTable, cases: FactorialCases, tests: FactorialTests
) -> tuple[Assumption, ...]:
    """Return the checked assumptions of a measure's factorial tests, violated ones first."""
    found = [*check_ends(table), *_missing(cases)]
    if cases.between and not isinstance(tests.anova, NotComputable):
        found += _homogeneity(cases)
    else:
        found += check_variance(table)
    if isinstance(tests.anova, FactorialAnova):
        found += [*_sphericity(tests, tests.anova), *_residuals(cases, tests)]
    found += [*_slopes(tests), *_order(tests)]
    return tuple(sorted(found, key=lambda one: one.holds))


def _missing(cases: FactorialCases) -> Iterator[Assumption]:
    if not cases.values.shape[1]:
        return
    if not cases.left_out:
        yield Assumption("missing", True, "Nobody lacks a value in any cell that they played.")
        return
    people = counted_noun(len(cases.left_out), "participant")
    words = (
        f"Left out of the ANOVA: {people} without a value in each cell. The mixed model uses their values."
    )
    yield Assumption("missing", False, words)


def _homogeneity(cases: FactorialCases) -> Iterator[Assumption]:
    """Yield the Brown-Forsythe test of the participants' means in the cells between participants."""
    means = cases.values.mean(axis=1)
    groups = [means[cases.cell_numbers == number] for number in range(len(cells_of(cases.between)))]
    p = brown_forsythe(groups)
    told = "no sign that spreads differ" if p >= LEVEL else "spreads of participants differ between groups"
    words = f"Homogeneity of groups: {told} (Brown\N{EN DASH}Forsythe {format_p(p)})."
    yield Assumption("homogeneity", p >= LEVEL, words)


def _sphericity(tests: FactorialTests, anova: FactorialAnova) -> Iterator[Assumption]:
    for one in anova.effects:
        if not isinstance(one, FactorialEffect) or one.correction is None:
            continue
        name, found = tests.factors.term_words(one.term), one.correction.sphericity
        if isinstance(found, Sphericity):
            holds = found.p >= LEVEL
            told = "no sign against it" if holds else "it does not hold; read the corrected p"
            words = f"Mauchly's W = {format_share(found.w, 3)}, {format_p(found.p)}"
            yield Assumption("sphericity", holds, f"Sphericity of {name}: {told} ({words}).")
        else:
            words = f"Sphericity of {name}: Mauchly's test is {found}. Read the corrected p."
            yield Assumption("sphericity", False, words)


def anova_residuals(cases: FactorialCases) -> Array:
    """Return what remains of the values without the cell means of each group and, with several values of a
    participant, without the participant's mean. The shape is (participants, cells)."""
    numbers = cases.cell_numbers
    means = np.array([cases.values[numbers == one].mean(axis=0) for one in np.unique(numbers)])
    left = cases.values - means[np.searchsorted(np.unique(numbers), numbers)]
    if left.shape[1] > 1:
        left = left - left.mean(axis=1, keepdims=True)
    return np.asarray(left)


def _residuals(cases: FactorialCases, tests: FactorialTests) -> Iterator[Assumption]:
    left = anova_residuals(cases)
    if are_equal(left) or left.size > MOST_TESTED or left.size < 3:
        return
    found = shapiro(left.ravel())
    holds = not found.pvalue < LEVEL
    told = "look normal" if holds else "are not normal"
    w, p = format_share(float(found.statistic), 3), format_p(float(found.pvalue))
    words = f"Residuals of the ANOVA {told} (Shapiro\N{EN DASH}Wilk W = {w}, {p})."
    yield Assumption("normality", holds, words)
    yield _outliers(cases, tests, left)


def _outliers(cases: FactorialCases, tests: FactorialTests, left: Array) -> Assumption:
    n, k = left.shape
    free = (n - len(np.unique(cases.cell_numbers))) * max(k - 1, 1)
    far = left / np.sqrt((left**2).sum() / free)
    cells, keys = cells_of(cases.within), [one.key for one in cases.within]
    places = np.argwhere(np.abs(far) > FAR)
    if not len(places):
        words = f"No value lies more than {FAR:g} standard deviations from the rest."
        return Assumption("outliers", True, words)
    named = []
    for i, j in places[:MOST_NAMED]:
        where = tests.factors.level_words(list(zip(keys, cells[j], strict=True)))
        place = f" in {where}" if where else ""
        named.append(f"{cases.participants[i]}{place} ({format_number(float(far[i, j]), 1)} SD)")
    more = f"; and {len(places) - len(named)} more" if len(places) > len(named) else ""
    count = counted_noun(len(places), "value")
    words = f"{count} far from the rest: {'; '.join(named)}{more}. None was left out."
    return Assumption("outliers", False, words)


def _slopes(tests: FactorialTests) -> Iterator[Assumption]:
    if tests.ancova is None or isinstance(tests.ancova, NotComputable):
        return
    found = tests.ancova.unequal_slopes
    if isinstance(found, AncovaEffect):
        holds = found.p >= LEVEL
        told = (
            "no sign against them" if holds else "they differ; the adjusted means lean on one slope for all"
        )
        words = f"Equal slopes of the covariates: {told} (F({found.df}, {found.df_error}) = "
        yield Assumption("slopes", holds, f"{words}{format_number(found.f)}, {format_p(found.p)}).")


def _order(tests: FactorialTests) -> Iterator[Assumption]:
    """Yield a caution for each random term that was dropped from a mixed model because its search failed."""
    if isinstance(tests.mixed, NotComputable):
        return
    for one in tests.mixed.random:
        if one.dropped == "no_convergence":
            words = (
                f"The mixed model left out a random term ({one.factor or 'participants'}): no convergence."
            )
            yield Assumption("convergence", False, words)
