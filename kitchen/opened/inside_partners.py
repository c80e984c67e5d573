"""Let co-players of the project play seats inside an environment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import NO_ONE, Agent, Decision, DecisionRequest, Situation, run_without_waiting
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.world import Command, Event, Json, World
from kitchen.registry.agent_registry import can_play, make_agent

Partner = tuple[str, Mapping[str, Json]]
"""A kind of co-player, and its settings."""


class InsidePartners:
    """The co-players of some seats in one episode, each with its memory and its plan. They do not know what
    others choose in the same step."""

    def __init__(self, world: World, partners: Mapping[int, Partner]) -> None:
        """Create the co-players. Raises SettingsError, UnknownNameError or ValueError if one cannot play."""
        self._agents = {
            seat: _agent(world, seat, *_checked_partner(seat, partner))
            for seat, partner in sorted(partners.items())
        }
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Forget everything: an episode with this seed begins."""
        self._seed = seed
        self._memories: dict[int, Json] = {}
        self._plans: dict[int, list[Command]] = {}

    def commands(self, world: World, events: tuple[Event, ...]) -> dict[int, Command]:
        """Return the partners' commands for the coming step, by seat. `events` are those of the last step.
        Seats that are not asked are left out. Errors of co-players are not caught."""
        found: dict[int, Command] = {}
        for seat, agent in self._agents.items():
            if world.asks(seat):
                command = self._planned(world, seat) or self._decided(world, seat, agent, events)
                if command:
                    found[seat] = command
        return found

    def _planned(self, world: World, seat: int) -> Command | None:
        plan = self._plans.get(seat)
        if plan and world.allows(seat, plan[0]):
            return plan.pop(0)
        self._plans.pop(seat, None)
        return None

    def _decided(self, world: World, seat: int, agent: Agent, events: tuple[Event, ...]) -> Command | None:
        situation = make_situation(
            world,
            [seat],
            memory=self._memories.get(seat),
            events=tuple(event for event in events if world.visible(seat, event)),
            seed=derived_seed(self._seed, seat, world.clock),
        )
        decision = _decide(agent, replace(situation, request=DecisionRequest(knowing=NO_ONE)))
        self._memories[seat] = decision.memory
        self._plans[seat] = list(decision.plans.get(seat, ()))
        return decision.commands.get(seat)


def _checked_partner(seat: int, partner: Any) -> Partner:
    """Return the partner. Raises ValueError if it is no kind with its settings."""
    match partner:
        case (str() as kind, Mapping() as settings):
            return kind, settings
    raise ValueError(f'partners: {partner!r} of seat {seat} is no pair such as ("greedy", {{}})')


def _agent(world: World, seat: int, kind: str, settings: Mapping[str, Json]) -> Agent:
    try:
        agent = make_agent(kind, settings)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"partners: {kind} needs the package {error.name}, which is not installed"
        ) from error
    if not can_play(type(agent), world.kind):
        raise ValueError(f"partners: {kind} does not play {world.kind}")
    if agent.model():
        raise ValueError(f"partners: {kind} calls a language model; choose one that calls none")
    if unfit := agent.unfit(world, [seat]):
        raise ValueError(f"partners: {kind} cannot play seat {seat}: {unfit}")
    return agent


def _decide(agent: Agent, situation: Situation) -> Decision:
    """Return the agent's decision. An agent that waits for something decides again, in a thread with an event
    loop: the caller may have a running loop, as a notebook does."""
    if agent.instant or agent.light:
        return run_without_waiting(agent.decide(situation))
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(lambda: asyncio.run(agent.decide(situation))).result()


def seats_without_partner(seats: int, partners: Mapping[int, Partner]) -> tuple[int, ...]:
    """Return the seats that nobody plays inside. Raises ValueError if a partner's seat does not exist, or if
    none is left."""
    if not isinstance(partners, Mapping):
        raise ValueError('partners: give them by seat, such as {1: ("greedy", {})}')
    for seat in partners:
        if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < seats:
            raise ValueError(f"partners: {seat!r} is no seat from 0 to {seats - 1}")
    left = tuple(seat for seat in range(seats) if seat not in partners)
    if not left:
        raise ValueError("partners: no seat is left for your program")
    return left
