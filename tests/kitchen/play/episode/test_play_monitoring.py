"""What staff see of episodes while they are played, and what they are told."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.end_episode import end_episode
from kitchen.play.episode.play_monitoring import episode_facts
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Decision, Episode, Mind, ModelCall
from kitchen.play.turn import page_broadcast
from kitchen.play.turn.audience_news import EpisodeNews
from kitchen.play.turn.submitted_commands import SubmittedCommand
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, EpisodeNews]]:
    """News as they would be sent."""
    found: list[tuple[str, EpisodeNews]] = []
    monkeypatch.setattr(page_broadcast, "notify_audience", lambda *news: found.append(news))
    monkeypatch.setattr(page_broadcast, "nudge_pages", lambda *told: None)
    monkeypatch.setattr("kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: None)
    return found


def test_facts_say_where_an_episode_is_and_whom_it_waits_for() -> None:
    episode = make_episode(seats=3, minds=(mind("planner", 1),), steps=30, audience="study-3")
    submit(episode, 1, "noop")
    facts = episode_facts([episode.pk])[episode.pk]
    assert (facts.step, facts.length, facts.status, facts.audience) == (0, 30, "playing", "study-3")
    assert (facts.people_missing, facts.minds_missing, facts.opened) == ((2,), (1,), False)
    assert facts.last_command_at is not None
    assert facts.last_command_at >= facts.turn_opened_at
    assert facts.fallbacks == facts.ran_out == facts.model_failures == 0
    assert facts.spent == Decimal(0)


def test_facts_count_fallbacks_failures_of_models_and_money() -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    submit(episode, 1, "noop")
    orders = [SubmittedCommand(1, ("noop",), "fallback", "timeout")]
    submit_commands(episode_id=episode.pk, step=1, commands=orders)
    decision = Decision.objects.create(
        mind=Mind.objects.get(), step=1, played_by="planner", fallback="timeout", milliseconds=1
    )
    for number, error, cost in ((1, "overloaded", None), (2, "", "0.25"), (3, "", "0.5")):
        ModelCall.objects.create(
            decision=decision, number=number, provider="p", model_asked="m", sampling={}, error=error,
            attempts=[], seconds=1, tokens_input=1, tokens_output=1, tokens_cache_read=0,
            tokens_cache_write=0, cost=cost,
        )  # fmt: skip
    facts = episode_facts([episode.pk])[episode.pk]
    assert (facts.fallbacks, facts.model_failures, facts.spent) == (1, 1, Decimal("0.75"))


def test_an_episode_that_cannot_be_read_hides_no_other() -> None:
    damaged, well = make_episode(seats=1, steps=30), make_episode(seats=1, steps=30)
    Episode.objects.filter(pk=damaged.pk).update(state={"no": "world"})
    facts = episode_facts([damaged.pk, well.pk])
    assert [(facts[one.pk].status, facts[one.pk].length) for one in (damaged, well)] == [
        ("playing", None),
        ("playing", 30),
    ]


def test_many_episodes_cost_no_more_queries_than_one(django_assert_num_queries: Any) -> None:
    ids = [make_episode(seats=2, minds=(mind("planner", 1),)).pk for _ in range(6)]
    with django_assert_num_queries(5):
        assert len(episode_facts([*ids, 999_999])) == 6


def test_each_step_and_the_end_are_told_once(
    told: list[tuple[str, EpisodeNews]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        episode = make_episode(seats=2, minds=(mind("random", 1),), steps=2, audience="study-3")
        submit(episode, 1, "noop")
        agent_decisions.decide_step(episode_id=episode.pk, step=1)
        submit(episode, 2, "noop")
        orders = [SubmittedCommand(1, ("noop",), "fallback", "error")]
        submit_commands(episode_id=episode.pk, step=2, commands=orders)
    key = str(episode.key)
    assert told == [
        ("study-3", EpisodeNews(key, 1, "playing")),
        ("study-3", EpisodeNews(key, 2, "over", fallbacks=1)),
    ]


def test_an_episode_without_an_audience_tells_nobody(
    told: list[tuple[str, EpisodeNews]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        submit(make_episode(), 1, "noop")
    assert told == []


@pytest.mark.parametrize("audience", ["study 3", "ü", "x" * 81, "a/b"])
def test_an_audience_that_is_no_name_is_refused(audience: str) -> None:
    with pytest.raises(SettingsError, match="audience"):
        make_episode(audience=audience)
    assert not Episode.objects.exists()


def test_staff_end_an_episode_with_a_reason(
    told: list[tuple[str, EpisodeNews]], django_capture_on_commit_callbacks: Any
) -> None:
    episode = make_episode(audience="study-3")
    submit(episode, 1, "noop")
    with django_capture_on_commit_callbacks(execute=True):
        assert end_episode(episode_id=episode.pk, reason=" the fire alarm ")
        assert not end_episode(episode_id=episode.pk, reason="again")
    episode.refresh_from_db()
    assert (episode.status, episode.ended_because) == ("aborted", "the fire alarm")
    assert episode.ended_at
    assert submit(episode, 2, "noop").code == "over"
    assert told[-1] == ("study-3", EpisodeNews(str(episode.key), 1, "aborted"))
    view = current_seat_view(episode.seats.select_related("episode").get())
    assert (view.phase, view.result.ended_by_staff) == ("over", True)


def test_an_ending_without_a_reason_is_refused() -> None:
    episode = make_episode()
    with pytest.raises(ValueError, match="reason"):
        end_episode(episode_id=episode.pk, reason="  ")
    episode.refresh_from_db()
    assert episode.status == Episode.Status.PLAYING


@pytest.mark.django_db(transaction=True)
async def test_staff_who_watch_hear_of_all_steps_of_a_moment_at_once(
    valkey: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer: Any = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(page_broadcast.audience_group("study-3"), channel)
    episode = await database_sync_to_async(make_episode)(audience="study-3")
    monkeypatch.setattr(page_broadcast, "GATHER_SECONDS", 1.0)
    for step in (1, 2):
        await database_sync_to_async(submit)(episode, step, "noop")
    told: dict[str, Any] = {"type": "episode.news", "episode": str(episode.key), "status": "playing"}
    told |= {"fallbacks": 0, "ran_out": 0}
    assert await layer.receive(channel) == {
        "type": "audience.news",
        "news": [{**told, "step": 1}, {**told, "step": 2}],
    }
