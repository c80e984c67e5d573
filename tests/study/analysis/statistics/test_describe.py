"""Means and their spread, against values by hand and scipy."""

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from study.analysis.statistics.anova_and_tukey import describe
from tests.study.analysis.statistics.test_analysis import table


def test_a_group_computed_by_hand() -> None:
    # Sum 40, squares around 5 add up to 32; t(.975, 7) = 2.364624, as in any printed table.
    (found,) = describe(table([2, 4, 4, 4, 5, 5, 7, 9]))
    se = (32 / 7 / 8) ** 0.5
    assert (found.n, found.mean, found.median, found.minimum, found.maximum) == (8, 5, 4.5, 2, 9)
    assert found.sd == pytest.approx((32 / 7) ** 0.5)
    assert found.se == pytest.approx(se)
    assert found.ci_low == pytest.approx(5 - 2.364624 * se, rel=1e-6)
    assert found.ci_high == pytest.approx(5 + 2.364624 * se, rel=1e-6)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_it_agrees_with_scipy(values: list[float]) -> None:
    (found,) = describe(table(values))
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.se == pytest.approx(float(stats.sem(values)), rel=1e-6, abs=1e-6)
    if found.se:
        low, high = stats.t.interval(0.95, len(values) - 1, loc=found.mean, scale=found.se)
        assert found.ci_low == pytest.approx(low)
        assert found.ci_high == pytest.approx(high)


def test_one_value_has_a_mean_and_no_spread() -> None:
    (found,) = describe(table([3.0]))
    assert (found.n, found.mean, found.median) == (1, 3.0, 3.0)
    assert found.sd is found.se is found.ci_low is found.ci_high is None


def test_no_value_has_nothing_but_its_count_of_missing() -> None:
    (found,) = describe(table([None, None]))
    assert (found.n, found.missing) == (0, 2)
    assert found.mean is found.median is found.minimum is found.maximum is None


def test_missing_values_are_counted_and_left_out() -> None:
    (found,) = describe(table([1.0, None, 3.0]))
    assert (found.n, found.missing, found.mean) == (2, 1, 2.0)


def test_values_that_do_not_vary_have_an_interval_without_width() -> None:
    (found,) = describe(table([2.0, 2.0, 2.0]))
    assert (found.sd, found.ci_low, found.ci_high) == (0.0, 2.0, 2.0)
