"""The linear mixed model of a factorial design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from study.analysis.statistics.factorial.cell_means import PlannedCellContrast, product_weights
from study.analysis.statistics.factorial.factorial_anova import factorial_anova
from study.analysis.statistics.factorial.factorial_cases import FactorialRow
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import (
    CovariateEffect,
    FactorialAnova,
    FactorialEffect,
    UntestedEffect,
)
from study.analysis.statistics.factorial.mixed_model_results import FactorialMixedModel, MixedContrast
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.within.paired_contrasts import holm_adjusted
from study.analysis.statistics.within.reml_fit import fit_reml
from study.analysis.statistics.within.result_types import UncomputedContrast
from tests.study.analysis.statistics.factorial_r_table import cases, factors, rows
from tests.study.analysis.statistics.test_factorial_anova import GROUP, LEVEL, grouped
from tests.study.analysis.statistics.test_split_plot import EVEN

A = AnalysisFactor("a", ("a1", "a2"))
B = AnalysisFactor("b", ("b1", "b2", "b3"))


def fitted(
    given: Sequence[FactorialRow],
    between: Sequence[AnalysisFactor],
    within: Sequence[AnalysisFactor],
    *covariates: str,
) -> FactorialMixedModel:
    found = linear_mixed_model(given, between, within, covariates)
    assert isinstance(found, FactorialMixedModel)
    return found


@pytest.mark.parametrize("name", ["md_12.1", "balanced", "between"])
def test_of_whole_data_it_gives_the_f_tests_of_the_anova(name: str) -> None:
    whole = factorial_anova(cases(name))
    found = fitted(rows(name), factors(name, "between"), factors(name, "within"))
    assert isinstance(whole, FactorialAnova)
    for one in found.tested:
        other = whole.effect(*one.term)
        assert isinstance(other, FactorialEffect)
        assert (one.f, one.df, one.df_error) == pytest.approx((other.f, other.df, other.df_error), rel=1e-6)


def test_everybody_with_a_value_is_included_and_a_random_term_that_cannot_be_told_is_named() -> None:
    given = grouped({**EVEN, "chef": [*EVEN["chef"], [4, None, 6], [None, None, None]]})
    found = fitted(given, [GROUP], [LEVEL])
    assert (found.n, found.observations) == (9, 26)
    assert [one.participant for one in found.left_out] == ["chef5"]
    once = [row for row in given if row.levels["level"] == "1"]
    only = fitted(once, [GROUP], [])
    assert [one.dropped for one in only.random] == ["unidentified"]
    assert "do not separate them" in only.random[0].words


def crossed(seed: int, people: int = 9) -> list[FactorialRow]:
    """People who differ, in both factors, with deviations at `a` that cancel each other."""
    rng = np.random.default_rng(seed)
    own, noise = rng.normal(size=people), rng.normal(size=(people, 2, 3))
    return [
        FactorialRow(
            f"p{who}",
            {"a": A.levels[i], "b": B.levels[j]},
            float(own[who] + noise[who, i, j] - 0.9 * noise[who, i].mean() + i),
            {"position": float((i + 2 * j + who) % 6 + 1), "always": 1.0},
        )
        for who, i, j in np.ndindex(people, 2, 3)
    ]


def test_a_random_term_of_no_variance_is_dropped_and_the_rest_is_the_model_without_it() -> None:
    given = crossed(3)
    found = fitted(given, [], [A, B])
    assert {one.factor: one.dropped for one in found.random}["a"] == "zero"
    kept = [one.factor for one in found.random if not one.dropped]
    assert found.random[1].variance == 0 and "estimated as 0" in found.random[1].words
    people = [int(row.participant[1:]) for row in given]
    codes = {"b": [B.levels.index(row.levels["b"]) for row in given]}
    x = np.array(
        [[float(row.levels["a"] == "a1"), *(row.levels["b"] == b for b in B.levels)] for row in given]
    )
    x = np.column_stack([x, x[:, :1] * x[:, 1:3]])
    alone = fit_reml(np.array([row.value for row in given]), x, people, [codes[one] for one in kept if one])
    assert found.variance_error == pytest.approx(alone.variance_error, rel=1e-6)


def test_covariates_have_slopes_and_one_that_does_not_vary_is_named() -> None:
    given = [replace(row, value=(row.value or 0) + 2 * row.covariates["position"]) for row in crossed(4)]
    found = fitted(given, [], [A, B], "position", "always")
    slope, other = found.covariates
    assert isinstance(slope, CovariateEffect) and slope.slope == pytest.approx(2, abs=3 * slope.se)
    assert isinstance(other, UntestedEffect) and other.because.reason == "confounded"
    gone = [replace(row, covariates={}) if row.participant == "p0" else row for row in given]
    assert fitted(gone, [], [A, B], "position").left_out[0].participant == "p0"


def test_planned_contrasts_are_corrected_together_and_those_without_values_are_named() -> None:
    factors = [A, B]
    planned = [
        PlannedCellContrast("H1", product_weights(factors, {"a": {"a2": 1, "a1": -1}})),
        PlannedCellContrast(
            "H2", product_weights(factors, {"a": {"a2": 1, "a1": -1}, "b": {"b1": 1, "b3": -1}})
        ),
        PlannedCellContrast("H3", {("a9", "b1"): 1, ("a1", "b1"): -1}),
    ]
    found = linear_mixed_model(crossed(6), [], factors, (), planned)
    assert isinstance(found, FactorialMixedModel)
    one, two, three = found.contrasts
    assert isinstance(one, MixedContrast) and isinstance(two, MixedContrast)
    effect = found.effect("a")
    assert effect and one.t**2 == pytest.approx(effect.f) and one.df == pytest.approx(effect.df_error)
    assert [one.p_adjusted, two.p_adjusted] == holm_adjusted([one.p, two.p])
    assert isinstance(three, UncomputedContrast)


def test_of_a_fraction_only_estimable_effects_means_and_contrasts_are_computed() -> None:
    cells = {("a1", "b1"), ("a2", "b1"), ("a2", "b2"), ("a1", "b3")}
    given = [row for row in crossed(6) if (row.levels["a"], row.levels["b"]) in cells]
    planned = [
        PlannedCellContrast("there", {("a2", "b1"): 1, ("a1", "b1"): -1}),
        PlannedCellContrast("missing", {("a1", "b2"): 1, ("a1", "b1"): -1}),
    ]
    found = linear_mixed_model(given, [], [A, B], (), planned)
    assert isinstance(found, FactorialMixedModel)
    assert found.missing_cells == (("a1", "b2"), ("a2", "b3"))
    assert [(one.term, one.df, one.lost) for one in found.tested] == [(("a",), 1, 0), (("b",), 2, 0)]
    assert isinstance(found.effects[2], UntestedEffect)
    assert "cannot be separated" in str(found.effects[2].because)
    there, missing = found.contrasts
    assert isinstance(there, MixedContrast)
    assert isinstance(missing, UncomputedContrast)
    assert {one.levels for one in found.means["a", "b"]} == {(("a", a), ("b", b)) for a, b in cells}
    assert [one.levels for one in found.means["b",]] == [(("b", "b1"),)]
    assert found.means["a",] == ()


def test_of_a_fraction_with_an_interaction_the_part_that_can_be_told_is_tested() -> None:
    given = [row for row in crossed(7) if (row.levels["a"], row.levels["b"]) != ("a1", "b2")]
    interaction = fitted(given, [], [A, B]).effect("a", "b")
    assert interaction is not None
    assert (interaction.df, interaction.lost) == (1, 1)


def test_what_the_data_do_not_allow_says_why() -> None:
    def why(given: list[FactorialRow]) -> str:
        return str(linear_mixed_model(given, [], [A, B]))

    given = crossed(5)
    assert "fewer than three participants" in why(given[:12])
    assert "b has values at b1 only" in why([row for row in given if row.levels["b"] == "b1"])
    assert "no cell" in why([replace(row, value=None) for row in given])
    assert "all values are the same" in why([replace(row, value=1.0) for row in given])
    exact = [replace(row, value=float(ord(row.participant[1]) * (row.levels["a"] == "a1"))) for row in given]
    assert "leaves no variance" in why(exact)
    lonely = linear_mixed_model(
        [row for row in grouped(EVEN) if row.participant != "x"][:15], [GROUP], [LEVEL]
    )
    assert "fewer than two participants" in str(lonely)
