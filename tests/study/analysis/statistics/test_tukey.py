"""Tukey's HSD, against published output of R and SAS, statsmodels and scipy."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from study.analysis.statistics.anova_and_tukey import Tukey, hedges_g, tukey_hsd
from study.analysis.statistics.observations import NotComputable
from tests.study.analysis.statistics.test_analysis import table

PLANT_GROWTH = (
    (4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14),
    (4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69),
    (6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26),
)
"""R's data set PlantGrowth (Dobson 1983, table 7.1): control and two treatments."""

HEADACHE = ((24.5, 23.5, 26.4, 27.1, 29.9), (28.4, 34.2, 29.5, 32.2, 30.1), (26.1, 28.3, 24.3, 26.2, 27.8))
"""Minutes to relief by three brands, as in SAS/STAT's tutorial and scipy's documentation of tukey_hsd."""


def computed(*groups: object) -> Tukey:
    result = tukey_hsd(table(*groups))  # type: ignore[arg-type]
    assert isinstance(result, Tukey)
    return result


def test_plant_growth_as_r_prints_it() -> None:
    # TukeyHSD(aov(weight ~ group, PlantGrowth)): diff, lwr, upr, p adj
    expected = [
        (-0.371, -1.0622161, 0.3202161, 0.3908711),
        (0.494, -0.1972161, 1.1852161, 0.1979960),
        (0.865, 0.1737839, 1.5562161, 0.0120064),
    ]
    for pair, row in zip(computed(*PLANT_GROWTH).pairs, expected, strict=True):
        assert (pair.difference, pair.ci_low, pair.ci_high, pair.p) == pytest.approx(row, abs=2e-6)


def test_headache_as_sas_prints_it() -> None:
    first, second, third = computed(*HEADACHE).pairs
    assert (first.difference, first.ci_low, first.ci_high) == pytest.approx((4.6, 0.951, 8.249), abs=5e-4)
    assert (first.p, second.p, third.p) == pytest.approx((0.014, 0.980, 0.020), abs=5e-4)
    assert [pair.significant for pair in (first, second, third)] == [True, False, True]


@settings(max_examples=2, deadline=None)
@given(st.lists(st.lists(st.floats(0, 10), min_size=2, max_size=8), min_size=2, max_size=5))
def test_it_agrees_with_statsmodels(groups: list[list[float]]) -> None:
    agree_with_statsmodels(groups)


@pytest.mark.nightly
@settings(max_examples=10, deadline=None)
@given(st.lists(st.lists(st.floats(0, 10), min_size=2, max_size=8), min_size=2, max_size=5))
def test_it_agrees_with_statsmodels_on_more_data(groups: list[list[float]]) -> None:
    agree_with_statsmodels(groups)


def agree_with_statsmodels(groups: list[list[float]]) -> None:
    assume(all(max(group) - min(group) > 0.1 for group in groups))
    labels = [str(i) for i, group in enumerate(groups) for _ in group]
    expected = pairwise_tukeyhsd([value for group in groups for value in group], labels)
    pairs = computed(*groups).pairs
    assert [pair.difference for pair in pairs] == pytest.approx(list(expected.meandiffs))
    assert [pair.ci_low for pair in pairs] == pytest.approx(list(expected.confint[:, 0]), abs=1e-3)
    assert [pair.p for pair in pairs] == pytest.approx(list(expected.pvalues), abs=1e-4)


def test_five_conditions_make_ten_pairs_in_their_order() -> None:
    pairs = computed(*[[i, i + 1.0] for i in range(5)]).pairs
    names = [pair.first.key + pair.second.key for pair in pairs]
    assert names == ["c0c1", "c0c2", "c0c3", "c0c4", "c1c2", "c1c3", "c1c4", "c2c3", "c2c4", "c3c4"]


def test_a_pair_knows_which_condition_is_higher() -> None:
    up, down = computed([1, 2, 3], [6, 7, 8]).pairs[0], computed([6, 7, 8], [1, 2, 3]).pairs[0]
    assert (up.higher.key, up.lower.key, up.difference) == ("c1", "c0", 5)
    assert (down.higher.key, down.lower.key, down.difference) == ("c0", "c1", -5)


def test_hedges_g_by_hand() -> None:
    # d = 2 over a pooled sd of 1; correction for 4 df: gamma(2) / (sqrt(2) gamma(1.5)) = .797885.
    assert hedges_g([1, 2, 3], [3, 4, 5]) == pytest.approx(2 * 0.7978845608)
    assert hedges_g([3, 4, 5], [1, 2, 3]) == pytest.approx(-2 * 0.7978845608)


def test_two_conditions_that_do_not_vary_have_no_g_beside_one_that_does() -> None:
    result = computed([1, 1, 1], [2, 2, 2], [1, 2, 3])
    assert result.pairs[0].g is None
    assert result.pairs[1].g is not None


def test_no_p_leaves_its_bounds_however_far_apart_the_means_are() -> None:
    for pair in computed([0, 1e-6], [1e9, 1e9 + 1e-6], [0, 1e-6]).pairs:
        assert 0 <= pair.p <= 1
        assert math.isfinite(pair.ci_low)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[None]], "no_data"),
        ([[1, 2]], "one_condition"),
        ([[1, 2], [3]], "one_value"),
        ([[1, 1], [1, 1]], "no_variance"),
        ([[1, 1], [2, 2]], "no_variance_within"),
    ],
)
def test_what_cannot_be_computed_says_why(groups: list[list[float | None]], reason: str) -> None:
    result = tukey_hsd(table(*groups))
    assert isinstance(result, NotComputable)
    assert result.reason == reason


def test_conditions_without_values_take_no_part() -> None:
    result = computed([], [1, 2, 3], [2, 3, 4])
    assert len(result.pairs) == 1
    assert [condition.key for condition in result.without_data] == ["c0"]
