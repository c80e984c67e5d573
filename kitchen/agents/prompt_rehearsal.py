"""Show researchers the prompts that an agent would send in a given step, without calling a language model.

The module plays the episode up to this step. The stand-in, which imitates a language model, takes the model's
place. A simulated person, who sends no messages, takes the place of each participant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.agents.make_situation import make_situation, situation_in_organisation
from kitchen.contract.agent import EVERYBODY, NO_ONE, Agent, Decision, DecisionRequest, Situation
from kitchen.contract.automatic_commands import Plan, open_turn, plans_for_agent
from kitchen.contract.canonical_json import derived_seed
from kitchen.contract.language_model import Request
from kitchen.contract.mailbox import with_aims_of_others
from kitchen.contract.organisation import Organisation
from kitchen.contract.world import Command, Event, Json, World
from kitchen.registry.agent_registry import get_adviser, make_agent

PREVIEW_SEED = 1
"""Seed of the episode that is played, where chance decides something."""

SeatedAgents = Sequence[tuple[Sequence[int], Agent]]
"""Co-players with their seats."""


@dataclass(frozen=True, slots=True)
class PlayCondition:
    """The rules of a study's condition under which an episode is played (the arguments of
    `kitchen.play.episode.create_episode`)."""

    knowing: str = EVERYBODY
    passes_by: bool = False
    tells: bool = False
    organisation: Organisation | None = None


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """The prompt that one co-player (agent) would send in one step. Steps are counted from 1. `request` is
    None if the co-player is not asked or calls no language model."""

    step: int
    situation: Situation
    request: Request | None


@dataclass(slots=True)
class _Play:
    """An episode that is played step by step."""

    game: World
    minds: SeatedAgents
    way: PlayCondition
    played: Sequence[Agent]
    memories: dict[int, Json] = field(default_factory=dict)
    """Memories: of people by their seat, of agents by their first seat."""
    events: tuple[Event, ...] = ()
    plans: dict[int, Plan] = field(default_factory=dict)
    settled: dict[int, Command] = field(default_factory=dict)
    """Commands of the coming step for seats that are not asked."""

    @property
    def people(self) -> tuple[int, ...]:
        held = {seat for seats, _ in self.minds for seat in seats}
        return tuple(seat for seat in range(self.game.seats) if seat not in held)

    def seen(self, seats: Sequence[int], known: Mapping[int, Command]) -> Situation:
        return make_situation(
            self.game,
            seats,
            memory=self.memories.get(min(seats, default=self.game.seats)),
            events=self.events,
            commanded=known,
            people=self.people,
            seed=derived_seed(PREVIEW_SEED, self.game.clock),
        )

    def asked(self, number: int, known: Mapping[int, Command]) -> Situation:
        """Return the situation of this agent, as it would be in a live episode
        (`kitchen.play.coplayers.agent_situations`). `known` are the commands of other seats that it may
        know."""
        seats = self.minds[number][0]
        own = {seat: command for seat, command in self.settled.items() if seat in seats}
        seen = replace(
            self.seen(seats, {**own, **known}),
            plans=plans_for_agent(self.game, seats, self.plans, self.game.clock + 1),
            request=DecisionRequest(
                asked=tuple(seat for seat in seats if seat not in own) if own else None,
                knowing=self.way.knowing,
                tells=self.way.tells,
            ),
        )
        member = min(seats, default=self.game.seats)
        situation = situation_in_organisation(seen, self.way.organisation, member=member)
        return replace(situation, talk=with_aims_of_others(situation.talk, self.game))

    def step(self) -> list[tuple[Situation, Decision]]:
        """Play one more step. Return the situation and the decision of each agent."""
        given = self._of_people()
        shared = {**given, **self.settled} if self.way.knowing == EVERYBODY else dict(given)
        known = {} if self.way.knowing == NO_ONE else shared
        told = []
        for number, mind in enumerate(self.played):
            situation = self.asked(number, known)
            is_asked = situation.request.asked != ()
            decision = asyncio.run(mind.decide(situation)) if is_asked else Decision({}, situation.memory)
            self.memories[min(situation.seats, default=self.game.seats)] = decision.memory
            commands = self._plan(situation, decision)
            given |= commands
            known |= commands if self.way.knowing == EVERYBODY else {}
            told.append((situation, decision))
        idle = dict.fromkeys(range(self.game.seats), self.game.idle)
        self.events = tuple(self.game.step({**given, **{s: c for s, c in idle.items() if s not in given}}))
        self.open()
        return told

    def _of_people(self) -> dict[int, Command]:
        given: dict[int, Command] = {}
        for seat in self.people:
            decision = get_adviser(self.game.kind).decide(self.seen((seat,), {}))
            self.memories[seat] = decision.memory
            given |= {seat: self.settled[seat]} if seat in self.settled else decision.commands
        return given

    def _plan(self, situation: Situation, decision: Decision) -> dict[int, Command]:
        """Store the plans in an agent's decision. Return the commands of all its seats, including the fixed
        ones."""
        own = {seat: self.settled[seat] for seat in situation.seats if seat in self.settled}
        for seat, then in decision.plans.items():
            made = Plan(tuple(then), "", "", self.game.clock + 1)
            self.plans[seat] = made.in_place_of(self.plans.get(seat))
        return {**own, **{seat: do for seat, do in decision.commands.items() if seat not in own}}

    def open(self) -> None:
        """Open the next step, and fill in the commands of seats that are not asked."""
        seats, over = range(self.game.seats), self.game.has_ended
        opened = open_turn(self.game, () if over else seats, self.plans, passes_by=self.way.passes_by)
        self.events, self.plans = (*self.events, *opened.broken), opened.plans
        self.settled = {each.seat: each.command for each in opened.filled}


class RehearsedEpisode:
    """An episode that is played with the stand-in (which imitates a language model), only as far as
    prompts are requested. Steps already played are not repeated."""

    def __init__(self, game: World, minds: SeatedAgents, way: PlayCondition | None = None) -> None:
        """Start a trial episode with these agents. Language models are replaced by a program that imitates
        them. Raises WorldError for impossible settings."""
        self._minds = minds
        self._play = _Play(game, minds, way or PlayCondition(), [_rehearsed(mind) for _, mind in minds])
        game.reset(PREVIEW_SEED)
        self._play.open()
        self._steps: list[list[tuple[Situation, Decision]]] = []

    def asked(self, number: int, step: int) -> AskedPrompt:
        """Return the prompt of the agent with this number for this step, counted from 1. If the episode
        ends earlier, return the prompt of its last step."""
        while len(self._steps) < max(step, 1) and (not self._steps or self._goes_on):
            self._steps.append(self._play.step())
        last = min(max(step, 1), len(self._steps))
        situation, decision = self._steps[last - 1][number]
        calls, mind = decision.calls, self._minds[number][1]
        return AskedPrompt(last, situation, _as_sent(calls[0].request, mind, situation) if calls else None)

    @property
    def _goes_on(self) -> bool:
        return not self._play.game.has_ended


def _rehearsed(mind: Agent) -> Agent:
    """Return a copy of the agent in which a program that imitates a language model replaces the model. An
    agent without a model is returned unchanged."""
    rehearsal = mind.rehearsal()
    return make_agent(mind.kind, rehearsal.remembering or rehearsal.settings) if rehearsal else mind


def _as_sent(request: Request, mind: Agent, situation: Situation) -> Request:
    """Return the request with the fixed messages of the real agent in place of those of its copy. Some of
    them depend on the agent's model."""
    fixed = iter(mind.fixed_messages(situation))
    messages = tuple(
        replace(message, text=next(fixed, message.text)) if message.fixed else message
        for message in request.messages
    )
    return replace(request, messages=messages, model=mind.model().partition(":")[2])
