"""How often the database is asked, for pages that many people send."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.play.episode.end_episode import end_episode
from kitchen.play.models import Episode, Seat
from study.design.models import Study
from study.participants.models import Answer, Participant, Round
from study.participants.next_page import current_page
from study.participation.page_progress import finish_page
from tests.study.factories import enter, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def study() -> Study:
    """Four episodes with a teammate, six questions after each."""
    made = make_study(conditions=4, items=6)
    made.conditions.update(teammates=1, coplayer="random")
    return made


def sent(position: int) -> dict[str, str]:
    return {**{f"item_i{number}": "4" for number in range(6)}, "page": "survey", "position": str(position)}


def end_of_round(person: Participant, client: Client) -> Round:
    """The round that is on, its episode over and its survey on the screen."""
    one = person.rounds.filter(answered_at=None).select_related("episode")[0]
    client.get(person.get_absolute_url())
    assert one.episode
    end_episode(episode_id=one.episode.pk, reason="over")
    client.get(person.get_absolute_url())
    return one


def test_a_survey_in_the_middle_of_the_study_is_stored_and_the_next_episode_made_in_few_queries(
    study: Study, client: Client, django_assert_max_num_queries: Any
) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    for _ in range(2):
        client.post(person.get_absolute_url(), sent(end_of_round(person, client).position))
    one = end_of_round(person, client)
    there = reverse("study:participant", args=[person.key])
    with django_assert_max_num_queries(14):
        assert client.post(there, sent(one.position)).status_code == 302

    one.refresh_from_db()
    assert one.answered_at
    assert Answer.objects.filter(round=one, value=4).count() == 6
    assert person.visits.get(page="survey", position=one.position).done_at
    assert person.visits.get(page="play", position=one.position).done_at
    place = current_page(Participant.objects.get(pk=person.pk))
    assert (place.page, place.position) == ("play", one.position + 1)
    assert place.round and place.round.episode
    assert place.round.episode.status == Episode.Status.PLAYING
    assert Seat.objects.filter(episode=place.round.episode).count() == 2


def test_a_play_page_is_opened_and_loaded_again_in_few_queries(
    study: Study, client: Client, django_assert_max_num_queries: Any
) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    client.post(person.get_absolute_url(), sent(end_of_round(person, client).position))
    with django_assert_max_num_queries(13):
        assert b"data-here" in client.get(person.get_absolute_url()).content
    with django_assert_max_num_queries(12) as again:
        client.get(person.get_absolute_url())
    assert not any('"bundle"' in asked["sql"] for asked in again.captured_queries)
    assert person.visits.get(page="play", position=2).loads == 2


def test_pages_without_an_episode_are_loaded_in_few_queries(
    study: Study, client: Client, django_assert_max_num_queries: Any
) -> None:
    person = enter(study)
    with django_assert_max_num_queries(9):
        client.get(person.get_absolute_url())
    finish_page(participant_id=person.pk, page="guide")
    end_of_round(person, client)
    with django_assert_max_num_queries(7):
        client.get(person.get_absolute_url())


def test_a_presence_signal_takes_two_queries(client: Client, django_assert_num_queries: Any) -> None:
    person = enter(make_study(idle_minutes=30))
    finish_page(participant_id=person.pk, page="guide")
    with django_assert_num_queries(2):
        assert client.post(reverse("study:here", args=[person.key])).json()["active"]


def test_a_page_that_is_sent_without_having_been_opened_notes_when_the_kitchen_ended(
    study: Study, client: Client
) -> None:
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    client.get(person.get_absolute_url())
    one = person.rounds.select_related("episode")[0]
    assert one.episode
    end_episode(episode_id=one.episode.pk, reason="over")
    client.post(person.get_absolute_url(), sent(one.position))
    one.episode.refresh_from_db()
    survey, play = (person.visits.get(page=page, position=one.position) for page in ("survey", "play"))
    assert survey.done_at == survey.opened_at
    assert play.done_at == one.episode.ended_at
