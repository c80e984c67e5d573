"""A machine vanishes while people play, and they go on at the other one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from brigade.paths import base_dir
from tests.live.killing import Blow
from tests.live.network_machines import why_no_network
from tests.live.stalls import Wait
from tests.live.two_machines import longest_during, main, turned


def test_without_root_there_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main([]) == 2
    assert capsys.readouterr().err == "two-machines: network namespaces need root, on Linux\n"


def test_a_wait_belongs_to_the_event_after_which_most_of_it_passed() -> None:
    blows = [Blow("rest", 0.0), Blow("cut", 10.0), Blow("back", 20.0)]
    waits = [Wait(5.0, 5.3), Wait(9.0, 15.0), Wait(19.0, 19.2), Wait(18.0, 23.0), Wait(24.0, 24.5)]
    found = longest_during(blows, waits, 30.0)
    assert [round(wait.seconds, 1) for wait in found] == [0.3, 6.0, 5.0]


def test_pages_begin_on_different_machines_and_try_all() -> None:
    assert [turned(["one", "two"], seat) for seat in (0, 1, 2)] == [
        ["one", "two"],
        ["two", "one"],
        ["one", "two"],
    ]


@pytest.mark.nightly  # only real connections hang when a link is cut
@pytest.mark.skipif(bool(why_no_network()), reason=why_no_network() or "never")
def test_one_of_two_machines_vanishes_and_nothing_is_lost() -> None:
    short = ["--absences", "2", "--away", "8", "--episodes", "5", "--games", "2"]
    command = [sys.executable, "-m", "tests.live.two_machines", *short]
    found = subprocess.run(command, cwd=base_dir(), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.splitlines()[-1] == "nothing was lost, nothing was doubled"
    assert "a machine's link is cut" in found.stdout
