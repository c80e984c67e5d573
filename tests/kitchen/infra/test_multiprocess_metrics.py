"""Processes count into one folder; what they have counted outlives them, what they had open does not."""

from __future__ import annotations

import struct
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from brigade.paths import base_dir
from kitchen.infra.multiprocess_metrics import KINDS, PAST, ROOM, folder_lock, merge_ended_processes

COUNTS = """
import sys
from pathlib import Path
from kitchen.infra.multiprocess_metrics import share_metrics
share_metrics(Path(sys.argv[1]))
from kitchen.infra import prometheus_metrics as metrics
metrics.count_step("cuisine", "untimed", 0.003)
metrics.websocket_closes.labels("4409").inc(2)
metrics.playing_pages.inc()
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
        with folder_lock(tmp_path):
            merge_ended_processes(tmp_path)
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
    merge_ended_processes(tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.db")) == [
        f"counter_{PAST}.db",
        f"histogram_{PAST}.db",
    ]
    assert 'brigade_websocket_closes_total{code="4409"} 4.0' in told(tmp_path)


FORKS = """
import os, sys
from pathlib import Path
from kitchen.infra.multiprocess_metrics import share_metrics
share_metrics(Path(sys.argv[1]))
from kitchen.infra import prometheus_metrics as metrics
if not (child := os.fork()):
    share_metrics(Path(sys.argv[1]))
    metrics.websocket_closes.labels("4409").inc()
    metrics.count_step("cuisine", "untimed", 0.003)
    metrics.lock_wait_seconds.observe(0.1)
    metrics.command_seconds.observe(0.1)
    metrics.decision_seconds.labels("planner").observe(0.2)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_was_forked_off_loses_nothing_that_it_counts(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKS, str(tmp_path)], cwd=base_dir(), check=True)
    said = told(tmp_path)
    assert 'brigade_step_seconds_count{clock="untimed",world="cuisine"} 1.0' in said
    assert 'brigade_decision_seconds_count{policy="planner"} 1.0' in said
    assert (
        "brigade_database_lock_wait_seconds_count 1.0" in said and "brigade_command_seconds_count 1.0" in said
    )


def test_a_damaged_file_stops_no_program(tmp_path: Path) -> None:
    ended = counting(tmp_path)
    ended.communicate("")
    (file,) = (file for file in tmp_path.glob("counter_*.db") if PAST not in file.name)
    key = b"\xff" * 20  # no text
    file.write_bytes(struct.pack("=ii", 8 + 4 + 20 + 16, 0) + struct.pack("=i", 20) + key + bytes(4096))
    merge_ended_processes(tmp_path)
    assert not file.exists()


def test_the_version_is_the_one_whose_files_we_write() -> None:
    """Read `values.py` and `mmap_dict.py` of another version before you name it here."""
    assert version("prometheus-client").startswith("0.26.")
