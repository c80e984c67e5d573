"""Participants in the admin: seen, not touched, and their links not given away."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.play.models import Episode, Seat
from study.participants.models import Participant
from tests.study.factories import complete, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

LIST = reverse("admin:study_participant_changelist")


@pytest.fixture
def person() -> Participant:
    """A program that went the whole way."""
    return complete(make_study(), synthetic=True, value=4)


def test_the_list_shows_how_far_everybody_is(admin_client: Client, person: Participant) -> None:
    text = admin_client.get(LIST).content.decode()
    for words in (person.code, "2 of 2", "complete", "synthetic"):
        assert words in text


def test_the_page_shows_rounds_answers_and_the_way_to_the_log(
    admin_client: Client, person: Participant
) -> None:
    text = admin_client.get(reverse("admin:study_participant_change", args=[person.pk])).content.decode()
    episode = Episode.objects.first()
    assert episode
    assert "Measure 0: 4 of 5" in text
    assert reverse("admin:kitchen_episode_change", args=[episode.pk]) in text


def test_participants_are_neither_added_changed_nor_deleted(
    admin_client: Client, person: Participant
) -> None:
    change = reverse("admin:study_participant_change", args=[person.pk])
    assert admin_client.get(reverse("admin:study_participant_add")).status_code == 403
    assert admin_client.post(change, {"code": "mine"}).status_code == 403
    delete = reverse("admin:study_participant_delete", args=[person.pk])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": person.pk, "post": "yes"}
    admin_client.post(LIST, sent)
    person.refresh_from_db()


def test_a_completion_code_that_was_handed_in_is_found(admin_client: Client, person: Participant) -> None:
    assert person.code in admin_client.get(LIST, {"q": person.completion_code}).content.decode()
    assert person.code not in admin_client.get(LIST, {"q": "NOBODYS"}).content.decode()


def every_page(person: Participant) -> list[str]:
    """Every page of the admin that shows something of this participant."""
    episodes = [reverse("admin:kitchen_episode_change", args=[found.pk]) for found in Episode.objects.all()]
    return [
        reverse("admin:index"),
        LIST,
        reverse("admin:study_participant_change", args=[person.pk]),
        reverse("admin:study_participant_history", args=[person.pk]),
        reverse("admin:study_study_changelist"),
        reverse("admin:study_study_change", args=[person.study_id]),
        reverse("admin:kitchen_episode_changelist"),
        *episodes,
    ]


def test_no_page_of_the_admin_holds_a_key(admin_client: Client, person: Participant) -> None:
    secrets = {person.key, person.entry, *Seat.objects.values_list("key", flat=True)}
    secrets.discard("one")  # the factory's entry is a word; its field is looked for below
    for address in every_page(person):
        page = admin_client.get(address)
        assert page.status_code == 200
        assert [secret for secret in secrets if secret in page.content.decode()] == []
        assert 'class="form-row field-entry' not in page.content.decode()
        assert "/r/" not in page.content.decode()


@pytest.mark.parametrize("field", ["key", "entry"])
def test_no_filter_feels_its_way_to_a_key(admin_client: Client, person: Participant, field: str) -> None:
    answer: Any = admin_client.get(LIST, {f"{field}__startswith": "a"})
    assert answer.status_code == 400
