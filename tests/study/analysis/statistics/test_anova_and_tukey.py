"""The one-way ANOVA, against certified values, values by hand and scipy."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway

from study.analysis.statistics.anova_and_tukey import Anova, one_way_anova
from study.analysis.statistics.observations import NotComputable
from tests.study.analysis.statistics.test_analysis import table

NIST_SIRSTV = (
    (196.3052, 196.1240, 196.1890, 196.2569, 196.3403),
    (196.3042, 196.3825, 196.1669, 196.3257, 196.0422),
    (196.1303, 196.2005, 196.2889, 196.0343, 196.1811),
    (196.2795, 196.1748, 196.1494, 196.1485, 195.9885),
    (196.2119, 196.1051, 196.1850, 196.0052, 196.2090),
)
"""NIST Statistical Reference Datasets, analysis of variance, SiRstv: five instruments, certified values."""

GROUPS = st.lists(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12), min_size=2, max_size=6)


def computed(*groups: object) -> Anova:
    result = one_way_anova(table(*groups))  # type: ignore[arg-type]
    assert isinstance(result, Anova)
    return result


def test_certified_values_of_nist() -> None:
    result = computed(*NIST_SIRSTV)
    assert (result.df_between, result.df_within) == (4, 20)
    assert result.f == pytest.approx(1.18046237440255, rel=1e-9)
    assert result.ss_between == pytest.approx(5.11462616e-2, rel=1e-9)
    assert result.ss_within == pytest.approx(2.16636560e-1, rel=1e-9)
    assert result.eta_squared == pytest.approx(1.90999039051129e-1, rel=1e-9)
    assert math.sqrt(result.ms_within) == pytest.approx(1.04076068334656e-1, rel=1e-9)


@pytest.mark.parametrize(("offset", "digits"), [(0.0, 1e-12), (1e6, 1e-8), (1e12, 1e-2)])
def test_certified_values_of_nist_with_many_constant_leading_digits(offset: float, digits: float) -> None:
    # SmLs01, SmLs04 and SmLs07: nine treatments of 21 values around .4, .3, .5, .3, ..., certified F = 21.
    # Doubles near 10^12 are 10^-4 apart, so nothing comes closer there.
    around = (0, *(-1, 1) * 10)
    groups = [[offset + (tenths + d) / 10 for d in around] for tenths in (4, 3, 5, 3, 5, 3, 5, 3, 5)]
    result = computed(*groups)
    assert (result.df_between, result.df_within) == (8, 180)
    assert result.f == pytest.approx(21, rel=digits)


def test_three_groups_computed_by_hand() -> None:
    # Means 2, 3, 7 around 4: between = 3 * (4 + 1 + 9) = 42; within = 2 + 2 + 2 = 6; F = 21 / 1.
    result = computed([1, 2, 3], [2, 3, 4], [6, 7, 8])
    assert (result.ss_between, result.ss_within, result.f) == (42, 6, 21)
    assert result.eta_squared == pytest.approx(42 / 48)
    assert result.omega_squared == pytest.approx((42 - 2 * 1) / (48 + 1))
    assert result.p == pytest.approx(8**-3)  # with 2 and m df, p = (1 + 2 F / m) ** (-m / 2)


def test_groups_of_different_size_computed_by_hand() -> None:
    # Means 1 and 4 around 2.5 of (0, 2) and (3, 5)... with a third value 4: grand mean 14 / 5 = 2.8.
    result = computed([0, 2], [3, 5, 4])
    assert result.ss_between == pytest.approx(2 * 1.8**2 + 3 * 1.2**2)
    assert result.ss_within == pytest.approx(4)
    assert (result.df_between, result.df_within) == (1, 3)


@settings(deadline=None)
@given(GROUPS)
def test_it_agrees_with_scipy(groups: list[list[float]]) -> None:
    assume(all(max(group) - min(group) > 0.01 for group in groups))
    expected, result = f_oneway(*groups), computed(*groups)
    assume(expected.statistic >= 0)  # scipy takes within as total - between, which rounding can make negative
    assert result.f == pytest.approx(float(expected.statistic), rel=1e-6, abs=1e-9)
    assert result.p == pytest.approx(float(expected.pvalue), rel=1e-5, abs=1e-12)


@settings(deadline=None)
@given(GROUPS, st.floats(0.5, 2), st.floats(-100, 100))
def test_a_change_of_unit_changes_no_f(groups: list[list[float]], scale: float, shift: float) -> None:
    assume(all(max(group) - min(group) > 0.01 for group in groups))
    changed = computed(*[[scale * v + shift for v in group] for group in groups])
    assert changed.f == pytest.approx(computed(*groups).f, rel=1e-5, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=5), min_size=1, max_size=5))
def test_it_never_answers_with_a_number_that_is_none(groups: list[list[float | None]]) -> None:
    result = one_way_anova(table(*groups))
    if isinstance(result, Anova):
        numbers = (result.f, result.p, result.eta_squared, result.omega_squared)
        assert all(math.isfinite(number) for number in numbers)
        assert 0 <= result.p <= 1
    else:
        assert result.because


def test_missing_values_and_empty_conditions_take_no_part() -> None:
    result = computed([1, None, 2, 3], [], [2, 3, 4], [6, 7, 8, None])
    assert (result.f, result.df_between, result.df_within) == (21, 2, 6)
    assert [condition.key for condition in result.without_data] == ["c1"]


@pytest.mark.parametrize(
    ("groups", "reason", "words"),
    [
        ([[], [None]], "no_data", "no condition has a value"),
        ([[1, 2, 3], [None]], "one_condition", "only C0 has values"),
        ([[1, 2, 3], [2]], "one_value", "C1 has only one value"),
        ([[1], [2]], "one_value", "C0 has only one value"),
        ([[3, 3, 3], [3, 3]], "no_variance", "all values are the same"),
        ([[0, 0], [0, 0]], "no_variance", "all values are the same"),
        ([[1, 1, 1], [2, 2]], "no_variance_within", "values do not vary within any condition"),
        ([[0.3, 0.1 + 0.2], [0.7, 0.7]], "no_variance_within", "values do not vary within any condition"),
        ([[0, 1e-200], [1, 1]], "no_variance_within", "values do not vary within any condition"),
    ],
)
def test_what_cannot_be_computed_says_why(groups: list[list[float | None]], reason: str, words: str) -> None:
    result = one_way_anova(table(*groups))
    assert isinstance(result, NotComputable)
    assert (result.reason, result.because) == (reason, words)
    assert str(result) == f"not computable because {words}"


def test_one_condition_that_does_not_vary_is_no_obstacle() -> None:
    assert computed([2, 2, 2], [1, 2, 3]).f == 0
