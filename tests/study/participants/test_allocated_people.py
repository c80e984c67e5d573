"""Quotas and teams: who counts, who waits for a partner, and when no place is left."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from study.design.models import Study, StudyPart, SurveyItem
from study.design.readiness_checks import readiness_problems
from study.participants.allocated_people import allocation_progress
from study.participants.entry_limits import is_full
from study.participants.models import AWAY_SECONDS, Group, GroupMember, Participant
from study.participation.enter_study import participant_enter
from study.participation.page_progress import answers_submit, finish_page
from tests.study.design.test_between_groups import grouped_study
from tests.study.factories import enter

pytestmark = pytest.mark.django_db


def pairs(quotas: str = "", **more: Any) -> Study:
    """A study with two groups, in which two people play each condition together."""
    study = grouped_study(allocation={"quotas": quotas, **more})
    team = {"kind": "central", "people": [0, 1]}
    study.conditions.update(teammates=2, coplayer="planner", organisation=team)
    return study


def asks_age(study: Study) -> None:
    StudyPart.objects.create(study=study, kind="about", enabled=True)
    options = {"kind": "single", "options": ["young", "old"], "place": "about"}
    SurveyItem.objects.create(study=study, key="age", measure="Age", text="How old?", position=9, **options)


def come(study: Study, age: str = "") -> Participant:
    person = enter(study, f"person {study.participants.count()}")
    if age:
        assert answers_submit(participant_id=person.pk, page="about", values={"age": age})
    person.refresh_from_db()
    return person


def told(study: Study) -> str:
    return " ".join(one.words for one in readiness_problems(study) if one.hinders)


def test_without_consent_the_last_people_of_each_group_can_go_on() -> None:
    study = grouped_study(allocation={"quotas": "chef: 1\nassistant: 1"}, max_participants=2)
    study.parts.filter(kind="consent").update(enabled=False)
    people = [participant_enter(study_id=study.pk, entry=name) for name in ("one", "two")]
    assert {one.between_group for one in people} == {"chef", "assistant"} and is_full(study)
    assert all(finish_page(participant_id=one.pk, page="guide") for one in people)


def test_quotas_of_people_who_play_together_are_multiples_of_them() -> None:
    study = pairs("chef: 3\nassistant: 4")
    assert "The quota of chef admits 3 people, but 2 people play together. Use a multiple of 2." in told(
        study
    )
    study.allocation = {"quotas": "chef: 2\nassistant: 4"}
    assert "Use a multiple" not in told(study)


def test_people_who_play_together_and_get_different_conditions_are_a_problem() -> None:
    study = pairs()
    assert "Only people with the same conditions meet" not in told(study)
    Study.objects.update(rounds_per_person=2)
    study.conditions.update(between_group="")
    assert "Only people with the same conditions meet" in told(Study.objects.get())


def test_a_team_that_waits_keeps_its_group_open() -> None:
    study = pairs("chef: 2\nassistant: 2", counts_drop_outs=True)
    first = come(study)
    assert come(study).between_group == first.between_group
    third, gone = come(study), come(study)
    assert third.between_group == gone.between_group != first.between_group and is_full(study)
    Participant.objects.filter(pk=gone.pk).update(status=Participant.Status.TIMED_OUT)
    assert not is_full(study)
    last = come(study)
    assert (last.between_group, last.allocation["method"]) == (third.between_group, "team")
    assert is_full(study)


def test_a_team_is_completed_as_far_as_quotas_of_answers_allow() -> None:
    study = pairs("chef, age = young: 1\nassistant, age = young: 1")
    asks_age(study)
    first, second, third = come(study, "young"), come(study, "young"), come(study, "old")
    assert first.between_group != second.between_group and second.allocation["method"] == "blocks"
    assert (third.between_group, third.allocation["method"]) == (first.between_group, "team")


@pytest.mark.parametrize("here", [True, False])
def test_somebody_who_left_the_lobby_waits_for_nobody(here: bool) -> None:
    study = pairs()
    first = come(study)
    group = Group.objects.create(study=study, version=first.version, number=1, size=2, order=[])
    seen = timezone.now() - (0 if here else 2) * AWAY_SECONDS
    GroupMember.objects.create(group=group, participant=first, place=0, seen_at=seen)
    assert (come(study).allocation["method"] == "team") is here


def test_counting_for_quotas_reads_no_design() -> None:
    study = grouped_study(allocation={"quotas": "chef: 1\nassistant: 1"})
    come(study)
    study = Study.objects.get()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert not is_full(study)
    assert len(asked) == 2
    with CaptureQueriesContext(connection) as asked:
        assert allocation_progress(study)
    assert len(asked) == 2
