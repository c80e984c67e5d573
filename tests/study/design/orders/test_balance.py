"""Who gets which sequence, episode, items and attempts: what services make of a design, people beside each
other."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from study.design.models import Condition, Study, StudyPart, SurveyItem
from study.participants import next_page
from study.participants.end_and_erase_participation import participant_end
from study.participants.models import Answer, Participant
from study.participation.enter_study import consent_given, participant_enter
from study.participation.page_progress import check_submit, finish_page
from study.participation.pages.survey_pages import items_for
from tests.nightly import nightly
from tests.study.factories import enter, make_study, play_round

ALL_FOUR = [1, 2, 3, 4]
"""The sequences of a balanced block of four conditions."""


def sequences_of(people: list[Participant]) -> list[int]:
    return [person.sequence or 0 for person in people]


def preview(study: Study, entry: str) -> Participant:
    """A member of staff who tries the study and has agreed."""
    person = participant_enter(study_id=study.pk, entry=entry, preview=True)
    consent_given(participant_id=person.pk)
    person.refresh_from_db()
    return person


# Whose turn it is


@pytest.mark.django_db
def test_people_programs_and_staff_fill_the_scheme_apart() -> None:
    study = make_study(conditions=4)
    people, programs, staff = [], [], []
    for number in range(4):
        programs.append(enter(study, f"program {number}", synthetic=True))
        staff.append(preview(study, f"staff {number}"))
        people.append(enter(study, f"person {number}"))
    for group in (people, programs, staff):
        assert sorted(sequences_of(group)) == ALL_FOUR


@pytest.mark.django_db
@pytest.mark.parametrize("place", [1, *nightly(0, 2, 3)])
def test_the_sequence_of_somebody_excluded_is_issued_again(place: int) -> None:
    study = make_study(conditions=4)
    people = [enter(study, str(number)) for number in range(4)]
    Participant.objects.filter(pk=people[place].pk).update(excluded_at=timezone.now())
    assert enter(study, "next").sequence == people[place].sequence


@pytest.mark.django_db
@pytest.mark.parametrize("place", [1, *nightly(0, 2, 3)])
def test_the_sequence_of_somebody_who_dropped_out_is_issued_again(place: int) -> None:
    study = make_study(conditions=4)
    people = [enter(study, str(number)) for number in range(4)]
    participant_end(participant_id=people[place].pk, status=Participant.Status.TIMED_OUT)
    assert enter(study, "next").sequence == people[place].sequence


@pytest.mark.django_db
def test_sequences_of_another_scheme_do_not_count() -> None:
    study = make_study(conditions=4, orders="fixed")
    assert {enter(study, str(number)).sequence for number in range(3)} == {1}
    Study.objects.update(orders="balanced")
    assert sorted(sequences_of([enter(study, f"later {number}") for number in range(4)])) == ALL_FOUR


@pytest.mark.django_db
def test_versions_that_differ_in_words_alone_are_balanced_together() -> None:
    study = make_study(conditions=4)
    people = []
    for number in range(4):
        Study.objects.update(title=f"Title {number}")
        people.append(enter(study, str(number)))
    assert len({person.version_id for person in people}) == 4
    assert sorted(sequences_of(people)) == ALL_FOUR


@pytest.mark.servers
@pytest.mark.django_db(transaction=True)
def test_many_who_agree_at_once_are_as_balanced_as_one_after_another() -> None:
    study = make_study(conditions=4)
    waiting = [participant_enter(study_id=study.pk, entry=str(number)) for number in range(8)]
    start, failed = threading.Barrier(len(waiting)), []

    def agree(person: Participant) -> None:
        start.wait(20)
        try:
            consent_given(participant_id=person.pk)
        except Exception as error:  # told below, in the test's own thread
            failed.append(error)
        finally:
            connection.close()

    crowd = [threading.Thread(target=agree, args=(person,)) for person in waiting]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join(30)
    assert not failed
    assert Counter(study.participants.values_list("sequence", flat=True)) == dict.fromkeys(ALL_FOUR, 2)


# The episodes


def first_seed(person: Participant) -> tuple[str, int]:
    """The condition and the seed of somebody's first episode."""
    finish_page(participant_id=person.pk, page="guide")
    found = person.rounds.select_related("condition", "episode")[0]
    assert found.episode
    return found.condition.key, found.episode.seed


