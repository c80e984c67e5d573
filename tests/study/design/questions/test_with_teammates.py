"""Items that are asked only after episodes with teammates."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.test import Client

from study.analysis.analysis_results import analyse_present_data
from study.design.blueprint import Blueprint, blueprint_of
from study.design.models import Condition, Study, SurveyItem
from study.design.page_and_item_order import items_for
from study.design.questions.item_kinds import item_problems
from study.design.readiness_checks import readiness_problems
from study.exports.export_registry import get_table
from study.participants.models import Answer
from study.participation.page_progress import finish_page
from tests.study.factories import enter, make_study, play_out

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Alone in c0, with two teammates in c1; i1 asks about teammates, both items make one scale."""
    study = make_study(orders="fixed")
    Condition.objects.filter(key="c1").update(coplayer="random", teammates=2)
    SurveyItem.objects.update(scale="Trust")
    SurveyItem.objects.filter(key="i1").update(needs_teammates=True)
    return study


def test_alone_the_page_does_not_have_it_and_goes_on_without(study: Study, client: Client) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    first = person.rounds.get(position=1)
    assert first.episode
    play_out(first.episode)
    page = client.get(person.get_absolute_url()).content.decode()
    assert "item_i0" in page
    assert "item_i1" not in page
    answer = client.post(person.get_absolute_url(), {"page": "survey", "position": 1, "item_i0": 4})
    assert answer.status_code == 302
    first.refresh_from_db()
    assert first.answered_at


def test_the_data_have_no_column_for_what_was_not_asked(study: Study) -> None:
    names = [column.name for column in get_table("participants").columns_of(study)]
    asked = [name for name in names if name.startswith("c") and name.endswith(("i0", "i1", "_score"))]
    assert asked == ["c0.i0", "c1.i0", "c1.i1", "c1.trust_score"]


def test_programs_made_at_once_leave_it_out_and_its_scale_has_no_score_alone(study: Study) -> None:
    call_command("make_synthetic", "small", "--participants", "8", "--recordings", "1", stdout=io.StringIO())
    assert not Answer.objects.filter(item__key="i1", round__condition__key="c0").exists()
    assert Answer.objects.filter(item__key="i1", round__condition__key="c1").exists()
    found = {one.measure.label: one for one in analyse_present_data(study, "synthetic").measures}
    for label in ("Measure 1", "Trust: mean of the items"):
        assert [one.label for one in found[label].table.without_data()] == ["Condition 0"]
        assert found[label].table.missing("c0") == 0  # it was not asked


def test_only_what_is_asked_after_episodes_can_depend_on_them() -> None:
    item = SurveyItem(key="age", place="about", needs_teammates=True)
    assert "needs_teammates" in item_problems(item.plan)
    assert not item_problems(SurveyItem(key="trust", needs_teammates=True).plan)


def test_an_older_document_does_not_know_of_it(study: Study) -> None:
    design = blueprint_of(study)
    assert "needs_teammates" not in design.in_format(2).to_json()["items"][0]
    older = Blueprint.from_json(design.in_format(2).to_json())
    assert [item.needs_teammates for item in older.items] == [False, False]
    assert Blueprint.from_json(design.to_json()) == design


def test_the_order_of_a_shuffled_survey_is_the_same_alone() -> None:
    study = make_study(items=6, shuffle_items=True)
    Condition.objects.filter(key="c1").update(coplayer="random", teammates=2)
    study.items.filter(key="i5").update(needs_teammates=True)
    design = blueprint_of(study)
    for number in range(1, 9):
        alone, together = (
            [item.key for item in items_for(design, "survey", number, key)] for key in ("c0", "c1")
        )
        assert alone == [key for key in together if key != "i5"]


def test_a_frozen_document_of_before_stays_what_it_was(study: Study) -> None:
    SurveyItem.objects.update(needs_teammates=False)
    old = blueprint_of(study).in_format(2)
    assert "needs_teammates" not in old.to_json()["items"][0]
    assert Blueprint.from_json(old.to_json()).digest == old.digest


def test_an_empty_survey_and_a_scale_without_score_are_told(study: Study) -> None:
    words = [one.words for one in readiness_problems(study)]
    assert "The sub-scale “Trust” gets no score alone: not all of its questions are asked there." in words
    SurveyItem.objects.update(needs_teammates=True)
    assert "No questions are asked after the episodes of Condition 0." in [
        one.words for one in readiness_problems(study)
    ]
