"""A model that costs money, for tests: no network, known prices, and every call is counted."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.contract.language_model import LanguageModel, Reply, Request, Usage
from kitchen.llm import provider_registry

MODEL = "anthropic:claude-sonnet-5-5"
PAID = ["--co-player", "dispatcher", "--model", MODEL, "--set", "demonstration=none", "--set", "memory=1"]


class PaidModel(LanguageModel):
    """Commands in plain text, another place at every call."""

    provider = "anthropic"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Reply:
        """So many tokens each time."""
        self.asked.append(request)
        place = ("storage0", "servingtable0")[len(self.asked) % 2]
        text = f"I send agent 0 on its way.\ngoto_agent0_{place}\nnoop_agent1"
        return Reply(text, model="claude-tested", stop="end_turn", usage=Usage(900, 30))


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> PaidModel:
    """It is behind Anthropic's door, and a key is there."""
    model, others = PaidModel(), provider_registry.make_bare_model

    def made(provider: str, stand_in: Any = None) -> LanguageModel:
        return model if provider == model.provider else others(provider, stand_in)

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(provider_registry, "make_bare_model", made)
    return model
