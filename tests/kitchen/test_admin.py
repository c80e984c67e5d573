"""Episodes in the admin: the log is there to read."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from kitchen.admin import STEPS_SHOWN
from kitchen.contract.language_model import Attempt, Call, Reply, Request
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Decision, Episode, Step
from kitchen.play.turn.submitted_commands import SubmittedCommand, SubmittedDecision

pytestmark = pytest.mark.django_db

LIST = reverse("admin:kitchen_episode_changelist")


@pytest.fixture
def episode() -> Episode:
    """A person beside a random co-player, before the first step."""
    return create_episode(
        world="cuisine",
        settings={"level": "level_0", "max_steps": 60},
        seats=2,
        seed=1,
        minds=[MindPlan("random", (1,))],
        label="Team A",
    )


def play(episode: Episode, steps: int) -> None:
    """Nobody does anything, so many times; the co-player's second decision came too late."""
    for step in range(1, steps + 1):
        fallback = "timeout" if step == 2 else ""
        orders = [
            SubmittedCommand(0, ("noop",)),
            SubmittedCommand(1, ("get", "pot0", "gold"), chosen_by="random", fallback=fallback),
        ]
        decision = Decision(
            mind=episode.minds.get(), step=step, played_by="random", milliseconds=3.4, fallback=fallback
        )
        submit_commands(
            episode_id=episode.pk, step=step, commands=orders, decisions=[SubmittedDecision(decision)]
        )


def change(episode: Episode) -> str:
    """The address of an episode's page."""
    return reverse("admin:kitchen_episode_change", args=[episode.pk])


def test_the_page_tells_who_sat_where_and_what_each_step_was(admin_client: Client, episode: Episode) -> None:
    play(episode, 2)
    text = " ".join(admin_client.get(change(episode)).content.decode().split())
    for words in (
        "a person",
        "mind 0 (random)",
        "Seat 0 (person): <code>noop</code>",
        "Seat 1 (random): <code>get pot0 gold</code>",
        "refused: ",
        "fallback: timeout",
        "random, 3 ms",
        "all idle",
    ):
        assert words in text


def test_the_log_comes_in_pages(admin_client: Client, episode: Episode) -> None:
    play(episode, STEPS_SHOWN + 2)
    first = admin_client.get(change(episode))
    second = admin_client.get(change(episode), {"log": "2"})
    assert [len(page.context["lines"]) for page in (first, second)] == [STEPS_SHOWN, 2]
    assert "Later steps" in first.content.decode()
    for odd in ("0", "99", "abc", ""):
        assert admin_client.get(change(episode), {"log": odd}).status_code == 200


def test_an_episode_without_steps_says_so(admin_client: Client, episode: Episode) -> None:
    assert "No step has been taken yet." in admin_client.get(change(episode)).content.decode()


def test_seats_keys_are_not_shown(admin_client: Client, episode: Episode) -> None:
    play(episode, 1)
    text = admin_client.get(change(episode)).content.decode() + admin_client.get(LIST).content.decode()
    assert [seat.number for seat in episode.seats.all() if seat.key in text] == []


def test_a_filter_does_not_reach_seats_keys(admin_client: Client, episode: Episode) -> None:
    assert admin_client.get(LIST, {"seats__key__startswith": "a"}).status_code == 400


def test_nothing_of_an_episode_is_changed_or_deleted(admin_client: Client, episode: Episode) -> None:
    play(episode, 1)
    assert admin_client.get(reverse("admin:kitchen_episode_add")).status_code == 403
    assert admin_client.post(change(episode), {"seed": "2"}).status_code == 403
    delete = reverse("admin:kitchen_episode_delete", args=[episode.pk])
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    admin_client.post(LIST, {"action": "delete_selected", "_selected_action": episode.pk, "post": "yes"})
    assert Step.objects.filter(episode=episode).count() == 1


def test_what_a_model_was_sent_and_thought_and_when_is_shown(admin_client: Client, episode: Episode) -> None:
    orders = [SubmittedCommand(0, ("noop",)), SubmittedCommand(1, ("noop",), chosen_by="random")]
    decision = Decision(mind=episode.minds.get(), step=1, played_by="random", milliseconds=1)
    tried = Attempt("ok", 1, began="2026-11-22T12:00:00Z", ended="2026-11-22T12:00:01Z", request_id="req_7")
    answer = Reply("noop", reasoning="<b>First rice.</b>")
    call = Call("p", Request("m", []), answer, attempts=(tried,), parameters={"top_p": 0.5})
    made = SubmittedDecision(decision, (call,))
    submit_commands(episode_id=episode.pk, step=1, commands=orders, decisions=[made])
    text = " ".join(admin_client.get(change(episode)).content.decode().split())
    for words in (
        "2026-11-22T12:00:00Z to 2026-11-22T12:00:01Z, 1.00 s, request <code>req_7</code>",
        "&quot;top_p&quot;: 0.5",
        "&lt;b&gt;First rice.",
    ):
        assert words in text


def test_what_a_model_wrote_is_escaped(admin_client: Client, episode: Episode) -> None:
    orders = [SubmittedCommand(0, ("noop",)), SubmittedCommand(1, ("noop",), chosen_by="random")]
    decision = Decision(
        mind=episode.minds.get(),
        step=1,
        played_by="random",
        milliseconds=1,
        note={"said": "<script>alert(1)</script>"},
        error="<script>alert(2)</script>",
    )
    submit_commands(episode_id=episode.pk, step=1, commands=orders, decisions=[SubmittedDecision(decision)])
    text = admin_client.get(change(episode)).content.decode()
    assert "alert(1)" in text and "<script>alert" not in text


def test_the_log_has_no_pages_of_its_own() -> None:
    mine = {model.__name__ for model in admin.site._registry if model._meta.app_label == "kitchen"}
    assert mine == {"Episode", "Experiment"}


def test_an_episode_is_found_by_its_key_and_by_its_label(admin_client: Client, episode: Episode) -> None:
    for words in (str(episode.key), "team a"):
        assert str(episode.key) in admin_client.get(LIST, {"q": words}).content.decode()
    assert str(episode.key) not in admin_client.get(LIST, {"q": "other"}).content.decode()


def test_the_list_asks_the_database_as_often_for_many_episodes(
    admin_client: Client, episode: Episode, django_assert_max_num_queries: object
) -> None:
    for number in range(5):
        Episode.objects.create(
            world="cuisine", world_version=1, seed=number, decision_seconds=5, turn_opened_at=timezone.now()
        )
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        admin_client.get(LIST)
