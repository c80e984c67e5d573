"""The planner in CuisineWorld: it always gets dishes done, whoever stands in the other seats."""

from __future__ import annotations

import warnings

import pytest

from kitchen.coplayers.evaluate import play_alone

LEVELS = [*(f"level_{number}" for number in range(13)), "level_12_fryer"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_dishes_get_done_in_every_level(level: str, agents: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played = play_alone("planner", seats=agents, settings={"level": level, "alpha": 2.0}, seed=1)
    assert played.completed >= min(agents + 1, 4)
