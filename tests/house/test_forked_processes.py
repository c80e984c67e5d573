"""A run in forked processes reports what one process would, and what a process took with it when it died."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from brigade.paths import base_dir

PASS = """
import os
import pytest

@pytest.fixture(scope="session", autouse=True)
def shared(tmp_path_factory):
    yield
    folder = tmp_path_factory.getbasetemp()
    (folder.parent / f"torn-down-{os.getpid()}").touch()

def test_one():
    print("said by one")
def test_two(shared): pytest.skip("for a reason")
def test_three(): assert 1 == 2
"""
DIE = """
import os

def test_four(): pass
def test_five(): os._exit(3)
def test_six(): pass
"""


def test_reports_are_those_of_one_process_and_tests_that_a_process_lost_have_failed(tmp_path: Path) -> None:
    tests, temporary = tmp_path / "tests", tmp_path / "temporary"
    tests.mkdir()
    for name, text in (("pass", PASS), ("die", DIE)):
        (tests / f"test_{name}.py").write_text(text)
    forked = ("-p", "tests.forked_processes", "--processes", "2", "--basetemp", str(temporary))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-p", "no:django", *forked],
        cwd=tests,
        env={**os.environ, "PYTHONPATH": str(base_dir())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    for line in (
        "SKIPPED [1] test_pass.py:13: for a reason",
        "FAILED test_pass.py::test_three - assert 1 == 2",
        "test_die.py::test_five: its process ended before it did",
        "test_die.py::test_six: its process ended before it did",
        "3 failed, 2 passed, 1 skipped",
    ):
        assert line in done.stdout
    assert "said by one" not in done.stdout
    assert len([*temporary.glob("torn-down-*")]) == 1
