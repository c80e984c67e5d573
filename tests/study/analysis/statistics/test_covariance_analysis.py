"""The analysis of covariance of a design between participants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from study.analysis.statistics.factorial.covariance_analysis import ancova
from study.analysis.statistics.factorial.factorial_anova import factorial_anova
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, factorial_cases
from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    AncovaEffect,
    CovariateEffect,
    FactorialAnova,
    FactorialEffect,
    UntestedEffect,
)
from study.analysis.statistics.observations import DefinitionError
from tests.study.analysis.statistics.factorial_r_table import cases, factors, rows

BETWEEN = factors("between", "between")


def of_rows(given: list[FactorialRow], *covariates: str) -> Ancova:
    found = ancova(factorial_cases(given, BETWEEN, (), covariates))
    assert isinstance(found, Ancova)
    return found


def test_without_covariates_it_is_the_anova() -> None:
    whole, found = factorial_anova(cases("between")), of_rows(list(rows("between")))
    assert isinstance(whole, FactorialAnova)
    for one, other in zip(found.effects, whole.effects, strict=True):
        assert isinstance(other, FactorialEffect) and one.term == other.term
        assert (one.f, one.p, one.partial_eta_squared) == pytest.approx(
            (other.f, other.p, other.partial_eta_squared)
        )
    assert isinstance(found.unequal_slopes, UntestedEffect)


def test_a_built_in_slope_is_found_and_the_adjusted_means_are_without_it() -> None:
    given = [
        replace(row, value=(row.value or 0) / 100 + 3 * row.covariates["skill"])
        for row in rows("between", ("skill",))
    ]
    found = of_rows(given, "skill")
    (slope,) = found.covariates
    assert isinstance(slope, CovariateEffect) and slope.slope == pytest.approx(3, abs=0.02)
    means = [one.mean for one in found.means[("a",)]]
    skill = np.mean([row.covariates["skill"] for row in given])
    assert means == pytest.approx([3 * skill] * 2, abs=0.1)


def test_slopes_that_differ_between_cells_are_found() -> None:
    turned = [
        replace(row, value=(row.value or 0) + 5 * row.covariates["skill"] * (row.levels["a"] == "a1"))
        for row in rows("between", ("skill",))
    ]
    found = of_rows(turned, "skill").unequal_slopes
    assert isinstance(found, AncovaEffect) and found.p < 1e-6 and found.df == 3


def test_who_lacks_a_covariate_is_left_out_and_one_that_does_not_vary_is_named() -> None:
    given = [
        replace(row, covariates={**row.covariates, "always": 1.0} if number else {})
        for number, row in enumerate(rows("between", ("age",)))
    ]
    found = of_rows(given, "age", "always")
    assert [(one.participant, one.lacking) for one in found.left_out] == [("p01", ("age", "always"))]
    assert [one.computable for one in found.covariates] == [True, False]


def test_what_cannot_be_computed_says_why() -> None:
    with pytest.raises(DefinitionError, match="between participants only"):
        ancova(cases("unbalanced"))
    given = rows("between", ("age",))
    exact = [replace(row, value=row.covariates["age"]) for row in given]
    found = ancova(factorial_cases(exact, BETWEEN, (), ("age",)))
    assert "beyond the covariates" in str(found)
    assert "fewer than two participants" in str(ancova(factorial_cases(given[:24], BETWEEN, (), ("age",))))
