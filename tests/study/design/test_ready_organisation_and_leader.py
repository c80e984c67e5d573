"""The ready study of organisation x leader, as it ships: two factors within people, and no language model."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Decision, Episode, Message
from kitchen.replay.replay_verification import verify_replays
from study.analysis.analysis_sample import designed_measures
from study.design.blueprint import blueprint_of
from study.design.condition_seats import people_in, planned_organisation, seats_of
from study.design.consent_checks import missing_statements
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.factors import all_cells, unplanned_differences
from study.design.models import Study
from study.design.readiness_checks import blocking_problems, readiness_problems
from study.design.study_files import study_from_file
from study.design.translated_texts import missing_translations
from study.editor.factor_forms import condition_values
from study.participants.models import Participant

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return study_from_file(DEMO_FILE.with_name(READY_STUDIES["organisation_and_leader"][1]))


def test_four_cells_differ_only_in_organisation_and_leader(study: Study) -> None:
    design = blueprint_of(study)
    assert (list(blocking_problems(study)), readiness_problems(study)) == ([], [])
    assert (list(missing_statements(design)), missing_translations(design)) == ([], {"es": [], "zh-hans": []})
    assert "success_rate" in {one.key for one in designed_measures(study)}
    assert [dict(one.levels) for one in design.conditions] == all_cells(design.factors)
    base = condition_values(design.conditions[0])
    for one in design.conditions:
        assert unplanned_differences(base, design.factors, one.levels, condition_values(one)) == []
        assert (seats_of(one), people_in(one)) == (3, (0,))
    commands = {one.key: planned_organisation(one).commands for one in design.conditions}  # type: ignore[union-attr]
    assert commands == {
        "star_person": {(0, 1), (0, 2)},
        "star_program": {(1, 0), (1, 2)},
        "chain_person": {(0, 1), (1, 2)},
        "chain_program": {(1, 0), (0, 2)},
    }


def test_a_program_leads_the_chain_without_a_language_model_and_its_episodes_replay(study: Study) -> None:
    study.conditions.exclude(key="chain_program").delete()  # the others take as long
    study.parts.filter(kind="practice").update(enabled=False)
    more = ["--participants", "1", "--recordings", "1", "--steps-per-episode", "10"]
    call_command("make_synthetic", study.slug, *more, stdout=io.StringIO())
    assert Participant.objects.filter(status="complete").exists()
    episodes = Episode.objects.all()
    assert all(verdict.holds for verdict in verify_episode_logs(episodes))
    assert not any(verdict.fault for verdict in verify_replays(episodes))
    assert not Decision.objects.filter(calls__isnull=False).exists()
    jobs = set(Message.objects.filter(kind="inform").values_list("episode__rounds__condition__key", "sender"))
    assert jobs == {("chain_program", 1), ("chain_program", 0)}, "the person leads who comes after"
