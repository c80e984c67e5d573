"""Entering, going on, answering, leaving."""

from __future__ import annotations

import pytest
from django.apps import apps

from kitchen.play.models import Episode, Seat, SeatCommand, Step
from study.design.models import Study, StudyPart, SurveyItem
from study.design.study_errors import StudyClosedError
from study.design.study_versions import current_version
from study.participants import next_page
from study.participants.end_and_erase_participation import participant_withdraw, read_receipt
from study.participants.models import Answer, Participant, Round
from study.participation.enter_study import participant_enter
from study.participation.page_progress import answers_submit, check_submit, finish_page, page_opened
from tests.study.factories import SETTINGS, complete, enter, make_study, play_out, play_round

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def place(participant: Participant) -> str:
    return next_page.current_page(Participant.objects.get(pk=participant.pk)).page


def test_the_way_leads_from_guide_through_all_rounds_to_the_end() -> None:
    participant = enter(make_study())
    pages = [place(participant)]
    finish_page(participant_id=participant.pk, page="guide")
    for position in (1, 2):
        pages.append(place(participant))
        play_out(Episode.objects.get(rounds__position=position))
        pages.append(place(participant))
        answers_submit(participant_id=participant.pk, page="survey", position=position, values={})
    pages.append(place(participant))
    assert pages == ["guide", "play", "survey", "play", "survey", "end"]
    participant.refresh_from_db()
    assert participant.status == Participant.Status.COMPLETE
    assert participant.ended_at


def test_the_same_form_sent_twice_is_one_participant() -> None:
    study = make_study()
    assert enter(study, "same") == enter(study, "same")
    assert enter(study, "other").number == 2


def test_numbers_are_never_given_twice() -> None:
    study = make_study()
    gone = enter(study, "a")
    participant_withdraw(participant_id=gone.pk)
    assert [enter(study, "b").number, enter(study, "c").number] == [2, 3]


def test_the_order_is_the_participants_own_and_follows_from_the_seed() -> None:
    study = make_study(conditions=4)
    orders = set()
    for number in range(8):
        participant = enter(study, str(number))
        order = [found.condition.key for found in participant.rounds.all()]
        assert sorted(order) == ["c0", "c1", "c2", "c3"]
        orders.add(tuple(order))
    assert len(orders) > 3
    again = make_study("again", conditions=4)
    assert [r.condition.key for r in enter(again, "x").rounds.all()] == [
        r.condition.key for r in Participant.objects.get(study=study, number=1).rounds.all()
    ]


def test_the_seed_of_an_episode_follows_from_study_participant_and_condition() -> None:
    first, again = make_study(), make_study("again")
    seeds = {}
    for study in (first, again):
        complete(study, study.slug)
        rounds = Round.objects.filter(participant__study=study)
        seeds[study.slug] = dict(rounds.values_list("condition__key", "episode__seed"))
    assert seeds["small"] == seeds["again"]
    assert len(set(seeds["small"].values())) == 2


@pytest.mark.parametrize(("conditions", "status"), [(2, Study.Status.CLOSED), (0, Study.Status.OPEN)])
def test_a_study_that_is_closed_or_empty_takes_nobody(conditions: int, status: str) -> None:
    study = make_study(conditions=conditions, status=status)
    with pytest.raises(StudyClosedError):
        enter(study)
    assert not Participant.objects.exists()


def test_participants_of_a_closed_study_can_finish() -> None:
    study = make_study()
    participant = enter(study)
    Study.objects.update(status=Study.Status.CLOSED)
    assert enter(study) == participant
    finish_page(participant_id=participant.pk, page="guide")
    play_round(participant)
    assert place(participant) == "play"


def test_reading_the_guide_twice_starts_one_episode() -> None:
    participant = enter(make_study())
    finish_page(participant_id=participant.pk, page="guide")
    finish_page(participant_id=participant.pk, page="guide")
    assert Episode.objects.count() == 1


def answer(participant: Participant, position: int) -> bool:
    values = {item.key: 4 for item in participant.version.blueprint.items_at("survey")}
    return answers_submit(participant_id=participant.pk, page="survey", position=position, values=values)


def test_answers_count_once_and_only_when_the_episode_is_over() -> None:
    study = make_study()
    participant = enter(study)
    finish_page(participant_id=participant.pk, page="guide")
    assert not answer(participant, 1)
    play_out(Episode.objects.get())
    assert answer(participant, 1)
    assert not answer(participant, 1)
    assert not answer(participant, 2)
    assert Answer.objects.count() == 2


