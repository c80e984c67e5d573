"""Provide hourglass agents for tests in CuisineWorld: teams for whole episodes, single decisions, and a model
with scripted replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kitchen.agents.agent_team import Team
from kitchen.agents.episode_loop import EpisodeLoop
from kitchen.agents.make_situation import make_situation
from kitchen.agents.skill_agents import decision_model
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.language_model import LanguageModel, ModelError, Reply, Request
from kitchen.contract.line_up import line_up_kinds, line_up_members, line_up_seats
from kitchen.contract.organisation import Organisation, make_organisation
from kitchen.contract.world import Json, World
from kitchen.registry.agent_registry import make_agent
from kitchen.registry.world_registry import get_world
from tests.kitchen.changed_facts import changed

CUISINE: Mapping[str, Json] = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 60}
MODEL = "anthropic:claude-haiku-4-5"
SALMON, TUNA, RICE = ("serve", "salmonSushi"), ("serve", "tunaSushi"), ("fetch", "rice")


def game_of(world: str, seats: int, settings: Mapping[str, Json] = CUISINE, seed: int = 7) -> World:
    game = get_world(world).create(seats=seats, settings=settings)
    game.reset(seed)
    return game


def organised(line_up: str, kind: str, **settings: Any) -> Organisation:
    seats = line_up_seats(line_up)
    return make_organisation(kind, line_up_members(line_up, seats), seats=seats, settings=settings)


def play(
    line_up: str,
    kind: str,
    *,
    world: str = "cuisine",
    game: Mapping[str, Json] = CUISINE,
    steps: int = 1000,
    agents: Mapping[int, Agent] | None = None,
    chosen: Mapping[str, Json] | None = None,
    **settings: Any,
) -> EpisodeLoop:
    """Play an episode. `agents` replace members by number; `chosen` are settings of hourglass agents."""
    made, seats = organised(line_up, kind, **settings), line_up_seats(line_up)
    loop = EpisodeLoop(game_of(world, seats, game), 7, Team.of(line_up, seats, made))
    own = {"model": "stand-in", **(chosen or {})}
    asked = {
        member.number: (agents or {}).get(member.number)
        or make_agent(name, own if name == "hourglass" else {})
        for member, name in zip(made.members, line_up_kinds(line_up), strict=True)
    }
    while not loop.is_over and loop.game.clock < steps:
        loop.take(loop.step_of(asyncio.run(loop.ask(asked))))
    return loop


class Scripted(LanguageModel):
    """A language model that gives its answers one after another, and repeats the last one. An answer is a
    text, a tool call, or an error."""

    provider = "anthropic"

    def __init__(self, *answers: str | Mapping[str, Any] | ModelError) -> None:
        self.answers, self.requests = list(answers), list[Request]()

    async def ask(self, request: Request) -> Reply:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, ModelError):
            raise answer
        return Reply(answer) if isinstance(answer, str) else Reply("", call=answer)

    def said(self, number: int = -1) -> str:
        """Return the last message of one request."""
        return self.requests[number].messages[-1].text


def script(monkeypatch: pytest.MonkeyPatch, *answers: str | Mapping[str, Any] | ModelError) -> Scripted:
    model = Scripted(*answers)
    monkeypatch.setattr(decision_model, "open_model", lambda *_: model)
    return model


def told(
    line_up: str,
    kind: str,
    member: int = 0,
    *,
    settings: Mapping[str, Any] | None = None,
    waited: int = 0,
    **facts: Any,
) -> Situation:
    """Return the situation of a member after this number of idle steps, with these fields changed."""
    made, seats = organised(line_up, kind, **(settings or {})), line_up_seats(line_up)
    game = game_of("cuisine", seats, {**CUISINE, "alpha": 0.5, "beta": 8.0})
    for _ in range(waited):
        game.step({})
    held = made.member(member).seats
    aims = {one: tuple(game.aims(0)) for one in made.commanded_by(member)}
    seen = {seat: game.observe(seat) for seat in made.seats_seen(member)}
    situation = changed(make_situation(game, held), organisation=made, member=member, observations=seen)
    return changed(situation, aims=aims, public_brief=game.public_brief(), **facts)


def decide(situation: Situation, **chosen: Any) -> Decision:
    return asyncio.run(make_agent("hourglass", {"model": MODEL, **chosen}).decide(situation))


def says(decision: Decision) -> list[tuple[str, Sequence[int], Any, str]]:
    """Return the messages of a decision as tuples: kind, addressees, aim or status, and text."""
    return [
        (one.kind, one.to, one.data.get("aim") or one.data.get("status") or one.data.get("code"), one.text)
        for one in decision.says
    ]
