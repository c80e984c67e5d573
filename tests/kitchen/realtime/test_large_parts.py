"""A clock stores large parts of a state as turns do."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode, Seat, StateChange
from kitchen.play.turn.state_store import current_world
from kitchen.realtime import realtime_episode
from kitchen.realtime.realtime_episode import RealtimeEpisode
from kitchen.realtime.realtime_storage import release_clock_claims, store_tick_groups
from tests.kitchen.realtime.conftest import rows_of, taken_by
from tests.worlds.boulders import DIG

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.usefixtures("boulders")]


@pytest.fixture
def episode(monkeypatch: pytest.MonkeyPatch) -> Episode:
    """Of one person, who has opened the page."""
    monkeypatch.setattr(realtime_episode, "LEAD_IN_SECONDS", 0.0)
    settings = {"blocks": 20, "steps": 12, "tick_ms": 100}
    made = create_episode(world="boulders", settings=settings, seats=1, seed=3)
    Seat.objects.filter(episode=made).update(page="page")
    return made


def tick(played: RealtimeEpisode, ticks: int) -> None:
    for _ in range(ticks):
        now = played.pace.due
        played.press(0, "page", DIG, down=True, number=1, now=now)
        played.tick(now)


def stored(owner: str, played: RealtimeEpisode) -> Any:
    return store_tick_groups(owner, [played.written()])


def test_another_owner_continues_from_the_stored_state(episode: Episode) -> None:
    mine = taken_by("me", episode)
    tick(mine, 3)
    assert stored("me", mine)
    tick(mine, 2)  # never stored: the process is killed
    release_clock_claims("me", [episode.pk])
    theirs = taken_by("they", episode)
    assert theirs.episode.step == 3
    assert theirs.turn.world.to_dict() == current_world(Episode.objects.get()).to_dict()
    tick(theirs, 9)
    assert theirs.is_over
    assert not stored("me", mine)
    assert stored("they", theirs)
    episode.refresh_from_db()
    assert rows_of(episode)[-1].state_hash == episode.state_hash == theirs.turn.world.state_hash()
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.all())] == [[]]
    assert StateChange.objects.filter(is_whole=False).count() > 6


def test_a_group_that_could_not_be_stored_is_stored_with_the_next(episode: Episode) -> None:
    mine = taken_by("me", episode)
    tick(mine, 2)
    written = mine.written()
    tick(mine, 2)
    mine.put_back(written)
    assert stored("me", mine)
    assert sorted(StateChange.objects.values_list("step", flat=True)) == [0, 1, 2, 3, 4]
    assert [verdict.faults for verdict in verify_episode_logs(Episode.objects.all())] == [[]]
