"""A study may take nobody new when its budget is spent: whoever is in finishes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kitchen.money.budget_ledger import is_exhausted
from kitchen.money.models import Budget, Spending
from kitchen.play.models import Decision
from study.design.models import Study
from study.design.study_errors import StudyClosedError
from study.participation.enter_study import why_study_closed
from study.participation.page_progress import finish_page
from study.participation.round_planning import create_round_episode
from tests.study.factories import enter, make_study, play_round

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def spend(study: Study, spent: float, reserved: float = 2) -> None:
    study.budget = study.budget or Budget.objects.create(name="x", limit=study.budget_limit)
    study.save()
    Spending.objects.create(budget=study.budget, reserved=reserved, spent=spent)


def test_nobody_new_is_let_in_until_the_budget_is_raised(client: Client, admin_user: User) -> None:
    study = make_study(pauses_when_spent=True)
    spend(study, 8)
    inside = enter(study, "inside")
    assert why_study_closed(study) == ""
    spend(study, 0.5)
    assert why_study_closed(study) == "spent"
    page = client.get(f"/s/{study.slug}/")
    assert (
        page.status_code == 403
        and "It does not accept new participants at the moment." in page.content.decode()
    )
    with pytest.raises(StudyClosedError):
        enter(study, "too late")
    assert client.get(f"/p/{inside.key}/").status_code == 200
    client.force_login(admin_user)
    assert "The budget is spent" in client.get(f"/staff/{study.slug}/").content.decode()
    study.budget_limit = 12
    study.save()
    assert why_study_closed(Study.objects.get()) == ""


def test_a_round_that_costs_money_waits_until_the_budget_is_raised(client: Client) -> None:
    study = make_study(conditions=2, orders="fixed", pauses_when_spent=True)
    asks = {"model": "anthropic:claude-haiku-4-5"}
    study.conditions.filter(key="c1").update(coplayer="dispatcher", coplayer_settings=asks, teammates=1)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    spend(study, 10)
    play_round(person)
    here, address = f"/p/{person.key}/here/?waiting=1", f"/p/{person.key}/"
    page = client.get(address).content.decode()
    assert 'data-page="waiting"' in page and "The next round cannot begin yet" in page and "Team 1" in page
    assert person.rounds.get(position=2).episode is None and client.get(here).json()["waiting"]
    study.budget_limit = 100
    study.save()
    assert not client.get(here).json()["waiting"]
    assert 'data-page="play"' in client.get(address, follow=True).content.decode()
    assert person.visits.get(page="waiting").done_at


def test_members_of_a_group_wait_for_the_budget_before_the_lobby(client: Client) -> None:
    study = make_study(pauses_when_spent=True)
    asks = {"model": "anthropic:claude-haiku-4-5"}
    shared = {"coplayer": "dispatcher", "coplayer_settings": asks, "teammates": 2}
    study.conditions.update(**shared, organisation={"people": [0, 1]})
    person = enter(study)
    spend(study, 10)
    finish_page(participant_id=person.pk, page="guide")
    address = f"/p/{person.key}/"
    assert 'data-page="waiting"' in client.get(address).content.decode()
    assert client.post(f"{address}lobby/").json() == {"on": True}
    study.budget_limit = 100
    study.save()
    assert not person.visits.filter(page="lobby").exists() and not person.visits.get(page="waiting").done_at
    assert 'data-page="lobby"' in client.get(address).content.decode()
    assert person.visits.get(page="waiting").done_at and not person.visits.get(page="lobby").done_at


def test_a_person_who_does_not_want_to_wait_ends_and_keeps_their_data(client: Client) -> None:
    study = make_study(conditions=2, orders="fixed", pauses_when_spent=True)
    asks = {"model": "anthropic:claude-haiku-4-5"}
    study.conditions.update(coplayer="dispatcher", coplayer_settings=asks, teammates=1)
    person = enter(study)
    spend(study, 10)
    finish_page(participant_id=person.pk, page="guide")
    page = client.post(f"/p/{person.key}/", {"page": "waiting", "leave": "yes"}, follow=True)
    assert "technical reason" in page.content.decode()
    person.refresh_from_db()
    assert (person.status, person.end_reason) == ("technical", "the budget was spent")


def test_a_round_that_costs_nothing_is_begun_all_the_same() -> None:
    study = make_study(pauses_when_spent=True)
    study.conditions.update(coplayer="planner", teammates=1)
    person = enter(study)
    spend(study, 10)
    finish_page(participant_id=person.pk, page="guide")
    assert person.rounds.get(position=1).episode


def test_a_study_that_does_not_say_so_goes_on_with_its_fallback() -> None:
    study = make_study()
    spend(study, 10)
    assert why_study_closed(study) == ""


def test_before_any_call_a_refused_one_says_that_the_money_does_not_suffice() -> None:
    study = make_study(pauses_when_spent=True)
    study.conditions.update(coplayer="random", teammates=1)
    person = enter(study)
    one = person.rounds.get(condition__key="c1")
    one.episode = create_round_episode(one, person)
    one.save()
    budget = Budget.objects.get()
    assert not is_exhausted(budget)
    mind = one.episode.minds.get()
    Decision.objects.create(mind=mind, step=1, fallback="budget", played_by="noop", milliseconds=1)
    assert is_exhausted(budget)
