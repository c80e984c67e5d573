"""Provide a language model with scripted replies, and short functions that let ProAgent decide."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.agents.skill_agents import decision_model
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.language_model import LanguageModel, ModelError, Reply, Request
from kitchen.contract.world import Command, Event, Json, World
from kitchen.registry.agent_registry import make_agent

MODEL = "anthropic:claude-haiku-4-5"


class Scripted(LanguageModel):
    """A language model that gives its answers one after another, and repeats the last one."""

    provider = "anthropic"

    def __init__(self, *answers: str | ModelError) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, ModelError):
            raise answer
        return Reply(answer, model="claude-haiku-4-5-x")

    def said(self, number: int = -1) -> str:
        """Return the last message of one request."""
        return self.requests[number].messages[-1].text


def script(monkeypatch: pytest.MonkeyPatch, *answers: str | ModelError) -> Scripted:
    """Replace the provider by a scripted model."""
    model = Scripted(*answers)
    monkeypatch.setattr(decision_model, "open_model", lambda *_: model)
    return model


def decide(situation: Situation, **settings: Any) -> Decision:
    """Return one decision of a new ProAgent."""
    return asyncio.run(make_agent("proagent", {"model": MODEL, **settings}).decide(situation))


class Beside:
    """ProAgent in one seat of a game. The test commands the other seats."""

    def __init__(self, game: World, seat: int = 1, **settings: Any) -> None:
        self.game, self.seat = game, seat
        self.settings = {"model": "stand-in", **settings}
        self.memory: Json = None
        self.events: tuple[Event, ...] = ()
        self.decisions: list[Decision] = []

    def seen(self) -> Situation:
        """Return the agent's present situation."""
        return make_situation(
            self.game, (self.seat,), memory=self.memory, events=self.events, seed=self.game.clock
        )

    def step(self, *others: Command) -> Decision:
        """Take one step in which the first other seat gives this command."""
        decision = asyncio.run(make_agent("proagent", self.settings).decide(self.seen()))
        self.memory = decision.memory
        self.decisions.append(decision)
        seats = [seat for seat in range(self.game.seats) if seat != self.seat]
        given = dict(zip(seats, others, strict=False))
        self.events = self.game.step({**given, **decision.commands})
        return decision

    def note(self) -> Any:
        """Return the note of the last decision about the agent's seat."""
        note: Any = self.decisions[-1].note
        return note["seats"][str(self.seat)]
