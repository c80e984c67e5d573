"""What became of everybody, and what was done otherwise than it was preregistered."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from kitchen.registry.world_registry import get_world
from study.analysis.analysis_results import analyse_present_data
from study.analysis.analysis_sample import Sample
from study.design.blueprint import blueprint_of
from study.design.form_labels import difference_field_label
from study.design.models import Study
from study.design.preregistration import freeze_study
from study.design.study_versions import Difference
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation.enter_study import participant_enter
from study.reporting.consort_diagram import FlowStage, participant_flow
from study.reporting.preregistration_deviations import deviations_of
from tests.conftest import Once
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A frozen study in which three went the whole way and others did not; its pk."""
    with once():
        owner = User.objects.create_user("ada")
        study = make_study(planned_participants=4, planned_contrasts="H1: c0 -1, c1 1")
        freeze_study(study_id=study.pk, user=owner)
        for number in range(3):
            complete(study, f"person {number}", value=number + 1)
        Participant.objects.filter(pk=complete(study, "odd").pk).update(
            excluded_at=timezone.now(), excluded_reason="answered in four seconds"
        )
        participant_withdraw(participant_id=enter(study, "gone").pk)
        enter(study, "somewhere")
        participant_enter(study_id=study.pk, entry="at the door")
    return study.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def test_everybody_who_came_is_somewhere_in_the_chart(study: Study) -> None:
    flow = participant_flow(Sample(study, who="people"), analyse_present_data(study, "people"))
    still = "still taking part, or just stopped"
    assert [(one.number, dict(one.left)) for one in flow[1:]] == [
        (5, {still: 1}),
        (4, {"excluded by staff: answered in four seconds": 1}),
        (3, {}),
    ]
    assert (flow[0].number, flow[0].left[-1]) == (7, (still, 1))
    for one, following in pairwise(flow):
        assert one.number - sum(number for _, number in one.left) == following.number
    nobody = participant_flow(Sample(study, who="synthetic"), analyse_present_data(study, "synthetic"))
    assert nobody[0] == FlowStage("opened the study", 0)


def test_deviations_are_found_in_the_design_the_sample_and_the_tests(study: Study) -> None:
    found = deviations_of(study, analyse_present_data(study, "people"))
    by_kind: dict[str, list[str]] = {}
    for one in found:
        by_kind.setdefault(one.kind, []).append(one.words)
    assert by_kind["sample"] == ["3 participants analysed: 1 fewer than planned (4)."]
    assert "none was planned" in by_kind["exclusion"][0]
    assert by_kind["test not planned"][0].startswith("Run beside what was planned")
    assert not {"design", "program"} & by_kind.keys()

    study.conditions.filter(key="c1").update(name="Another name", step_seconds=20)
    Study.objects.filter(pk=study.pk).update(hypotheses="Other\nones")
    study.refresh_from_db()
    found = deviations_of(study, analyse_present_data(study, "people"))
    assert [one.words for one in found if one.kind == "design"] == [
        "Changed after freezing: study, Hypotheses.",
        "Changed after freezing: condition “Another name”, Name, for you and the figures: "
        "it was Condition 1, and is Another name.",
        "Changed after freezing: condition “Another name”, Step timer, seconds: it was nothing, and is 20.0.",
    ]


def test_a_model_that_was_none_and_is_none_is_no_deviation(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(planned_participants=3)
    for condition in study.conditions.all():
        condition.coplayer_settings = {**condition.coplayer_settings, "model": ""}
        condition.save()
    study.refresh_from_db()
    found = deviations_of(study, analyse_present_data(study, "people"))
    assert not [one.words for one in found if "it was nothing, and is nothing" in one.words]


def test_without_a_preregistration_that_is_the_one_thing_that_is_told() -> None:
    study = make_study("unplanned")
    complete(study)
    (only,) = deviations_of(study, analyse_present_data(study, "people"))
    assert (only.kind, "exploratory" in only.words) == ("preregistration", True)


@pytest.mark.parametrize(
    ("where", "field", "words"),
    [
        ("study", "idle_minutes", "Time out after minutes without action"),
        ("study", "order of items", "Order of items"),
        ("item i0", "points", "Points of the scale"),
        ("condition c0", "coplayer", "Co-player"),
        ("condition c0", "settings: alpha", "SETTING"),
        ("part check", "settings: on_failure", "After the last failed attempt"),
        ("end complete", "has_code", "Fixed code"),
    ],
)
def test_a_field_that_was_changed_is_called_as_its_form_calls_it(
    study: Study, where: str, field: str, words: str
) -> None:
    design = blueprint_of(study)
    (alpha,) = (one.label for one in get_world(design.conditions[0].world).settings if one.name == "alpha")
    assert difference_field_label(Difference(where, field, 1, 2), design) == words.replace("SETTING", alpha)
