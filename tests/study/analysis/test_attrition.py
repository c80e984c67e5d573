"""Who is counted how, and who is left out of the analysis and why."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from study.analysis import analysis_sample as selectors
from study.analysis.analysis_results import analyse_present_data
from study.analysis.analysis_sample import Sample
from study.analysis.statistics.markdown_report import (
    attrition_sentences,
    dependence_sentence,
    markdown_report,
)
from study.design.models import Study, SurveyItem
from study.monitor import staff_actions
from study.participants.end_and_erase_participation import participant_end, participant_withdraw
from study.participants.models import Participant
from study.participants.participant_counts import study_counts
from study.participation.enter_study import participant_enter
from tests.nightly import nightly
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


def analysed(study: Study) -> set[str]:
    sample = Sample(study, who="people")
    return {row.participant for row in selectors.observations(sample, selectors.measured_items(sample))}


def end(person: Participant, status: str) -> None:
    participant_end(participant_id=person.pk, status=status, reason="a test")


def test_drop_outs_are_counted_by_how_they_ended_and_previews_nowhere() -> None:
    study = make_study(steps=1)
    complete(study, "one")
    for number, status in enumerate(("timed_out", "timed_out", "technical", "failed_check")):
        end(enter(study, f"p{number}"), status)
    enter(study, "active")
    preview = participant_enter(study_id=study.pk, entry="staff", preview=True)
    participant_withdraw(participant_id=preview.pk)
    participant_enter(study_id=study.pk, entry="staff again", preview=True)
    counts = study_counts(study)
    assert (counts.entered, counts.active, counts.complete, counts.dropped) == (6, 1, 1, 4)
    found = selectors.attrition(Sample(study, who="people"))
    assert (found.entered, found.completed, found.unfinished, found.withdrew) == (6, 1, 5, 0)
    first = attrition_sentences(found)[0]
    assert "1 taking part, 1 failed the check of understanding, 2 timed out" in first


@pytest.mark.servers
def test_it_is_told_that_who_played_together_is_not_independent() -> None:
    study = make_study(steps=1)
    one, two, three = (complete(study, name) for name in ("one", "two", "three"))
    alone = selectors.attrition(Sample(study, who="people"))
    assert (alone.together, alone.shared, dependence_sentence(alone)) == (0, 0, "")
    for person in (two, three):
        first = one.rounds.get(condition__key="c1").episode
        person.rounds.filter(condition__key="c1").update(episode=first)
    found = selectors.attrition(Sample(study, who="people"))
    assert (found.together, found.shared) == (3, 1)
    assert dependence_sentence(found).startswith("3 participants analysed here played 1 episode together:")
    assert dependence_sentence(found) in markdown_report(analyse_present_data(study, "people"))
    participant_withdraw(participant_id=one.pk)
    staff_actions.participant_exclude(
        participant_id=two.pk, user=User.objects.create_superuser("ada"), reason="a test"
    )
    assert not dependence_sentence(selectors.attrition(Sample(study, who="people")))


def test_the_excluded_are_left_out_and_told_until_they_are_taken_back() -> None:
    study, user = make_study(steps=1), User.objects.create_superuser("ada")
    one, two = complete(study, "one"), complete(study, "two")
    said: dict[str, Any] = {"participant_id": one.pk, "user": user, "reason": "a test"}
    staff_actions.participant_exclude(**said)
    assert analysed(study) == {two.code}
    sentences = attrition_sentences(selectors.attrition(Sample(study, who="people")))
    assert "1 participant who completed the study left out: excluded by staff." in sentences
    staff_actions.participant_include(**said)
    assert analysed(study) == {one.code, two.code}


@pytest.mark.parametrize(("allowed", "left_out"), [(2, False), (1, True), *nightly((None, False), (0, True))])
def test_who_fails_more_attention_checks_than_allowed_is_left_out_and_told(
    allowed: int | None, left_out: bool
) -> None:
    study = make_study(failed_checks_allowed=allowed, steps=1)
    SurveyItem.objects.create(
        study=study, key="look", measure="Look", text="Choose 3.", correct=3, position=9
    )
    good, bad = complete(study, "good", value=3), complete(study, "bad", value=1)
    assert analysed(study) == ({good.code} if left_out else {good.code, bad.code})
    found = selectors.attrition(Sample(study, who="people"))
    assert found.failed_checks == int(left_out)
    told = "1 participant who completed the study left out: attention checks."
    assert (told in attrition_sentences(found)) == left_out


@pytest.mark.servers
def test_each_version_has_its_own_rule_for_attention_checks() -> None:
    study = make_study(failed_checks_allowed=0, steps=1)
    SurveyItem.objects.create(
        study=study, key="look", measure="Look", text="Choose 3.", correct=3, position=9
    )
    strict = complete(study, "strict", value=1)
    Study.objects.filter(pk=study.pk).update(failed_checks_allowed=None)
    study.refresh_from_db()
    lenient = complete(study, "lenient", value=1)

    assert selectors.failed_checks(study) == {strict.pk}
    assert analysed(study) == {lenient.code}


def test_an_attention_check_is_read_as_it_was_asked() -> None:
    study = make_study(failed_checks_allowed=0, steps=1)
    SurveyItem.objects.create(
        study=study, key="look", measure="Look", text="Choose 3.", correct=3, position=9
    )
    person = complete(study, value=3)
    SurveyItem.objects.filter(key="look").update(correct=5)  # past the guard, as older programs let it
    assert selectors.failed_checks(study) == set()
    assert analysed(study) == {person.code}
