"""The ready study that compares two kinds of agents in both worlds, as it ships."""

from __future__ import annotations

import pytest

from study.design.blueprint import blueprint_of
from study.design.demo_study_files import READY_STUDIES, TWO_WORLDS
from study.design.metric_and_scale_names import comparison_metrics
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations

pytestmark = pytest.mark.django_db


def test_everybody_meets_both_agents_in_both_worlds_and_rates_seven_measures_in_three_languages() -> None:
    study = study_from_file(TWO_WORLDS)
    assert READY_STUDIES["two_worlds"][1] == TWO_WORLDS.name
    played = {(each.coplayer, each.world) for each in study.conditions.all()}
    agents, worlds = ("skill_dispatcher", "proagent"), ("cuisine", "overcooked")
    assert played == {(agent, world) for agent in agents for world in worlds}
    assert {each.coplayer_settings["model"] for each in study.conditions.all()} == {"stand-in"}
    assert study.items.filter(place="survey").count() == 7
    assert not list(blocking_problems(study))
    told = [one.words for one in readiness_problems(study)]
    assert sum("A study has one practice episode, here in Overcooked" in words for words in told) == 1
    assert missing_translations(blueprint_of(study)) == {"es": [], "zh-hans": []}


def test_figures_belong_to_the_episodes_of_their_world() -> None:
    where = dict(comparison_metrics(blueprint_of(study_from_file(TWO_WORLDS))))
    assert where["episodes in Cuisine"][0] == "success rate (higher is better)"
    assert where["episodes in Overcooked"][0] == "points (higher is better)"
    assert len(where) == 3
