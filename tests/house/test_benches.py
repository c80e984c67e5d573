"""`make bench NAME` knows the benchmarks that there are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from brigade.paths import base_dir
from tests.kitchen.worlds.overcooked import bench_released
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


def test_what_cannot_be_had_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def offline(folder: object) -> None:
        bench_released.install([sys.executable, "-S", "-c", "raise SystemExit('tried\\nno network')"])

    monkeypatch.setattr(bench_released, "released", offline)
    monkeypatch.setattr(bench_released, "read_recording_file", lambda file: [])
    assert bench_released.main() == 0
    assert capsys.readouterr().out.endswith("so nothing is compared: no network\n")
