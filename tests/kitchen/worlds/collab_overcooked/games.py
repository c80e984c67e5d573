"""Create games of Collab-Overcooked in a given state, and carry out sequences of commands in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.contract.agent import EVERYBODY, Agent
from kitchen.contract.episode_log import EpisodeLog
from kitchen.contract.organisation import Member, make_organisation
from kitchen.contract.world import Command, Event
from kitchen.worlds.collab_overcooked.recipe_partner import RecipePartner
from kitchen.worlds.collab_overcooked.world import CollabOvercooked

GO_ON = CollabOvercooked.idle


def game(task: str, **settings: Any) -> CollabOvercooked:
    """Create a game at its start."""
    return CollabOvercooked.create(seats=2, settings={"task": task, **settings})


def command(text: str) -> Command:
    """Split a text such as `pickup egg counter` into a command."""
    return tuple(text.split())


def play(world: CollabOvercooked, seat: int, *macros: str) -> list[Event]:
    """Carry out these macros of a seat one after another, while the other seat waits. Return all events."""
    events: list[Event] = []
    for macro in macros:
        assert world.allows(seat, command(macro)), (macro, world.why_not(seat, command(macro)))
        events += world.step({seat: command(macro)})
        while world.doing[seat] is not None:
            events += world.step({})
    return events


def execute(world: CollabOvercooked, trajectories: Sequence[Sequence[Command]]) -> int:
    """Carry out one trajectory (sequence of macros) of each seat. A seat begins its next macro as soon as the
    checks allow it. Return the number of steps until the delivery."""
    left = [list(each) for each in trajectories]
    while not world.has_ended:
        turn = {}
        for seat in (0, 1):
            if world.doing[seat] is None and left[seat] and world.allows(seat, left[seat][0]):
                turn[seat] = left[seat].pop(0)
        world.step(turn)
    assert world.delivered and not any(left)
    return world.clock


def pair_game(task: str, seed: int = 0, **rates: float) -> tuple[CollabOvercooked, EpisodeLog]:
    """Play a game of the stand-in pair without people. Return the world and the log."""
    return agents_game(task, RecipePartner(rates), seed)


def agents_game(task: str, agent: Agent, seed: int = 0) -> tuple[CollabOvercooked, EpisodeLog]:
    """Play a game with this agent in both seats. Return the world and the log."""
    loop = agents_loop(task, agent, seed)
    return play_on(loop, agent), loop.log()


def play_on(loop: EpisodeLoop, agent: Agent) -> CollabOvercooked:
    """Play a game to its end, and return the world."""
    while not loop.is_over:
        loop.take(loop.step_of(asyncio.run(loop.ask(dict.fromkeys((0, 1), agent)))))
    assert isinstance(loop.game, CollabOvercooked)
    return loop.game


def agents_loop(task: str, agent: Agent, seed: int = 0, **settings: Any) -> EpisodeLoop:
    """Begin a game with this agent in both seats."""
    members = (Member(0, (0,), False), Member(1, (1,), False))
    organisation = make_organisation("pair", members, seats=2, settings={"within": True})
    world = game(task, **settings)
    world.reset(seed)
    return EpisodeLoop(
        world, seed, Team(members, (agent.kind,) * 2, organisation, EVERYBODY), {"task": task, **settings}
    )
