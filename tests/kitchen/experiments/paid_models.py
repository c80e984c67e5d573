"""Provide a language model that costs money but needs no network. Its prices are known, and it counts its
calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections

from kitchen.contract.language_model import LanguageModel, Reply, Request, Usage
from kitchen.llm import provider_registry
from kitchen.money import budget_ledger

MODEL = "anthropic:claude-sonnet-5-5"
PAID = ["--co-player", "dispatcher", "--model", MODEL, "--set", "demonstration=none", "--set", "memory=1"]


class PaidModel(LanguageModel):
    """A model that writes commands as plain text, with another place in each call."""

    provider = "anthropic"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        """Return a reply that always costs the same number of tokens."""
        self.asked.append(request)
        place = ("storage0", "servingtable0")[len(self.asked) % 2]
        text = f"I send agent 0 on its way.\ngoto_agent0_{place}\nnoop_agent1"
        return Reply(text, model="claude-tested", stop="end_turn", usage=Usage(900, 30))


@pytest.fixture
def paid(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[PaidModel]:
    """Replace Anthropic's provider by a `PaidModel`, and set a key. The ledger is written in the test's
    transaction."""
    model, others, shared = PaidModel(), provider_registry.make_bare_model, connections["default"]

    def made(provider: str, stand_in: Any = None) -> LanguageModel:
        return model if provider == model.provider else others(provider, stand_in)

    def connected(act: Callable[..., Any], *told: Any) -> Any:
        connections["default"] = shared
        return act(*told)

    async def run(act: Callable[..., Any], *told: Any) -> Any:
        return await asyncio.to_thread(connected, act, *told)

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(provider_registry, "make_bare_model", made)
    monkeypatch.setattr(budget_ledger, "run_once_in_db_thread", run)
    shared.inc_thread_sharing()
    yield model
    shared.dec_thread_sharing()
