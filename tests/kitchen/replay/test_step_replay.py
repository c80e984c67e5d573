"""Episodes played again: in each world, from what is stored alone."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.models import Episode
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.step_replay import replay_faults, report_step, world_after_steps
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = pytest.mark.django_db


def record_of(episode: Episode) -> EpisodeRecord:
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    return record


def played(episode: Episode, steps: int, *command: str) -> EpisodeRecord:
    """After so many steps of the person in seat 0, with whoever plays beside."""
    for step in range(1, steps + 1):
        assert submit(episode, step, *command).accepted
        decide_step(episode_id=episode.pk, step=step)
    return record_of(episode)


def cuisine(**more: Any) -> Episode:
    return make_episode(minds=(mind("random", 1),), seats=2, **more)


def grids() -> Episode:
    settings = {"layout": "cramped_room", "ticks": 20}
    minds = (mind("random_walk", 1),)
    return create_episode(world="overcooked", settings=settings, seats=2, seed=3, minds=minds)


def test_an_episode_of_each_world_replays_to_its_logged_state() -> None:
    for record in (played(cuisine(steps=3), 3, "noop"), played(grids(), 5, "east")):
        assert not list(replay_faults(record))
        assert world_after_steps(record, record.episode.step).state_hash() == record.episode.state_hash


def test_only_the_first_wrong_step_is_reported() -> None:
    record = played(grids(), 4, "east")
    record.steps[1].commands[0]["command"] = ["north"]
    first = list(replay_faults(record))
    assert first[0] == "step 2 leads to another state"
    assert not [fault for fault in first if "step 3" in fault]
    record.episode.world_version = 0
    assert "it was played by version 0 of the world" in next(replay_faults(record))
    record.steps.pop(2)
    assert list(replay_faults(record)) == ["its log does not have every step once"]


def test_what_happened_in_a_step_is_told_with_its_seat() -> None:
    episode = create_episode(world="blocks_crafting", settings={}, seats=2, seed=1, minds=())
    submit(episode, 1, "stay", "1", seat=0)
    submit(episode, 1, "give", "0", "black_wool", "1", seat=1)
    assert report_step(record_of(episode), 1).happened == (
        "seat 0: done macro stay 1",
        "seat 1: done macro give 0 black_wool 1",
    )
