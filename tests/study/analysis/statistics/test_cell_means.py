"""Marginal means and planned contrasts of a factorial design."""

from __future__ import annotations

from dataclasses import replace

import pytest

from study.analysis.statistics.factorial.cell_means import (
    PlannedCellContrast,
    cell_contrasts,
    marginal_means,
    product_weights,
)
from study.analysis.statistics.factorial.factorial_cases import FactorialRow, factorial_cases
from study.analysis.statistics.factorial.factorial_results import CellContrast
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import DefinitionError, NotComputable
from study.analysis.statistics.within.paired_contrasts import paired_contrast
from study.analysis.statistics.within.result_types import Contrast, UncomputedContrast
from tests.study.analysis.statistics import r_table
from tests.study.analysis.statistics.factorial_r_table import cases
from tests.study.analysis.statistics.test_factorial_anova import GROUP, LEVEL, grouped
from tests.study.analysis.statistics.test_split_plot import EVEN

WHOLE = cases("unbalanced")
LAST = PlannedCellContrast("H1", product_weights(WHOLE.factors, {"level": {"l3": 1, "l1": -1}}))


def test_within_people_alone_it_is_the_paired_contrast() -> None:
    table = r_table.data("ergoStool")
    factor = AnalysisFactor("stool", tuple(one.key for one in table.conditions))
    rows = [FactorialRow(row.participant, {"stool": row.condition}, row.value) for row in table.observations]
    weights = {"c0": -1.0, "c1": 0.5, "c2": 0.5}
    expected = paired_contrast(table, "H1", weights)
    (found,) = cell_contrasts(
        factorial_cases(rows, [], [factor]),
        [PlannedCellContrast("H1", {(key,): weight for key, weight in weights.items()})],
    )
    assert isinstance(found, CellContrast) and isinstance(expected, Contrast)
    assert (found.estimate, found.t, found.df, found.p, found.ci_low, found.g, found.g_low, found.g_high) == (
        pytest.approx(
            (
                *(expected.difference, expected.t, expected.df, expected.p, expected.ci_low),
                *(expected.g, expected.g_low, expected.g_high),
            )
        )
    )


def test_the_standardised_size_does_not_depend_on_the_scale_of_the_weights() -> None:
    twice = PlannedCellContrast("H2", {cell: 2 * weight for cell, weight in LAST.weights.items()})
    one, two = cell_contrasts(WHOLE, [LAST, twice])
    assert isinstance(one, CellContrast) and isinstance(two, CellContrast)
    assert two.estimate == pytest.approx(2 * one.estimate) and two.g == pytest.approx(one.g)
    assert one.p_adjusted == pytest.approx(min(2 * one.p, 1))


def test_weights_of_two_factors_are_an_interaction_and_other_factors_are_averaged() -> None:
    factors = [GROUP, LEVEL]
    found = product_weights(factors, {"group": {"chef": 1, "assistant": -1}, "level": {"2": 1, "0": -1}})
    assert found["chef", "2"] == found["assistant", "0"] == 1 and found["chef", "0"] == -1
    assert found["chef", "1"] == 0
    assert product_weights(factors, {"group": {"chef": 1}})["chef", "1"] == pytest.approx(1 / 3)
    with pytest.raises(DefinitionError, match="unknown factor 'level'"):
        product_weights(factors, {"level": {"9": 1}})


def test_what_cannot_be_computed_is_named_and_is_not_in_the_family() -> None:
    unplayed = PlannedCellContrast("H2", {("a", "l9"): 1, ("a", "l1"): -1})
    one, other = cell_contrasts(WHOLE, [LAST, unplayed])
    assert isinstance(one, CellContrast) and one.p_adjusted == one.p
    assert isinstance(other, UncomputedContrast) and "no values" in str(other.because)
    with pytest.raises(DefinitionError, match="do not sum to 0"):
        cell_contrasts(WHOLE, [PlannedCellContrast("H3", {("a", "l1"): 1})])
    alike = [replace(row, value=float(row.levels["level"])) for row in grouped(EVEN)]
    flat = factorial_cases([replace(alike[0], value=9.0), *alike[1:]], [GROUP], [LEVEL])
    (found,) = cell_contrasts(flat, [PlannedCellContrast("H1", {("chef", "2"): 1, ("chef", "1"): -1})])
    assert isinstance(found, UncomputedContrast) and found.because.reason == "no_variance_within"


def test_means_of_data_that_cannot_be_compared_are_not_computable() -> None:
    one = [row for row in grouped(EVEN) if row.levels["group"] == "chef"]
    assert isinstance(marginal_means(factorial_cases(one, [GROUP], [LEVEL])), NotComputable)
