"""Practice: until something was achieved, or once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client

from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Seat
from study.design.models import Study, StudyPart
from study.exports.export_table import EVERYBODY
from study.exports.tables.played_episodes import played_episodes
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation.page_progress import finish_page, practice_again
from tests.kitchen.factories import submit
from tests.study.factories import enter, make_study, play_out

pytestmark = pytest.mark.django_db
LEVEL = {"level": "level_3", "alpha": 2.0, "beta": 5.0}


def practising(steps: int, *, hides_dots: Sequence[bool] = (False,), **settings: Any) -> Participant:
    """Somebody in practice. `hides_dots` has a value for each condition, in the order of the games."""
    study = make_study(conditions=len(hides_dots), orders="fixed")
    for number, hides in enumerate(hides_dots):
        study.conditions.filter(key=f"c{number}").update(hides_dots=hides)
    kitchen = {"settings": {**LEVEL, "max_steps": steps}}
    StudyPart.objects.create(
        study=study, kind="practice", enabled=True, settings={"kitchen": kitchen, **settings}
    )
    person = enter(Study.objects.get(pk=study.pk))
    finish_page(participant_id=person.pk, page="guide")
    return again(person)


def again(person: Participant) -> Participant:
    return Participant.objects.select_related("practice", "study").get(pk=person.pk)


def idle_out(person: Participant) -> None:
    assert person.practice
    play_out(person.practice)


def follow(episode: Episode | None) -> Episode:
    """By the hints of the page."""
    assert episode
    seat = Seat.objects.select_related("episode").get(episode=episode, number=0)
    while (view := current_seat_view(seat)).phase == "choose":
        submit(episode, view.step + 1, *(view.choice.hinted or ("noop",)))
    return Episode.objects.get(pk=episode.pk)


def text(client: Client, person: Participant) -> str:
    return client.get(person.get_absolute_url()).content.decode()


def test_the_guide_and_practice_name_the_same_two_lengths(client: Client) -> None:
    study = make_study(conditions=1)
    kitchen = {"settings": {**LEVEL, "max_steps": 41}}
    StudyPart.objects.create(study=study, kind="practice", enabled=True, settings={"kitchen": kitchen})
    person = enter(study)
    steps = person.rounds.get().condition.settings["max_steps"]
    note = f"Practice lasts at most 41 steps. The first game lasts at most {steps} steps."
    assert note in text(client, person)
    finish_page(participant_id=person.pk, page="guide")
    assert note in text(client, again(person))


def test_practice_is_over_when_a_dish_is_served_and_the_page_says_what_comes_next(client: Client) -> None:
    person = practising(40)
    assert follow(person.practice).status == "reached"
    page = text(client, person)
    assert "Practice is over" in page, "and the card at the end has said the rest"
    assert "Well done" not in page and "dish served" not in page
    assert "Then you play the first game that counts, alone." in page
    assert "Practise again" not in page
    client.post(person.get_absolute_url(), {"page": "practice", "again": "yes"})
    assert again(person).first_practice_id is None


@pytest.mark.parametrize(
    ("hides_dots", "stay", "come"),
    [((False, False), True, False), ((False, True), False, True), ((True, False), False, False)],
)
def test_what_is_said_about_hints_after_practice_tells_of_the_dots(
    client: Client, hides_dots: tuple[bool, ...], stay: bool, come: bool
) -> None:
    person = practising(1, hides_dots=hides_dots)
    idle_out(person)
    page = text(client, person)
    assert "From now on you get no hints" in page
    assert ("The dots stay. A dot before an action:" in page) is stay
    assert ("From now on you see dots. A dot before an action:" in page) is come


def test_a_person_who_served_nothing_may_practise_once_more_and_only_once(client: Client) -> None:
    person = practising(3)
    idle_out(person)
    assert "no dish has been served" in text(client, person)
    client.post(person.get_absolute_url(), {"page": "practice", "again": "yes"})
    second = again(person)
    assert second.first_practice_id == person.practice_id != second.practice_id
    assert "data-play" in text(client, second)
    idle_out(second)
    assert "Practise again" not in text(client, second)
    assert not practice_again(participant_id=person.pk)
    client.post(person.get_absolute_url(), {"page": "practice"})
    assert 'data-page="play"' in text(client, second)


def test_both_tries_are_in_the_data_and_are_erased_with_the_person() -> None:
    person = practising(2)
    idle_out(person)
    assert practice_again(participant_id=person.pk)
    idle_out(again(person))
    tries = [
        sitting.episode for sitting in played_episodes(person.study, EVERYBODY) if sitting.part == "practice"
    ]
    assert tries == [person.practice_id, again(person).practice_id]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.filter(pk__in=tries)))
    participant_withdraw(participant_id=person.pk)
    assert not Episode.objects.filter(pk__in=tries).exists()


def test_a_study_may_have_practice_last_all_its_steps() -> None:
    person = practising(30, all_steps=True)
    ended = follow(person.practice)
    assert (ended.status, ended.step) == ("over", 30)
