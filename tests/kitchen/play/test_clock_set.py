"""Somebody sets the server's clock while people play: nobody waits for an hour, nothing fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.play.episode.advance_episode import run_due_step
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.live.page_session import PageAnswer, open_page
from kitchen.play.models import Episode, Seat, Step
from kitchen.play.turn import turn_claims
from kitchen.play.turn.turn_cache import read_turn
from kitchen.play.turn.turn_searches import turns_to_decide
from kitchen.play.turn.websocket_messages import CommandMessage
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
HOUR = timedelta(hours=1)
Set = Callable[[timedelta], None]


@pytest.fixture
def clock_set(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Sets the clock that everything reads by so much."""

    def set_by(by: timedelta) -> None:
        now = timezone.now
        monkeypatch.setattr(timezone, "now", lambda: now() + by)

    return set_by


def test_a_step_that_was_lost_is_found_although_the_clock_was_set_back(clock_set: Set) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    submit(episode, 1, "noop")
    assert turns_to_decide() == []
    clock_set(-HOUR)
    assert turns_to_decide() == [(episode.pk, 1)]


def test_a_claim_from_before_the_clock_was_set_back_lapses(clock_set: Set) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert turn_claims.claim_decision(episode_id=episode.pk, step=1)
    clock_set(-HOUR)
    with read_turn(episode.pk) as turn:
        (standing,) = turn.standing.values()
    assert not standing.is_claimed_by_another(1, "")
    assert turn_claims.claim_decision(episode_id=episode.pk, step=1)


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_thinking_takes_no_longer_than_it_was_to(clock_set: Set, by: timedelta) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),), thinking_seconds=30)
    submit(episode, 1, "noop")
    submit(episode, 1, "noop", seat=1)
    assert not run_due_step(episode_id=episode.pk, step=1)
    clock_set(by)
    assert run_due_step(episode_id=episode.pk, step=1)


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_a_page_goes_on_and_every_step_is_stored_once(clock_set: Set, by: timedelta) -> None:
    episode = make_episode(steps=4, step_seconds=20)
    page, answer = open_page(Seat.objects.get(episode=episode).key, "page", newest=True, json=True)
    assert page and answer.texts
    for step in range(1, 5):
        said = page.command(CommandMessage(step, ("noop",)))
        assert isinstance(said, PageAnswer) and said.texts and said.close is None
        if step == 2:
            clock_set(by)
            assert page.show().texts
    assert list(Step.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))
