"""A run's processor time has that of every process in it, and its units are the same on any machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from brigade.paths import base_dir
from tests.processor_units import UNITS

ORPHAN = """
import os, time
from tests.processor_units import measured
from pathlib import Path

def spin(seconds):
    while time.process_time() < seconds: pass

with measured() as cost:
    if os.fork() == 0:
        if os.fork() == 0:
            spin(0.3)
        os._exit(0)
    os.wait()
print(cost.seconds, cost.units, len(cost.pieces))
"""
"""A process whose child ends at once, and whose grandchild is at work for 0.3 s."""


@pytest.mark.skipif(sys.platform != "linux", reason="only there the system gives orphans a parent of ours")
def test_a_process_that_outlives_its_parent_is_counted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN], cwd=base_dir(), capture_output=True, text=True, check=True
    )
    seconds, units, pieces = map(float, done.stdout.split())
    assert 0.3 < seconds < 3
    assert units > 0
    assert pieces == 1


def test_the_run_that_the_unit_is_made_from_has_a_thousand() -> None:
    assert round(UNITS * 1655.2 / 0.00980) == 1000
