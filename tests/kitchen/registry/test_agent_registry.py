"""Agents are loaded before anybody needs them."""

from __future__ import annotations

import sys

import pytest

from kitchen.registry import agent_registry
from kitchen.registry.agent_registry import agent_kinds, get_agent, preload_agents


def test_all_agents_are_loaded_early_although_one_cannot_be(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "absent", "kitchen.agents.absent:Absent")
    preload_agents()
    assert [line.message for line in caplog.records] == ["the agent absent cannot be loaded"]
    assert {get_agent(kind).__module__ for kind in agent_kinds() if kind != "absent"} <= set(sys.modules)
