"""Agents are loaded before anybody needs them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kitchen.contract.agent import Agent
from kitchen.registry import agent_registry
from kitchen.registry.agent_registry import agent_kinds, preload_agents


def test_all_agents_are_loaded_early_although_one_cannot_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "absent", "kitchen.agents.absent:Absent")
    expected, loaded = agent_kinds().keys() - {"absent"}, set()

    def noted(kind: str, load: Callable[[], type[Agent]]) -> type[Agent]:
        found = load()
        loaded.add(kind)
        return found

    kinds = {kind: partial(noted, kind, load) for kind, load in agent_kinds().items()}
    monkeypatch.setattr(agent_registry, "agent_kinds", lambda: kinds)
    preload_agents()
    assert [line.message for line in caplog.records] == ["the agent absent cannot be loaded"]
    assert loaded == expected
