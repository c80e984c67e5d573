"""A turn that is over, as it was when it was open."""

from __future__ import annotations

import pytest

from kitchen.play.coplayers.agent_decisions import decide_step
from kitchen.play.models import Episode
from kitchen.play.turn.open_turn import OpenTurn
from kitchen.play.turn.step_store import store_plan
from kitchen.replay.episode_record import EpisodeRecord
from kitchen.replay.step_replay import NothingIsStoredError, PastTurn, world_after_steps
from tests.kitchen.factories import submit
from tests.kitchen.replay.test_step_replay import cuisine, played, record_of

pytestmark = pytest.mark.django_db


def test_a_turn_that_is_over_is_as_it_was_and_stores_nothing() -> None:
    episode = cuisine(steps=4)
    played(episode, 2, "noop")
    then = OpenTurn(Episode.objects.get(pk=episode.pk), episode.seats.all())
    record = played_on(episode, 3)
    turn = PastTurn(record, 2, world_after_steps(record, 2))
    assert turn.world.state_hash() == then.world.state_hash()
    assert [past.events for past in turn.past] == [past.events for past in then.past]
    assert turn.memories == then.memories
    assert turn.stamp[:2] == then.stamp[:2]
    with pytest.raises(NothingIsStoredError):
        store_plan(turn, 0, (), chosen_by="person")


def played_on(episode: Episode, step: int) -> EpisodeRecord:
    assert submit(episode, step, "noop").accepted
    decide_step(episode_id=episode.pk, step=step)
    return record_of(episode)