@pytest.mark.django_db
@pytest.mark.parametrize("same", [True, False])
def test_the_same_dishes_are_the_same_seed_for_everybody_in_a_condition_and_only_if_wanted(
    same: bool,
) -> None:
    study = make_study(orders="fixed", same_dishes=same)
    seeds = [first_seed(enter(study, entry)) for entry in ("one", "two")]
    assert (seeds[0] == seeds[1]) is same


@pytest.mark.django_db
def test_the_same_dishes_differ_between_conditions() -> None:
    study = make_study(orders="fixed", same_dishes=True)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    play_round(person)
    assert len(set(person.rounds.values_list("episode__seed", flat=True))) == 2


@pytest.mark.django_db
@pytest.mark.parametrize(("own", "found"), [(4.5, 4.5), (0.0, 0.0), (None, 2.0)])
def test_a_conditions_own_thinking_time_comes_before_the_studys(own: float | None, found: float) -> None:
    study = make_study(conditions=1, thinking_seconds=2.0)
    Condition.objects.update(thinking_seconds=own)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get().episode
    assert episode and episode.thinking_seconds == found


# Items and attempts


def asked_at_the_survey(person: Participant) -> tuple[str, ...]:
    place = next_page.CurrentPage("survey", person.rounds.first())
    return tuple(item.key for item in items_for(person, place))


@pytest.mark.django_db
@pytest.mark.parametrize("shuffle", [True, False])
def test_items_come_in_an_order_of_ones_own_that_stays_and_only_if_wanted(shuffle: bool) -> None:
    study = make_study(items=5, shuffle_items=shuffle)
    designed = [f"i{number}" for number in range(5)]
    people = [enter(study, str(number)) for number in range(6)]
    orders = [asked_at_the_survey(person) for person in people]
    assert all(sorted(order) == designed for order in orders)
    assert orders == [asked_at_the_survey(person) for person in people]
    assert (len(set(orders)) > 1) is shuffle
    assert shuffle or list(orders[0]) == designed


@pytest.mark.django_db
def test_items_of_one_sub_scale_stay_together_in_a_shuffled_survey() -> None:
    study = make_study(items=6, shuffle_items=True)
    study.items.filter(key__in=["i1", "i3", "i5"]).update(scale="Trust")
    orders = [asked_at_the_survey(enter(study, str(number))) for number in range(8)]
    together = [[key in {"i1", "i3", "i5"} for key in order] for order in orders]
    assert all("".join(map(str, map(int, row))).strip("0") == "111" for row in together)
    assert len({tuple(key for key in order if key in {"i1", "i3", "i5"}) for order in orders}) > 1


def at_the_check(slug: str = "small", **settings: Any) -> Participant:
    """Somebody who is asked one question of understanding."""
    study = make_study(slug)
    StudyPart.objects.create(study=study, kind="check", settings=settings)
    asked = {"kind": "single", "options": ["yes", "no"], "correct": "yes"}
    SurveyItem.objects.create(study=study, key="sure", measure="Sure", text="?", place="check", **asked)
    person = enter(study, slug)
    finish_page(participant_id=person.pk, page="guide")
    return person


def after_failing(person: Participant, *attempts: int) -> tuple[str, str]:
    """Where somebody is, and as what, who answered wrongly so often."""
    for attempt in attempts:
        sent = check_submit(participant_id=person.pk, values={"sure": "no"}, attempt=attempt)
        assert sent is False
    person.refresh_from_db()
    return next_page.current_page(person).page, person.status


@pytest.mark.django_db
def test_after_the_last_wrong_attempt_the_study_goes_on_or_is_over_as_its_check_says() -> None:
    assert after_failing(at_the_check("once", on_failure="end"), 1) == ("check", "active")
    assert after_failing(at_the_check("twice", on_failure="end"), 1, 2) == ("end", "failed_check")
    person = at_the_check("lenient", on_failure="continue", attempts=1)
    assert after_failing(person, 1) == ("play", "active")
    assert person.rounds.get(position=1).episode


@pytest.mark.django_db
@pytest.mark.parametrize("stale", [1, *nightly(0, 3)])
def test_an_attempt_that_is_not_the_present_one_changes_nothing(stale: int) -> None:
    person = at_the_check()
    assert after_failing(person, 1) == ("check", "active")
    right = {"sure": "yes"}
    assert check_submit(participant_id=person.pk, values=right, attempt=stale) is None
    assert next_page.current_page(person).page == "check"
    assert list(Answer.objects.values_list("attempt", "value")) == [(1, "no")]
    assert check_submit(participant_id=person.pk, values=right, attempt=2) is True
