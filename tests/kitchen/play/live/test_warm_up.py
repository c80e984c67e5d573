"""A web process that takes pages has loaded what they need."""

from __future__ import annotations

from typing import Any

import daphne.server
import pytest
from django.template import engines

from brigade import web
from kitchen.infra import process_pool
from kitchen.play.live import render_page
from kitchen.registry import agent_registry
from kitchen.uptime.models import Part


def test_templates_of_panels_are_compiled_before_the_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[int] = []
    panels: Any = engines["panels"]
    compiled = panels.env.cache
    compiled.clear()
    monkeypatch.setattr(daphne.server.Server, "run", lambda server: served.append(len(compiled)))
    monkeypatch.setattr("kitchen.uptime.heartbeat.start_heartbeat", lambda part: None)
    monkeypatch.setattr(process_pool, "fork_children", lambda: None)
    web.WebProcess(application=None, endpoints=["nowhere"]).run()
    assert served
    assert served[0] > 20


@pytest.mark.parametrize(("endpoint", "parts"), [("tcp:8001", [Part.WEB]), ("unix-socket:3", [])])
def test_only_processes_in_which_people_play_have_children_with_all_agents_and_send_heartbeats_of_play(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, parts: list[Part]
) -> None:
    sent: list[str] = []
    begun: list[str] = []
    monkeypatch.setattr(agent_registry, "preload_agents", lambda: begun.append("agents"))
    monkeypatch.setattr(process_pool, "fork_children", lambda: begun.append("children"))
    monkeypatch.setattr(render_page, "preload_pages", lambda: None)
    monkeypatch.setattr(web.DrainingServer, "run", lambda server: None)
    monkeypatch.setattr("kitchen.uptime.heartbeat.start_heartbeat", sent.append)
    web.WebProcess(application=None, endpoints=[endpoint]).run()
    assert sent == parts
    assert begun == (["agents", "children"] if parts else [])


def test_a_world_that_cannot_be_loaded_keeps_nobody_from_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BRIGADE_WORLDS", "broken=nothing.there:KIT")
    render_page.preload_pages()
    assert "not all was loaded" in caplog.text
