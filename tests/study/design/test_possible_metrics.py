"""Only metrics that a study's conditions can measure are listed."""

from __future__ import annotations

import pytest

from kitchen.registry.world_metrics import metrics_side_by_side
from study.design.blueprint import ConditionPlan
from study.design.possible_metrics import possible_metrics

ABOUT_AGENTS = {"aim_changes", "aim_milliseconds", "policy_lines_used", "recorded_steps_alike"}


def played_by(coplayer: str, *, clock: str = "turn") -> ConditionPlan:
    given = {"key": coplayer, "name": coplayer, "label": coplayer, "coplayer_settings": {}}
    return ConditionPlan.model_validate(
        {"world": "overcooked", "settings": {"clock": clock}, "teammates": 1, "coplayer": coplayer} | given
    )


def about_agents(*played: ConditionPlan) -> set[str]:
    found = possible_metrics(metrics_side_by_side(["overcooked"]), played)
    return ABOUT_AGENTS & {one.name for one in found}


@pytest.mark.parametrize(
    ("coplayer", "clock", "found"),
    [
        ("greedy", "tick", set()),
        ("fast_and_slow", "tick", {"aim_changes", "aim_milliseconds"}),
        ("fast_and_slow", "turn", {"aim_changes"}),
        ("written_policy", "turn", {"policy_lines_used"}),
        ("recorded", "tick", {"recorded_steps_alike"}),
    ],
)
def test_a_metric_about_one_kind_of_agent_needs_that_agent(
    coplayer: str, clock: str, found: set[str]
) -> None:
    assert about_agents(played_by(coplayer, clock=clock)) == found


def test_a_study_has_the_metrics_of_all_of_its_conditions() -> None:
    assert about_agents(played_by("greedy"), played_by("recorded")) == {"recorded_steps_alike"}
