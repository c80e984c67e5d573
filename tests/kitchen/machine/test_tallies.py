"""Processes count into one folder; what they have counted outlives them, what they had open does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from brigade.places import base_dir
from kitchen.machine.tallies import KINDS, PAST, ROOM, locked, tidy

COUNTS = """
import sys
from pathlib import Path
from kitchen.machine.tallies import share
share(Path(sys.argv[1]))
from kitchen.machine import metrics
metrics.step_taken("cuisine", "untimed", 0.003)
metrics.closes.labels("4409").inc(2)
metrics.pages.inc()
print("counted", flush=True)
sys.stdin.read()
"""


def counting(folder: Path) -> subprocess.Popen[str]:
    """A process that has counted, and goes on until its line is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", COUNTS, str(folder)],
        cwd=base_dir(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline() == "counted\n"
    return process


def told(folder: Path) -> str:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
    return generate_latest(registry).decode()


def test_all_are_added_up_and_those_who_ended_keep_what_they_counted(tmp_path: Path) -> None:
    ended, runs = counting(tmp_path), counting(tmp_path)
    try:
        ended.communicate("")
        with locked(tmp_path):
            tidy(tmp_path)
        names = sorted(file.name.rpartition("_")[0] for file in tmp_path.glob("*.db"))
        assert names == sorted([*KINDS, "counter", "histogram"])
        assert {file.stat().st_size for file in tmp_path.glob("*.db")} == {ROOM}
        said = told(tmp_path)
        assert 'brigade_step_seconds_count{clock="untimed",world="cuisine"} 2.0' in said
        assert 'brigade_step_seconds_bucket{clock="untimed",le="0.005",world="cuisine"} 2.0' in said
        assert 'brigade_websocket_closes_total{code="4409"} 4.0' in said
        assert "brigade_pages_playing 1.0" in said
    finally:
        runs.communicate("")
    tidy(tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.db")) == [
        f"counter_{PAST}.db",
        f"histogram_{PAST}.db",
    ]
    assert 'brigade_websocket_closes_total{code="4409"} 4.0' in told(tmp_path)
