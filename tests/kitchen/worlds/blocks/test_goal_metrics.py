"""Success, time, gifts, the share of targets, and the time and plannings of a team, in games with a goal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kitchen.contract.team_measures import team_measures
from kitchen.worlds.blocks.gather_world import Gather
from tests.kitchen.agents.hourglass.leading import play as play_team
from tests.kitchen.worlds.blocks.games import game, play, step


def test_what_was_given_and_made_counts_though_the_time_ran_out() -> None:
    world = game("cooking", {"bread": 1, "stick": 5}, {"egg": 1}, targets="bread+golden_apple", limit=3)
    assert world.score() == {
        "success": 0,
        "steps_used": None,
        "gives": 0,
        "items_given": 0,
        "targets_made": 0.5,
    }
    step(world, "give 1 stick 3", "give 0 egg 1")
    step(world, "give 1 bread 1")
    assert not world.cut_off
    step(world)
    assert world.cut_off and not world.over and world.has_ended
    assert world.score() == {
        "success": 0,
        "steps_used": None,
        "gives": 3,
        "items_given": 5,
        "targets_made": 0.5,
    }
    assert step(world, "stay 1") == [] and world.clock == 3, "after the end nothing happens"


def test_targets_count_wherever_they_are_but_one_seat_must_hold_them_all() -> None:
    world = game("cooking", {"bread": 1}, {"golden_apple": 1}, targets="bread+golden_apple")
    assert (world.score()["targets_made"], world.score()["success"]) == (1, 0)
    play(world, "give 1 bread 1")
    assert world.score() == {
        "success": 1,
        "steps_used": 1,
        "gives": 1,
        "items_given": 1,
        "targets_made": 1,
    }


@pytest.mark.parametrize("schedule", ["together", "free"])
def test_a_team_has_its_time_to_the_goal_and_its_plannings(schedule: str) -> None:
    """TC is counted in each schedule. mPT means nothing where all plan in each step."""
    loop = play_team(
        "hourglass+follower",
        "tree",
        world="blocks_gather",
        game={"task": "50_logs"},
        steps=40,
        sees="all",
        schedule=schedule,
    )
    team, *members = team_measures(replace(loop.log(), goal={"amount": 5.0}), Gather)
    assert len(members) == 2 and 10 < team["steps_to_goal"] < 40
    scores = [entry.score["amount"] for entry in loop.log().steps]
    assert [amount >= 5 for amount in scores].index(True) + 1 == team["steps_to_goal"]
    if schedule == "free":
        assert team["plannings_a_member"] == sum(one["plannings"] for one in members) / 2 > 0
    else:
        assert team["plannings_a_member"] is None
    late, *_ = team_measures(replace(loop.log(), goal={"amount": 50.0}), Gather)
    assert late["steps_to_goal"] is None
