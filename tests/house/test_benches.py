"""`make bench NAME` knows the benchmarks that there are."""

from __future__ import annotations

import subprocess

import pytest

from brigade.places import base_dir
from tests.run import BENCHES


def said_by_make(*goals: str) -> list[str]:
    """The words of the line with which make would run benchmarks."""
    command = ["make", "--dry-run", *goals]
    done = subprocess.run(command, cwd=base_dir(), capture_output=True, text=True, check=True)
    (line,) = (line for line in done.stdout.splitlines() if "tests.run" in line)
    return line.split()


@pytest.mark.parametrize("name", BENCHES)
def test_one_benchmark_runs_under_its_name(name: str) -> None:
    assert said_by_make("bench", name)[-2:] == ["bench", name]


def test_without_a_name_all_of_them_run() -> None:
    assert said_by_make("bench")[-1] == "bench"
