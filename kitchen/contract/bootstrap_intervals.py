"""Compute 95 % bootstrap confidence intervals of means and proportions.

Source: the percentile method (Efron and Tibshirani, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

Interval = tuple[float, float]
"""The low and the high end."""
FEWEST_VALUES = 2
"""Fewest values or events that have an interval: fewer say nothing about the spread."""
BOOTSTRAP_SAMPLES = 1000
ENDS = (0.025, 0.975)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return a bootstrap interval of the mean of these values. None for fewer than two values. The same
    values always give the same interval."""
    if len(values) < FEWEST_VALUES:
        return None
    import numpy as np  # slow to import

    drawn = np.random.default_rng(1).choice(np.asarray(values, float), (BOOTSTRAP_SAMPLES, len(values)))
    low, high = np.quantile(drawn.mean(axis=1), ENDS)
    return float(low), float(high)


@lru_cache(maxsize=1024)
def share_interval(done: int, missed: int) -> Interval | None:
    """Return a bootstrap interval of a share: `done` of `done + missed` events. None for fewer than two
    events.

    The resampled shares follow a binomial distribution, so nothing is drawn at random. SciPy is not used: its
    slow import would block a web process.
    """
    events = done + missed
    if events < FEWEST_VALUES:
        return None
    if not done or not missed:
        return (done / events,) * 2
    return _quantile(ENDS[0], done, events) / events, _quantile(ENDS[1], done, events) / events


def _quantile(share: float, done: int, events: int) -> int:
    """Return the quantile `share` of a binomial distribution with `events` trials and mean `done`."""
    found, total = -1, 0.0
    while total < share and found < events:
        found += 1
        total += math.exp(_log_probability(found, done, events))
    return found


def _log_probability(count: int, done: int, events: int) -> float:
    ways = math.lgamma(events + 1) - math.lgamma(count + 1) - math.lgamma(events - count + 1)
    return ways + count * math.log(done / events) + (events - count) * math.log(1 - done / events)
