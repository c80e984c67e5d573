"""Play an episode with one agent for all seats, and measure the time of its decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import Agent, Decision, DecisionLimits
from kitchen.contract.world import Json, World
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_metrics import share_count_names
from kitchen.registry.world_registry import DEFAULT_WORLD_NAME, get_world


@dataclass(frozen=True, slots=True)
class Played:
    """One episode: its world at the end, and how long each decision took in milliseconds."""

    game: World
    milliseconds: tuple[float, ...]

    @property
    def completed(self) -> int:
        """Return the number of completed things, in the world's metric of completed and missed things."""
        return share_count_names(self.game)[0]

    @property
    def failed(self) -> int:
        """Return the number of missed things, in the world's metric of completed and missed things."""
        return share_count_names(self.game)[1]


def play_alone(
    kind: str,
    *,
    world: str = DEFAULT_WORLD_NAME,
    seats: int,
    settings: Mapping[str, Json],
    seed: int,
    chosen: Mapping[str, Json] | None = None,
) -> Played:
    """Play one episode in which one agent of this kind commands every seat."""
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    times = [spent for _, spent in decisions(make_agent(kind, chosen or {}), game, seed=seed)]
    return Played(game, tuple(times))


def decisions(mind: Agent, game: World, *, seed: int, **more: Any) -> Iterator[tuple[Decision, float]]:
    """Play an episode in which one agent commands every seat. Before each step, yield its decision and the
    decision's milliseconds.

    `more` has further fields of every situation (`seconds`, `purse`).
    """
    team = Team.of(mind.kind, game.seats)
    loop = EpisodeLoop(game, seed, team)
    while not loop.is_over:
        asked = asyncio.run(loop.ask({team.members[0].number: mind}, limits=DecisionLimits(**more)))
        for each in asked:
            yield each.decision, each.milliseconds
        loop.take(loop.step_of(asked))
