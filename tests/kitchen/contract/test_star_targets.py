"""Results at which a team earns its stars."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kitchen.contract.metric_definitions import Metric
from kitchen.contract.star_targets import known_star_targets, read_star_targets
from kitchen.contract.world_errors import SettingsError

FIGURES = (
    Metric("served", "count", "Dishes served", words=("dish", "dishes")),
    Metric("steps", "count", "Steps", better="lower", words=("step", "steps")),
    Metric("gifts", "count", "Gifts", better="neither", words=("gift", "gifts")),
    Metric("secret", "count", "Not shown"),
)


@pytest.mark.parametrize(
    ("targets", "value", "earned", "after"),
    [
        ({"served": [3, 5, 7]}, 0, 0, 3),
        ({"served": [3, 5, 7]}, 3, 1, 5),
        ({"served": [3, 5, 7]}, 6, 2, 7),
        ({"served": [3, 5, 7]}, 9, 3, None),
        ({"served": [3, 5, 7]}, None, 0, 3),
        ({"steps": [60, 50, 40]}, 40, 3, None),
        ({"steps": [60, 50, 40]}, 51, 1, 50),
        ({"steps": [60, 50, 40]}, 61, 0, 60),
    ],
)
def test_stars_follow_from_the_result(targets: Any, value: float, earned: int, after: float | None) -> None:
    read = read_star_targets(targets, FIGURES)
    assert read
    assert (read.earned(value), read.next_target(value)) == (earned, after)


@pytest.mark.parametrize(
    ("targets", "why"),
    [
        ({"served": [3, 5]}, "served needs three different numbers above 0, ascending"),
        ({"served": [3, 5, 5]}, "ascending"),
        ({"served": [0, 5, 7]}, "ascending"),
        ({"served": [True, 5, 7]}, "ascending"),
        ({"served": "357"}, "ascending"),
        ({"served": 3}, "ascending"),
        ({"steps": [40, 50, 60]}, "steps needs three different numbers above 0, descending"),
        ({"gifts": [1, 2, 3]}, "name one of served, steps"),
        ({"secret": [1, 2, 3]}, "name one of served, steps"),
        ({"served": [1, 2, 3], "steps": [3, 2, 1]}, "name one of served, steps"),
    ],
)
def test_targets_that_mean_nothing_are_refused(targets: Any, why: str) -> None:
    with pytest.raises(SettingsError, match=f"^star_targets: .*{re.escape(why)}"):
        read_star_targets(targets, FIGURES)


def test_stored_targets_of_a_metric_that_was_renamed_show_no_stars() -> None:
    assert known_star_targets({"dishes": [1, 2, 3]}, FIGURES) is None
    assert known_star_targets({"served": [1, 2, 3]}, FIGURES)


def test_without_targets_there_are_no_stars_even_where_participants_see_no_metric() -> None:
    assert read_star_targets({}, FIGURES) is None
    assert read_star_targets({}, FIGURES[3:]) is None
    with pytest.raises(SettingsError, match="participants see no metric"):
        read_star_targets({"secret": [1, 2, 3]}, FIGURES[3:])
