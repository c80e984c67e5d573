"""A clock stores large parts of a state as turns do."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.play.creating import episode_create
from kitchen.play.models import Episode, Seat, StateChange
from kitchen.play.stored import episode_world
from kitchen.play.verifying import log_verify
from kitchen.ticking import game
from kitchen.ticking.claims import claims_free
from kitchen.ticking.game import Game
from kitchen.ticking.ledger import groups_store
from tests.kitchen.ticking.conftest import rows_of, taken_by
from tests.worlds.boulders import DIG

pytestmark = [pytest.mark.django_db, pytest.mark.servers, pytest.mark.usefixtures("boulders")]


@pytest.fixture
def episode(monkeypatch: pytest.MonkeyPatch) -> Episode:
    """Of one person, who has opened the page."""
    monkeypatch.setattr(game, "LEAD_IN", 0.0)
    settings = {"blocks": 20, "steps": 12, "tick_ms": 100}
    made = episode_create(world="boulders", settings=settings, seats=1, seed=3)
    Seat.objects.filter(episode=made).update(page="page")
    return made


def tick(played: Game, ticks: int) -> None:
    for _ in range(ticks):
        now = played.pace.due
        played.press(0, "page", DIG, down=True, number=1, now=now)
        played.tick(now)


def stored(owner: str, played: Game) -> Any:
    return groups_store(owner, [played.written()])


def test_another_owner_goes_on_from_what_was_stored(episode: Episode) -> None:
    mine = taken_by("me", episode)
    tick(mine, 3)
    assert stored("me", mine)
    tick(mine, 2)  # never stored: the process is killed
    claims_free("me", [episode.pk])
    theirs = taken_by("they", episode)
    assert theirs.episode.step == 3
    assert theirs.turn.world.to_dict() == episode_world(Episode.objects.get()).to_dict()
    tick(theirs, 9)
    assert theirs.is_over
    assert not stored("me", mine)
    assert stored("they", theirs)
    episode.refresh_from_db()
    assert rows_of(episode)[-1].state_hash == episode.state_hash == theirs.turn.world.state_hash()
    assert [verdict.faults for verdict in log_verify(Episode.objects.all())] == [[]]
    assert StateChange.objects.filter(is_whole=False).count() > 6


def test_a_group_that_could_not_be_stored_is_stored_with_the_next(episode: Episode) -> None:
    mine = taken_by("me", episode)
    tick(mine, 2)
    written = mine.written()
    tick(mine, 2)
    mine.put_back(written)
    assert stored("me", mine)
    assert sorted(StateChange.objects.values_list("step", flat=True)) == [0, 1, 2, 3, 4]
    assert [verdict.faults for verdict in log_verify(Episode.objects.all())] == [[]]
