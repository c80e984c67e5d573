"""Count how somebody played an episode: useful commands, pauses and other commands (`play_habits`).

The episode is played again from its log, and every command is compared with what the world's adviser program
recommends in the same situation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from kitchen.agents.human_like.play_habits import OTHER, PAUSE, USEFUL, Changes
from kitchen.agents.make_situation import make_situation
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.episode_log import EpisodeLog, LoggedStep
from kitchen.contract.world import Command, Event, World
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.world_registry import get_world

CHOSEN_BY_PEOPLE = frozenset({"person", "timeout", "clock"})
"""Whose commands count: a person's, and waiting because a person chose nothing in time."""


def count_habits(log: EpisodeLog, seat: int, chosen_by: Collection[str] = CHOSEN_BY_PEOPLE) -> Changes:
    """Return how often a step of each kind followed a step of each kind in this seat.

    Steps count if one of `chosen_by` chose the command in its own step, and if the adviser recommended
    something other than waiting. The step before the first one counts as useful.

    Raises WorldError if the log cannot be played again.
    """
    world = get_world(log.world).create(seats=log.seats, settings=log.settings)
    world.reset(log.seed)
    counted: Changes = Counter()
    adviser, memory = get_adviser(log.world), None
    before, events = USEFUL, tuple[Event, ...]()
    for step in log.steps:
        own = _own_command(step, seat, chosen_by)
        if own is not None and world.asks(seat):
            seen = make_situation(
                world,
                [seat],
                memory=memory,
                events=tuple(event for event in events if world.visible(seat, event)),
                seed=derived_seed(log.seed, seat, step.number),
            )
            decision = adviser.decide(seen)
            memory = decision.memory
            if kind := step_kind(world, own, decision.commands.get(seat)):
                counted[before, kind] += 1
                before = kind
        events = tuple(world.step([(each.seat, each.command) for each in step.commands]))
    return counted


def _own_command(step: LoggedStep, seat: int, chosen_by: Collection[str]) -> Command | None:
    """Return the seat's command of this step, if one of `chosen_by` chose it in this step."""
    for each in step.commands:
        if each.seat == seat and each.chosen_by in chosen_by and each.planned_in is None:
            return each.command
    return None


def step_kind(world: World, own: Command, advised: Command | None) -> str:
    """Return the kind of a step in which a person chose `own`. Empty if nothing but waiting was
    recommended."""
    if advised is None or world.is_wait(advised):
        return ""
    if own == advised:
        return USEFUL
    return PAUSE if world.is_wait(own) else OTHER
