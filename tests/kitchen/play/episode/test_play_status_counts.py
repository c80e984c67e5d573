"""How live play stands as a whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from kitchen.infra import prometheus_metrics
from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode import advance_episode, play_monitoring
from kitchen.play.episode import advance_episode as continue_episode
from kitchen.play.episode.play_monitoring import (
    count_late_turns,
    recent_faults,
    recent_pace,
    running_episode_counts,
)
from kitchen.play.models import Decision, Episode
from kitchen.play.turn import page_broadcast
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """It is so much later for who looks."""
    now = timezone.now() + timedelta(seconds=seconds)
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_episodes_are_counted_while_they_are_played() -> None:
    assert running_episode_counts() == {}
    make_episode()
    over = make_episode()
    Episode.objects.filter(pk=over.pk).update(status=Episode.Status.OVER)
    assert running_episode_counts() == {"cuisine": 1}


def test_who_waits_for_co_players_longer_than_these_may_take_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, plays = (make_episode(seats=2, minds=(mind("planner", 1),)) for _ in range(2))
    submit(waits, 1, "noop")
    assert count_late_turns() == 0
    later(monkeypatch, waits.decision_seconds + 4)
    assert count_late_turns() == 0
    later(monkeypatch, waits.decision_seconds + 6)
    assert count_late_turns() == 1
    decide_step(episode_id=waits.pk, step=1)
    assert count_late_turns() == 0
    assert Episode.objects.get(pk=plays.pk).step == 0  # a person may think as long as they want


def test_a_turn_that_nobody_closes_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make_episode(step_seconds=10)
    closes = timezone.now() + timedelta(seconds=10)
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=closes)
    later(monkeypatch, 14)
    assert count_late_turns() == 0
    later(monkeypatch, 16)
    assert count_late_turns() == 1


def test_the_pace_is_that_of_steps_that_wait_for_us_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, beside = make_episode(), make_episode(seats=2, minds=(mind("planner", 1),))
    assert recent_pace() == play_monitoring.PlayPace(0, False, None, None)
    submit(alone, 1, "noop")
    submit(beside, 1, "noop")
    decide_step(episode_id=beside.pk, step=1)
    pace = recent_pace()
    assert (pace.steps, pace.capped) == (2, False)
    assert pace.half is not None and pace.most is not None
    assert 0 <= pace.half <= pace.most < 10
    later(monkeypatch, 61)
    assert recent_pace().steps == 0


def test_fallbacks_are_counted_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    own = episode.minds.get()
    for step, fallback in ((1, ""), (2, "timeout")):
        row: dict[str, Any] = {"played_by": "random", "milliseconds": 1, "fallback": fallback}
        Decision.objects.create(mind=own, step=step, **row)
    assert recent_faults() == play_monitoring.RecentFaults(decisions=2, fallbacks=1, calls=0, failures=0)
    later(monkeypatch, 16 * 60)
    assert recent_faults().decisions == 0


def test_a_person_whose_time_ran_out_is_counted(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_broadcast, "nudge_pages", lambda *_: None)
    episode = make_episode(step_seconds=10)
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now())
    ran_out = prometheus_metrics.turns_timed_out.labels("cuisine")
    before = ran_out._value.get()
    with django_capture_on_commit_callbacks(execute=True):
        assert advance_episode.close_expired_turn(episode_id=episode.pk, step=1)
    assert ran_out._value.get() == before + 1


def test_a_step_is_counted_once_it_is_stored(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_broadcast, "nudge_pages", lambda *_: None)
    monkeypatch.setattr(continue_episode, "ask_coplayers", lambda *_: None)
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    step = prometheus_metrics.step_seconds.labels("cuisine", "untimed")
    decided = prometheus_metrics.decision_seconds.labels("random")
    before = step._sum.get(), decided._sum.get()
    with django_capture_on_commit_callbacks(execute=True):
        submit(episode, 1, "noop")
        decide_step(episode_id=episode.pk, step=1)
        assert (step._sum.get(), decided._sum.get()) == before
    assert step._sum.get() > before[0]
    assert decided._sum.get() > before[1]
