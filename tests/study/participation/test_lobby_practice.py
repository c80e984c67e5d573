"""Whoever waits in the lobby can practise alone until the others have come."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.play.models import Episode
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.participants.end_and_erase_participation import participant_withdraw
from study.participants.models import Participant
from study.participation import lobby_practice
from study.participation.group_lobby import look_at_lobby
from study.participation.lobby_practice import LONGER, kitchen_plan
from tests.study.exports.rows import csv_rows
from tests.study.participation.test_group_lobby import come, shared, time_passes

pytestmark = pytest.mark.django_db


def waiting(client: Client, *, offered: bool = True) -> Participant:
    """The first of two people, in the lobby."""
    study = shared()
    study.conditions.update(lobby_practice=offered)
    study.refresh_from_db()
    person = come(study, "one")
    client.get(person.get_absolute_url())
    return person


def read(client: Client, person: Participant, query: str = "") -> str:
    return client.get(person.get_absolute_url() + query).content.decode()


def practise(client: Client, person: Participant) -> Episode:
    client.post(person.get_absolute_url(), {"page": "lobby", "practise": "yes"})
    found = Participant.objects.get(pk=person.pk).warm_up
    assert found
    return found


def test_the_lobby_says_how_long_one_has_waited_and_how_long_it_can_last(client: Client) -> None:
    person = waiting(client)
    assert "You have waited" not in read(client, person)
    time_passes(130)
    told = client.post(reverse("study:lobby", args=[person.key])).json()
    assert (told["waited"], told["left"]) == ("You have waited 2 minutes.", "At most 3 more minutes.")
    assert "You have waited" in read(client, person)


def test_the_kitchen_is_played_alone_under_a_line_that_leads_on(client: Client) -> None:
    person = waiting(client)
    assert "Practise while you wait" in read(client, person)
    episode = practise(client, person)
    assert (episode.hints, episode.seats.filter(mind=None).count(), episode.until) == (True, 1, None)
    coming = blueprint_of(person.study).conditions[0]
    steps = kitchen_plan(person.blueprint, coming).settings["max_steps"]
    assert episode.settings["max_steps"] == LONGER * steps, "it does not end while one waits"
    page = read(client, person, "?kitchen")
    assert "data-play" in page and "data-lobby=" in page and "js/lobby.js" in page
    assert 'data-page="lobby"' in page and practise(client, person) == episode, "it is one kitchen"
    assert "Back to the practice kitchen" in read(client, person)


def test_a_kitchen_with_a_language_model_has_the_steps_of_practice(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = waiting(client)
    plan = kitchen_plan(person.blueprint, blueprint_of(person.study).conditions[0])
    paid = {"coplayer": "dispatcher", "coplayer_settings": {}, "teammates": 1, "organisation": {}}
    monkeypatch.setattr(lobby_practice, "kitchen_plan", lambda *_: plan.model_copy(update=paid))
    assert practise(client, person).settings["max_steps"] == plan.settings["max_steps"]


def test_it_hides_the_dots_if_any_condition_hides_them(client: Client) -> None:
    person = waiting(client)
    person.study.conditions.filter(key="c1").update(hides_dots=True)
    design = blueprint_of(Study.objects.get(pk=person.study_id))
    assert [kitchen_plan(design, one).hides_dots for one in design.conditions] == [True, True]


def test_it_ends_when_the_game_begins(client: Client) -> None:
    person = waiting(client)
    episode = practise(client, person)
    assert look_at_lobby(participant_id=come(person.study, "other").pk) is None
    assert client.post(reverse("study:lobby", args=[person.key])).json() == {"on": True}
    assert 'data-page="play"' in read(client, person, "?kitchen")
    episode.refresh_from_db()
    assert (episode.status, episode.ended_because) == ("abandoned", "the game with the others began")


def test_it_is_in_the_data_as_played_while_waiting_and_is_erased_with_the_person(client: Client) -> None:
    person = waiting(client)
    episode = practise(client, person)
    rows = csv_rows(person.study, "episodes")
    assert [(row["part"], row["condition"], row["episode"]) for row in rows] == [
        ("waiting", "", str(episode.key))
    ]
    participant_withdraw(participant_id=person.pk)
    assert not Episode.objects.filter(pk=episode.pk).exists()


def test_without_the_setting_there_is_none(client: Client) -> None:
    person = waiting(client, offered=False)
    assert "Practise while you wait" not in read(client, person)
    client.post(person.get_absolute_url(), {"page": "lobby", "practise": "yes"})
    assert Participant.objects.get(pk=person.pk).warm_up is None
