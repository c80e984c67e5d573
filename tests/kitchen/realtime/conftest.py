"""Provide a real-time test world and its episodes as fixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Episode, Seat, Step
from kitchen.realtime import realtime_episode
from kitchen.realtime.realtime_episode import RealtimeEpisode, read_realtime_episode
from kitchen.realtime.realtime_storage import ClockEpisode, clock_episodes, take_clock_claim
from kitchen.registry.world_registry import WORLDS_VARIABLE
from tests.worlds.lane.kit import LINE

Lane = Callable[..., Episode]


@pytest.fixture
def lane(db: None, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """Return a function `lane(…)` that creates an episode of the world Lane. If it has people, they have
    opened their pages."""
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    monkeypatch.setattr(realtime_episode, "LEAD_IN_SECONDS", 0.0)
    return make_lane


def make_lane(*minds: str, seats: int = 1, steps: int = 5, tick_ms: int = 100, **more: Any) -> Episode:
    """Create an episode of the world Lane. The agents `minds` have the last seats."""
    people = seats - len(minds)
    episode = create_episode(
        world="lane",
        settings={"steps": steps, "tick_ms": tick_ms},
        seats=seats,
        seed=3,
        minds=[MindPlan(kind, (people + number,)) for number, kind in enumerate(minds)],
        **more,
    )
    for seat in Seat.objects.filter(episode=episode, mind=None):
        Seat.objects.filter(pk=seat.pk).update(page=f"page-of-{seat.number}")
    return episode


def standing(episode: Episode) -> ClockEpisode:
    """Return the episode with its present values in the database."""
    return next(one for one in clock_episodes() if one.episode_id == episode.pk)


def taken_by(owner: str, episode: Episode, now: float = 0.0) -> RealtimeEpisode:
    """Return the real-time episode, claimed by this owner."""
    one = standing(episode)
    assert take_clock_claim(owner, one)
    found = read_realtime_episode(one, now)
    assert found is not None
    return found


def rows_of(episode: Episode) -> list[Step]:
    """Return the stored steps of the episode."""
    return list(Step.objects.filter(episode=episode))
