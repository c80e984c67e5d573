"""Create small stored episodes for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kitchen.contract.world import Command
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.episode.create_episode import MindPlan, create_episode
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import Receipt, SubmittedCommand

SETTINGS = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}


def make_episode(*, seats: int = 1, minds: tuple[MindPlan, ...] = (), **more: Any) -> Episode:
    """Create an episode of level_3; `steps` shortens it."""
    steps = more.pop("steps", 60)
    return create_episode(
        world="cuisine",
        settings={**SETTINGS, "max_steps": steps},
        seats=seats,
        seed=more.pop("seed", 7),
        minds=minds,
        **more,
    )


def mind(kind: str, *seats: int, **settings: Any) -> MindPlan:
    """Return the description of an agent for these seats."""
    return MindPlan(kind, seats, settings)


def submit(
    episode: Episode, step: int, *command: str, seat: int = 0, then: Iterable[Command] = ()
) -> Receipt:
    """Submit a person's command, and those that follow it."""
    given = SubmittedCommand(seat, command, then=tuple(then))
    return submit_commands(episode_id=episode.pk, step=step, commands=[given])
