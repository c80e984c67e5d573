"""Provide a language model with scripted replies, and short functions that let the dispatcher decide."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import Decision, Situation
from kitchen.contract.language_model import LanguageModel, ModelError, Reply, Request
from kitchen.contract.world import Command
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.cuisine.dispatcher import model_exchange
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.world import CuisineWorld
from tests.kitchen.worlds.cuisine.cooking import kitchen

MODEL = "anthropic:claude-haiku-4-5"

Answer = str | Mapping[str, Any] | ModelError | Reply


class Scripted(LanguageModel):
    """A language model that gives its answers one after another, and repeats the last one. An answer is a
    text, a tool call, or an error."""

    provider = "anthropic"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            return Reply(answer, model="claude-haiku-4-5-x")
        return Reply("", call=answer, model="claude-haiku-4-5-x")

    def said(self, number: int = -1) -> str:
        """Return the last message of one request."""
        return self.requests[number].messages[-1].text


def script(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> Scripted:
    """Replace the provider by a scripted model."""
    model = Scripted(*answers)
    monkeypatch.setattr(model_exchange, "open_model", lambda *_: model)
    return model


def decide(situation: Situation, **settings: Any) -> Decision:
    """Return one decision of a new dispatcher."""
    chosen = {"model": MODEL, "demonstration": "none", **settings}
    return asyncio.run(make_agent("dispatcher", chosen).decide(situation))


def seen(
    world: CuisineWorld | None = None,
    *seats: int,
    commanded: Mapping[int, Command] | None = None,
    **more: Any,
) -> Situation:
    """Return an agent's situation: by default, level_3 at its start, with a person in seat 0 of three."""
    world = world or kitchen(seats=3)
    held = seats or tuple(range(1, world.seats))
    people = more.pop("people", tuple(seat for seat in range(world.seats) if seat not in held))
    before = dict.fromkeys(people, ("noop",)) if commanded is None else commanded
    return make_situation(world, held, commanded=before, people=people, **more)


def moment(world: CuisineWorld | None = None, *seats: int, **more: Any) -> KitchenMoment:
    """Return the dispatcher's snapshot of a situation."""
    return KitchenMoment.of(seen(world, *seats, **more))
