"""The ready study beside a trained network, as it ships."""

from __future__ import annotations

import pytest

from kitchen.agents.policy.policy_folder import find_policy, shipped_policies
from study.design.blueprint import blueprint_of
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.readiness_checks import blocking_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations

pytestmark = pytest.mark.django_db


def test_a_shipped_network_and_a_recording_play_beside_people_without_an_upload() -> None:
    study = study_from_file(DEMO_FILE.with_name(READY_STUDIES["learned_partners"][1]))
    conditions = {one.key: one for one in study.conditions.all()}
    coplayers = [one.coplayer for one in conditions.values()]
    assert coplayers == ["greedy", "grid_planner", "policy", "recorded"]
    network = find_policy(conditions["ppo"].coplayer_settings["file"])
    assert network in shipped_policies() and network.name == "cramped_room_ppo"
    assert conditions["ppo"].cautions == () == conditions["recorded"].cautions
    assert not list(blocking_problems(study))
    assert missing_translations(blueprint_of(study)) == {"es": [], "zh-hans": []}
