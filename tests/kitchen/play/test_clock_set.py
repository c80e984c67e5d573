"""Somebody sets the server's clock while people play: nobody waits for an hour, nothing fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.play import claims
from kitchen.play.kept import turn_now
from kitchen.play.messages import CommandMessage
from kitchen.play.models import Episode, Seat, Step
from kitchen.play.open_page import Answer, page_opened
from kitchen.play.open_turns import open_turns
from kitchen.play.services import step_run
from kitchen.play.verifying import log_verify
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
    assert open_turns() == []
    clock_set(-HOUR)
    assert open_turns() == [(episode.pk, 1)]


def test_a_claim_from_before_the_clock_was_set_back_lapses(clock_set: Set) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),))
    assert claims.decision_claim(episode_id=episode.pk, step=1)
    clock_set(-HOUR)
    with turn_now(episode.pk) as turn:
        (standing,) = turn.standing.values()
    assert not standing.is_claimed_by_another(1, "")
    assert claims.decision_claim(episode_id=episode.pk, step=1)


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_thinking_takes_no_longer_than_it_was_to(clock_set: Set, by: timedelta) -> None:
    episode = make_episode(seats=2, minds=(mind("planner", 1),), thinking_seconds=30)
    submit(episode, 1, "noop")
    submit(episode, 1, "noop", seat=1)
    assert not step_run(episode_id=episode.pk, step=1)
    clock_set(by)
    assert step_run(episode_id=episode.pk, step=1)


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_a_page_goes_on_and_every_step_is_stored_once(clock_set: Set, by: timedelta) -> None:
    episode = make_episode(steps=4, step_seconds=20)
    page, answer = page_opened(Seat.objects.get(episode=episode).key, "page", newest=True, json=True)
    assert page and answer.texts
    for step in range(1, 5):
        said = page.command(CommandMessage(step, ("noop",)))
        assert isinstance(said, Answer) and said.texts and said.close is None
        if step == 2:
            clock_set(by)
            assert page.show().texts
    assert list(Step.objects.values_list("number", flat=True)) == [1, 2, 3, 4]
    assert all(verdict.holds for verdict in log_verify(Episode.objects.all()))
