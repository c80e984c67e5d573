"""The two ready studies of leading and following, as they ship: one in a kitchen, one in the grids."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.test import Client

from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Message
from kitchen.replay.replay_verification import verify_replays
from study.design.blueprint import blueprint_of
from study.design.condition_seats import seats_of
from study.design.consent_checks import missing_statements
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.models import Study
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from study.pilot.synthetic.recorded_episodes import record_episode
from tests.conftest import Once
from tests.nightly import nightly
from tests.study.factories import enter

pytestmark = pytest.mark.django_db

FILES = {"lead_or_follow": "cuisine", "lead_or_follow_grids": "overcooked"}


BOTH = [*FILES]
CUISINE = [BOTH[0], *nightly(*BOTH[1:])]
"""Of costly tests, only those in the kitchen always run."""


@pytest.fixture(scope="module")
def shipped(once: Once) -> dict[str, int]:
    """Both studies as they ship: their pks."""
    with once():
        return {name: study_from_file(DEMO_FILE.with_name(READY_STUDIES[name][1])).pk for name in BOTH}


@pytest.fixture(params=BOTH)
def study(request: pytest.FixtureRequest, shipped: dict[str, int]) -> Study:
    return Study.objects.get(pk=shipped[request.param])


def test_only_the_leader_differs_between_the_games(study: Study) -> None:
    design = blueprint_of(study)
    assert (list(blocking_problems(study)), readiness_problems(study)) == ([], [])
    assert (list(missing_statements(design)), missing_translations(design)) == ([], {"es": [], "zh-hans": []})
    assert [one.key for one in design.conditions] == ["person_leads", "mind_leads", "nobody_leads"]
    assert len({(one.world, str(one.settings), seats_of(one)) for one in design.conditions}) == 1
    assert len(design.items_at("check")) == 5
    assert len({str(one.goal) for one in design.conditions}) == 1
    assert not any(one.ends_at_goal for one in design.conditions)


@pytest.mark.parametrize("study", CUISINE, indirect=True)
def test_a_game_reaches_its_goal_and_goes_on(study: Study) -> None:
    design = blueprint_of(study)
    nobody_leads = design.conditions[2]
    ((metric, least),) = nobody_leads.goal.items()
    recording = record_episode(design, nobody_leads, seed=1, number=1, steps=35)
    reached = [row["number"] for row in recording.steps if row["score"][metric] >= least]
    assert reached and reached[0] < 35 and len(recording.steps) == 35


def test_practice_is_in_both_roles_at_once(study: Study) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    person.refresh_from_db()
    assert person.practice and person.practice.organisation
    assert person.practice.organisation["commands"] == [[0, 1]]
    html = Client().get(person.get_absolute_url()).content.decode()
    assert 'id="job-form"' in html and 'id="hint"' in html


@pytest.mark.parametrize("study", CUISINE, indirect=True)
def test_programs_walk_through_it_without_a_language_model(study: Study) -> None:
    more = ["--participants", "2", "--recordings", "1", "--steps-per-episode", "8"]
    call_command("make_synthetic", study.slug, *more, stdout=io.StringIO())
    assert Participant.objects.filter(status="complete").exists()
    episodes = Episode.objects.all()
    assert all(verdict.holds for verdict in verify_episode_logs(episodes))
    assert not any(verdict.fault for verdict in verify_replays(episodes))
    assert not Decision.objects.filter(calls__isnull=False).exists()
    leaders = set(
        Message.objects.filter(kind="inform").values_list("episode__rounds__condition__key", "sender")
    )
    seats = seats_of(blueprint_of(study).conditions[0])
    assert {("person_leads", seats), ("mind_leads", seats)} <= leaders
    assert not any(condition == "nobody_leads" for condition, _ in leaders)
