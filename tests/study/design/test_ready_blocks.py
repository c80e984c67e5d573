"""The two ready studies with blocks, as they ship."""

from __future__ import annotations

import io
import re
import tomllib
from collections import Counter

import pytest
from django.core.management import call_command
from django.test import Client

from kitchen.contract.world import Json
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import replay_faults
from kitchen.worlds.blocks.blueprints import blueprint, parse_blueprint
from kitchen.worlds.blocks.parsed_requests import PLACE, REMOVE, UNCLEAR
from kitchen.worlds.blocks.request_parser import parse_requests
from study.design.blueprint import blueprint_of
from study.design.consent_checks import missing_statements
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study
from study.design.readiness_checks import readiness_problems
from study.design.round_plans import plan_sequences
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.editor.factor_services import cell_rows

pytestmark = pytest.mark.django_db

BLOCKS = ("blocks_voice", "blocks_plan")
PLAN_FILE = DEMO_FILE.with_name(READY_STUDIES["blocks_plan"][1])


def ready(name: str) -> Study:
    return study_from_file(DEMO_FILE.with_name(READY_STUDIES[name][1]))


@pytest.mark.parametrize("name", BLOCKS)
def test_they_open_without_a_warning_in_three_languages(name: str) -> None:
    study = ready(name)
    assert not readiness_problems(study)
    assert missing_translations(blueprint_of(study)) == {"es": [], "zh-hans": []}
    assert not list(missing_statements(blueprint_of(study))), "messages and speech are in the consent"


@pytest.mark.parametrize("name", BLOCKS)
def test_each_is_one_click_away(name: str, admin_client: Client) -> None:
    assert f'name="begins_as" value="{name}"' in admin_client.get("/staff/").content.decode()
    answer = admin_client.post("/staff/new/", {"begins_as": name})
    slug = f"{name.replace('_', '-')}-study"
    assert answer.headers["Location"] == f"/staff/{slug}/design/"
    made = Study.objects.get(slug=slug)
    assert (made.status, made.conditions.count()) == ("closed", ready(name).conditions.count())
    assert not readiness_problems(made)


def test_the_planner_understands_every_example_in_the_guide() -> None:
    document = tomllib.loads(PLAN_FILE.read_text())
    guides = [
        document["parts"]["guide"]["text"],
        *(one["parts.guide.text"] for one in document["texts"].values()),
    ]
    found = [re.findall(r"\*([^*]+)\*", text) for text in guides]
    assert [len(examples) for examples in found] == [9, 9, 9]
    requests = [list(parse_requests(one, ())) for examples in found for one in examples]
    assert all(len(one) == 1 and one[0].do != UNCLEAR for one in requests)
    plans = document["conditions"] + [document["parts"]["practice"]["settings"]["kitchen"]]
    for settings in (one["settings"] for one in plans):
        text = settings.get("own_blueprint")
        plan = parse_blueprint(text, "practice") if text else blueprint(settings["blueprint"])
        for request in (one for (one,) in requests if one.do in (PLACE, REMOVE)):
            (level,), columns, (row,) = request.places
            wanted = {plan.wanted((column, level, row)) for column in columns}
            assert wanted == {"oak_planks" if request.do == PLACE else "air"}, "an example spoils no building"


def test_everybody_cooks_beside_the_same_dispatcher_with_and_without_a_voice() -> None:
    voice, without = ready("blocks_voice").conditions.order_by("pk")
    for field in ("world", "settings", "coplayer", "coplayer_settings", "teammates"):
        assert getattr(voice, field) == getattr(without, field)
    assert voice.organisation["settings"] == {"talk": True, "spoken": True} and not without.organisation
    assert (voice.coplayer, voice.coplayer_settings["model"]) == ("blocks_dispatcher", "stand-in")


def test_knowledge_is_crossed_with_buildings_of_the_same_size_that_differ_in_nothing_else() -> None:
    study = ready("blocks_plan")
    conditions = study.conditions.all()
    settings = {one.key: dict(one.settings) for one in conditions}
    blocked = {key: each.pop("blueprint_blocked") for key, each in settings.items()}
    plans = {key: blueprint(each.pop("blueprint")) for key, each in settings.items()}
    assert len({(blocked[key], plans[key].name) for key in settings}) == 9
    assert len({str(each) for each in settings.values()}) == 1
    assert not [row.key for row in cell_rows(study) if row.condition is None or row.unplanned]
    assert [dict(one.materials) for one in plans.values()] == [{"stone": 50, "oak_planks": 46}] * 9
    assert {one.box.high for one in plans.values()} == {(4, 4, 4)}
    assert len({str(one.drawing()) for one in plans.values()}) == 3, "nobody knows a plan from before"


def test_everybody_meets_each_knowledge_and_each_building_once_and_both_are_balanced() -> None:
    design = blueprint_of(ready("blocks_plan"))
    assert (design.rounds, design.meant("main_test")) == (3, "mixed")
    sequences = plan_sequences(design.round_plan())
    cells = [[design.condition(key).levels for key in one.order] for one in sequences]
    for factor in ("knowledge", "building"):
        assert all(len({cell[factor] for cell in row}) == 3 for row in cells)
        places = Counter((place, cell[factor]) for row in cells for place, cell in enumerate(row))
        assert set(places.values()) == {len(cells) // 3}
    assert set(Counter(key for one in sequences for key in one.order).values()) == {len(cells) // 3}


def played(name: str, *more: str) -> dict[str, dict[str, Json]]:
    """Programs play in people's place; the score by condition. All replays must agree."""
    study = ready(name)
    call_command("make_synthetic", study.slug, "--participants", "1", *more, stdout=io.StringIO())
    episodes = Episode.objects.filter(rounds__participant__study=study)
    assert all(verdict.holds for verdict in verify_episode_logs(episodes))
    assert not [fault for record in read_episode_records(episodes) for fault in replay_faults(record)]
    return {one.rounds.get().condition.key: one.score for one in episodes}


def test_dishes_are_completed_with_and_without_a_voice_and_all_replays_agree() -> None:
    reached = played("blocks_voice", "--recordings", "1", "--steps-per-episode", "10")
    assert set(reached) == {"voice", "no_voice"}
    assert all(score["completed"] for score in reached.values())


@pytest.mark.nightly
def test_the_shelter_stands_whoever_knows_the_plan_and_a_partner_does_not_repeat_itself() -> None:
    reached = played("blocks_plan", "--recordings", "1")
    assert {key.partition("_")[0] for key in reached} == {"both", "you", "other"}
    assert all(score["score"] > 50 and score["messages_sent"] < 20 for score in reached.values())
