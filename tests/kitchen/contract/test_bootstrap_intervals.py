"""Intervals of means and shares are percentiles of bootstrap samples; one value has none."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from kitchen.contract.bootstrap_intervals import mean_interval, share_interval


@pytest.mark.parametrize(("done", "events"), [(1, 2), (3, 4), (7, 30), (29, 30), (512, 1000)])
def test_the_interval_of_a_share_is_that_of_all_samples(done: int, events: int) -> None:
    expected = binom.ppf((0.025, 0.975), events, done / events) / events
    assert share_interval(done, events - done) == pytest.approx(tuple(expected))


def test_equal_events_have_an_interval_without_width_and_one_event_has_none() -> None:
    assert share_interval(5, 0) == (1, 1) and share_interval(0, 5) == (0, 0)
    assert share_interval(1, 0) is share_interval(0, 0) is None


def test_the_interval_of_a_mean_is_between_its_values_and_always_the_same() -> None:
    values = [0.0, 0.25, 1.0, 1.0]
    low, high = mean_interval(values) or (1, 0)
    assert 0 <= low < 0.5625 < high <= 1 and mean_interval(values) == (low, high)
    assert mean_interval([0.5]) is mean_interval([]) is None
