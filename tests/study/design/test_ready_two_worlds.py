"""The ready study that compares two kinds of agents in both worlds, as it ships."""

from __future__ import annotations

import pytest

from study.design.blueprint import blueprint_of
from study.design.demo import READY, TWO_WORLDS
from study.design.figures import measured
from study.design.files import study_from_file
from study.design.readiness import hindrances, missing
from study.design.texts import untranslated

pytestmark = pytest.mark.django_db


def test_everybody_meets_both_agents_in_both_worlds_and_rates_seven_measures_in_three_languages() -> None:
    study = study_from_file(TWO_WORLDS)
    assert READY["two_worlds"][1] == TWO_WORLDS.name
    played = {(each.coplayer, each.world) for each in study.conditions.all()}
    agents, worlds = ("skill_dispatcher", "proagent"), ("cuisine", "overcooked")
    assert played == {(agent, world) for agent in agents for world in worlds}
    assert {each.coplayer_settings["model"] for each in study.conditions.all()} == {"stand-in"}
    assert study.items.filter(place="survey").count() == 7
    assert not list(hindrances(study))
    told = [one.words for one in missing(study)]
    assert sum("A study has one practice episode. It is in Overcooked" in words for words in told) == 1
    assert untranslated(blueprint_of(study)) == {"es": [], "zh-hans": []}


def test_figures_belong_to_the_episodes_of_their_world() -> None:
    where = dict(measured(blueprint_of(study_from_file(TWO_WORLDS))))
    assert where["episodes in Cuisine"][0] == "success rate (higher is better)"
    assert where["episodes in Overcooked"][0] == "points (higher is better)"
    assert len(where) == 3
