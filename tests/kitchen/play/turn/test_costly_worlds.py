"""Worlds whose stored state takes long to go on from: a process keeps the object of a live episode."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.play.turn import turn_cache
from kitchen.registry.world_registry import WORLDS_VARIABLE
from kitchen.replay.episode_record import read_episode_records
from kitchen.replay.step_replay import replay_faults
from tests.kitchen.factories import submit
from tests.worlds.relay import LINE, made

pytestmark = pytest.mark.django_db


@pytest.fixture
def episode(monkeypatch: pytest.MonkeyPatch) -> Episode:
    monkeypatch.setenv(WORLDS_VARIABLE, LINE)
    turn_cache._turns.clear()
    return create_episode(world="relay", settings={"steps": 4}, seats=2, seed=3, passes_by=True)


Commits = Callable[..., AbstractContextManager[Any]]


def take(episode: Episode, step: int, commits: Commits) -> None:
    for seat in (0, 1) if step < 3 else (0,):  # the second one is out then
        with commits(execute=True):
            assert submit(episode, step, "run", seat=seat).accepted


def test_only_a_process_that_did_not_take_the_steps_plays_them_again(
    episode: Episode, django_capture_on_commit_callbacks: Commits
) -> None:
    before = made["relay"]
    take(episode, 1, django_capture_on_commit_callbacks)
    assert made["relay"] == before + 1
    take(episode, 2, django_capture_on_commit_callbacks)
    assert made["relay"] == before + 1, "the object was handed on"
    (here,) = turn_cache._turns.items()
    turn_cache._turns.clear()
    take(episode, 3, django_capture_on_commit_callbacks)  # another process
    assert made["relay"] == before + 2
    turn_cache._turns.clear()
    turn_cache._turns.update([here])
    take(episode, 4, django_capture_on_commit_callbacks)  # the first one again
    assert made["relay"] == before + 2, "it has only played the step of the other process"
    episode.refresh_from_db()
    assert episode.status == Episode.Status.OVER
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    assert list(replay_faults(record)) == []
