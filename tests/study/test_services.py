"""Entering, going on, answering, leaving."""

from __future__ import annotations

import pytest

from kitchen.models import Episode, Seat, SeatCommand, Step
from study import flow, services
from study.models import Answer, Participant, Round, Study
from tests.study.factories import complete, enter, make_study, play_out, play_round

pytestmark = pytest.mark.django_db


def place(participant: Participant) -> str:
    return flow.place_of(Participant.objects.get(pk=participant.pk)).page


def test_the_way_leads_from_guide_through_all_rounds_to_the_end() -> None:
    participant = enter(make_study())
    pages = [place(participant)]
    services.page_done(participant_id=participant.pk, page="guide")
    for position in (1, 2):
        pages.append(place(participant))
        play_out(Episode.objects.get(rounds__position=position))
        pages.append(place(participant))
        services.answers_submit(participant_id=participant.pk, page="survey", position=position, values={})
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
    services.participant_withdraw(participant_id=gone.pk)
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
    with pytest.raises(services.StudyClosedError):
        enter(study)
    assert not Participant.objects.exists()


def test_who_is_in_a_closed_study_can_finish() -> None:
    study = make_study()
    participant = enter(study)
    Study.objects.update(status=Study.Status.CLOSED)
    assert enter(study) == participant
    services.page_done(participant_id=participant.pk, page="guide")
    play_round(participant)
    assert place(participant) == "play"


def test_reading_the_guide_twice_starts_one_episode() -> None:
    participant = enter(make_study())
    services.page_done(participant_id=participant.pk, page="guide")
    services.page_done(participant_id=participant.pk, page="guide")
    assert Episode.objects.count() == 1


def answer(participant: Participant, position: int) -> bool:
    values = {item.key: 4 for item in participant.version.blueprint.items_at("survey")}
    return services.answers_submit(
        participant_id=participant.pk, page="survey", position=position, values=values
    )


def test_answers_count_once_and_only_when_the_episode_is_over() -> None:
    study = make_study()
    participant = enter(study)
    services.page_done(participant_id=participant.pk, page="guide")
    assert not answer(participant, 1)
    play_out(Episode.objects.get())
    assert answer(participant, 1)
    assert not answer(participant, 1)
    assert not answer(participant, 2)
    assert Answer.objects.count() == 2


def test_withdrawing_erases_every_row_of_this_person_and_nobody_elses() -> None:
    study = make_study()
    gone, stays = complete(study, "gone"), complete(study, "stays")
    receipt = services.participant_withdraw(participant_id=gone.pk)
    assert receipt.code
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