def test_withdrawing_erases_every_row_of_this_person_and_nobody_elses() -> None:
    study = make_study()
    gone, stays = complete(study, "gone"), complete(study, "stays")
    receipt = participant_withdraw(participant_id=gone.pk)
    assert read_receipt(receipt.code) == receipt
    assert read_receipt(receipt.code.replace(":2", ":3")) is None
    assert read_receipt("") is None
    assert list(Participant.objects.all()) == [stays]
    assert set(Round.objects.values_list("participant", flat=True)) == {stays.pk}
    kept = set(Episode.objects.values_list("pk", flat=True))
    assert len(kept) == 2
    for model in (Step, Seat, SeatCommand):
        assert set(model.objects.values_list("episode", flat=True)) == kept
    assert Answer.objects.count() == 4
    study.refresh_from_db()
    assert study.withdrawn == 1


def test_a_synthetic_participants_episodes_are_marked_too() -> None:
    complete(make_study(), synthetic=True)
    assert set(Episode.objects.values_list("synthetic", flat=True)) == {True}


def counts() -> dict[str, int]:
    """The rows of every table of ours."""
    models = [*apps.get_app_config("kitchen").get_models(), *apps.get_app_config("study").get_models()]
    return {model.__name__: model._default_manager.count() for model in models}


def everything(study: Study, entry: str) -> Participant:
    """Somebody who has been on every page, with answers of all places and a practice."""
    person = enter(study, entry)
    answers_submit(participant_id=person.pk, page="about", values={"who": "me"})
    page_opened(person=person, page="guide")
    finish_page(participant_id=person.pk, page="guide")
    person.refresh_from_db()
    assert person.practice
    play_out(person.practice)
    finish_page(participant_id=person.pk, page="practice")
    assert check_submit(participant_id=person.pk, values={"sure": "no"}, attempt=1) is False
    assert check_submit(participant_id=person.pk, values={"sure": "yes"}, attempt=2)
    for _ in range(2):
        play_round(person)
    answers_submit(participant_id=person.pk, page="final", values={"best": "c0"})
    person.refresh_from_db()
    assert person.status == Participant.Status.COMPLETE
    return person


def full_study() -> Study:
    study = make_study()
    kitchen = {"kitchen": {"settings": SETTINGS}}
    for kind, settings in {"about": {}, "practice": kitchen, "check": {}, "final": {}}.items():
        StudyPart.objects.create(study=study, kind=kind, settings=settings)
    more = {"kind": "single", "options": ["yes", "no"], "correct": "yes"}
    for key, place, fields in (("who", "about", {"kind": "text"}), ("sure", "check", more)):
        SurveyItem.objects.create(study=study, key=key, measure=key, text=key, place=place, **fields)
    SurveyItem.objects.create(study=study, key="best", measure="best", text="?", place="final", kind="team")
    return study


def test_after_a_withdrawal_every_table_is_as_if_this_person_had_never_come() -> None:
    study = full_study()
    everything(study, "stays")
    before = counts()
    gone = everything(study, "gone")
    assert all(counts()[name] > before[name] for name in ("Answer", "PageVisit", "Round", "Episode", "Step"))
    participant_withdraw(participant_id=gone.pk)
    assert counts() == before | {
        "SecurityEvent": 1,
        "SecurityCount": 1,
        "LeftComplete": 1,
    }  # with the mark


def test_a_withdrawal_in_every_place_of_the_way_leaves_nothing() -> None:
    study = full_study()
    current_version(study_id=study.pk)
    first = enter(study, "made the budget")
    answers_submit(participant_id=first.pk, page="about", values={})
    finish_page(participant_id=first.pk, page="guide")
    participant_withdraw(participant_id=first.pk)
    before = counts()
    at_consent = participant_enter(study_id=study.pk, entry="consent")
    practising = enter(study, "practice")
    answers_submit(participant_id=practising.pk, page="about", values={"who": "me"})
    finish_page(participant_id=practising.pk, page="guide")
    for person in (at_consent, practising):
        participant_withdraw(participant_id=person.pk)
    assert counts() == before | {"SecurityEvent": before["SecurityEvent"] + 2}  # a mark of each
    study.refresh_from_db()
    assert study.withdrawn == 3


def test_an_episode_of_two_people_goes_when_the_last_of_them_leaves() -> None:
    study = make_study(conditions=1)
    here, other = enter(study, "here"), enter(study, "other")
    finish_page(participant_id=here.pk, page="guide")
    shared = Episode.objects.get()
    other_seat = Seat.objects.create(episode=shared, number=1, name="Robot 2")
    other.rounds.update(episode=shared, seat=1)
    participant_withdraw(participant_id=other.pk)
    shared.refresh_from_db()
    assert shared.status == Episode.Status.ABANDONED
    assert Seat.objects.get(pk=other_seat.pk).key != other_seat.key
    participant_withdraw(participant_id=here.pk)
    assert not Episode.objects.exists()
