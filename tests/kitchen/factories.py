"""Small episodes for tests."""

from __future__ import annotations

from typing import Any

from kitchen import services
from kitchen.models import Episode

SETTINGS = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}


def make_episode(*, seats: int = 1, minds: tuple[services.MindPlan, ...] = (), **more: Any) -> Episode:
    """An episode of level_3; `steps` shortens it."""
    steps = more.pop("steps", 60)
    return services.episode_create(
        world="cuisine",
        settings={**SETTINGS, "max_steps": steps},
        seats=seats,
        seed=more.pop("seed", 7),
        minds=minds,
        **more,
    )


def mind(kind: str, *seats: int, **settings: Any) -> services.MindPlan:
    """A co-player for these seats."""
    return services.MindPlan(kind, seats, settings)


def submit(episode: Episode, step: int, *command: str, seat: int = 0) -> services.Receipt:
    """A person's command."""
    return services.commands_submit(
        episode_id=episode.pk, step=step, orders=[services.SeatOrder(seat, command)]
    )
