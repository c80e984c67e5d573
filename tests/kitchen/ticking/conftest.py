"""A world with a clock, and episodes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kitchen.play.creating import MindPlan, episode_create
from kitchen.play.models import Episode, Seat, Step
from kitchen.registry.worlds import VARIABLE
from kitchen.ticking import game
from kitchen.ticking.claims import Standing, claim_take, episodes_ticking
from kitchen.ticking.game import Game, game_read
from tests.worlds.lane.kit import LINE

Lane = Callable[..., Episode]


@pytest.fixture
def lane(db: None, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """`lane(…)` makes an episode whose people, if it has any, have opened their pages."""
    monkeypatch.setenv(VARIABLE, LINE)
    monkeypatch.setattr(game, "LEAD_IN", 0.0)
    return make_lane


def make_lane(*minds: str, seats: int = 1, steps: int = 5, tick_ms: int = 100, **more: Any) -> Episode:
    """The `minds` have the last seats."""
    people = seats - len(minds)
    episode = episode_create(
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


def standing(episode: Episode) -> Standing:
    """How it stands now."""
    return next(one for one in episodes_ticking() if one.episode_id == episode.pk)


def taken_by(owner: str, episode: Episode, now: float = 0.0) -> Game:
    """The game, which this owner has claimed."""
    one = standing(episode)
    assert claim_take(owner, one)
    found = game_read(one, now)
    assert found is not None
    return found


def rows_of(episode: Episode) -> list[Step]:
    """Its steps."""
    return list(Step.objects.filter(episode=episode))
