"""How many processes share the machine."""

from __future__ import annotations

import pytest

from kitchen.infra import os_processes
from kitchen.infra.os_processes import planner_processes, web_processes


@pytest.mark.parametrize(("number", "web", "planning"), [(1, 1, 1), (2, 2, 1), (8, 8, 1), (24, 8, 3)])
def test_all_cores_are_used(monkeypatch: pytest.MonkeyPatch, number: int, web: int, planning: int) -> None:
    monkeypatch.setattr(os_processes, "usable_cores", lambda: number)
    monkeypatch.delenv("BRIGADE_WEB", raising=False)
    monkeypatch.setenv("BRIGADE_PLANNERS", " ")
    assert (web_processes(), planner_processes()) == (web, planning)


def test_both_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os_processes, "usable_cores", lambda: 4)
    monkeypatch.setenv("BRIGADE_WEB", "2")
    assert (web_processes(), planner_processes()) == (2, 2)
    monkeypatch.setenv("BRIGADE_PLANNERS", "64")
    assert planner_processes() == 64


@pytest.mark.parametrize("given", ["0", "-1", "65", "two", "1.5", "\u00b2"])
def test_what_is_no_number_of_processes_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("BRIGADE_WEB", given)
    with pytest.raises(ValueError, match=f"^BRIGADE_WEB: '{given}' is not a number from 1 to 64$"):
        web_processes()


def test_this_process_may_use_a_core() -> None:
    assert os_processes.usable_cores() >= 1
