"""The tokens of all model calls of a turn are noted, and counted by seat."""

from __future__ import annotations

import asyncio

import pytest

from kitchen.contract.language_model import LanguageModel, Reply, Request, Usage
from kitchen.worlds.collab_overcooked.collab_agent import agent as agent_module
from kitchen.worlds.collab_overcooked.collab_agent.agent import CollabAgent
from tests.kitchen.worlds.collab_overcooked.test_collab_agent import FETCH, situation, turn

REPLIES = (Reply("nonsense", usage=Usage(100, 10)), Reply("", turn([FETCH]), usage=Usage(120, 8, 5, 2)))


class Counted(LanguageModel):
    """A model that gives these replies in turn."""

    provider = "openai"

    def __init__(self) -> None:
        self.replies = list(REPLIES)

    async def ask(self, request: Request) -> Reply:
        return self.replies.pop(0)


def test_tokens_of_a_repair_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Counted()
    monkeypatch.setattr(agent_module, "open_model", lambda *given: model)
    made = asyncio.run(CollabAgent({"model": "openai:small"}).decide(situation(1)))
    assert made.note["process"]["tokens"] == 245
