"""Measure the time and memory to export a study with many participants: `python -m
tests.study.exports.bench_exports [--participants 10000]`.

The program makes a database with synthetic participants (`make_synthetic`). Then processes of their own
export steps.csv and steps.parquet (for the rate of step rows), and one ZIP of all tables (for the peak
memory, RSS). On SQLite, the rate is computed from the processor time of that process, which other programs do
not change. The elapsed time is printed beside it. With fewer than 100,000 steps, the rate is printed but not
judged, because starting takes most of the time. Exit code 1: a target was missed.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MEMORY = 300
"""The maximum memory of an export in megabytes."""
RATE = 50_000
"""The minimum number of step rows per second."""
ENOUGH = 100_000
"""The minimum number of step rows for which the rate is judged."""
STUDY = """
slug = "bench"
title = "Many"
seed = 7
[parts.consent]
text = "I agree."
[parts.end]
text = "Thank you."
[world]
kind = "cuisine"
settings = { level = "level_3", alpha = 2.0, beta = 2.5, max_steps = 60 }
[[conditions]]
key = "alone"
name = "Alone"
label = "Team A"
coplayer = "none"
teammates = 0
[[conditions]]
key = "random"
name = "Random"
label = "Team B"
coplayer = "random"
teammates = 1
[[items]]
key = "enjoyment"
measure = "Enjoyment"
text = "I enjoyed this episode."
[[items]]
key = "trust"
measure = "Trust"
text = "I trusted the team."
"""


def main() -> int:
    """Create the data, export them, and print the results. Return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--participants", type=int, default=300, help="how many (300)")
    parser.add_argument("--steps-per-episode", type=int, default=20, help="(20)")
    parser.add_argument("--export", choices=["csv", "parquet", "zip"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.export:
        return export(asked.export)
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder:
        environment = {**os.environ, "BRIGADE_VAR": folder, "DATABASE_URL": ""}
        make(Path(folder), asked.participants, asked.steps_per_episode, environment)
        missed = [one for form in ("csv", "parquet", "zip") for one in measured(form, environment)]
    for one in missed:
        print(f"missed: {one}")
    return 1 if missed else 0


def make(folder: Path, participants: int, steps: int, environment: dict[str, str]) -> None:
    """Create the database."""
    (folder / "study.toml").write_text(STUDY)
    began = time.monotonic()
    for command in (
        ["migrate", "-v0"],
        ["load_study", str(folder / "study.toml")],
        ["make_synthetic", "bench", f"--participants={participants}", f"--steps-per-episode={steps}"],
    ):
        subprocess.run(
            [sys.executable, "manage.py", *command], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(
        f"make_synthetic: {participants} participants in {time.monotonic() - began:.0f} s, {megabytes:.0f} MB"
    )


def measured(form: str, environment: dict[str, str]) -> list[str]:
    """Export in another process, and print its output. Return the missed targets."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.study.exports.bench_exports", "--export", form],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    print(found, flush=True)
    return list(misses(found))


def misses(line: str) -> Iterator[str]:
    """Return the values in a line of `export` that miss their target."""
    memory = re.search(r"peak (\d+) MB", line)
    rate = re.search(r": (\d+) rows \((\d+) step rows a second", line)
    if memory and int(memory[1]) >= MEMORY:
        yield f"{memory[1]} MB are not below {MEMORY}"
    if rate and int(rate[1]) >= ENOUGH and int(rate[2]) < RATE:
        yield f"{rate[2]} step rows a second are below {RATE}"


def export(form: str) -> int:
    """Export one file, or all files as a ZIP, without writing them. Print rows, seconds and peak memory."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    django.setup()
    from study.design.models import Study
    from study.exports.export_files import FORMATS, zip_pieces
    from study.exports.export_registry import get_table
    from study.exports.export_table import EVERYBODY

    if form == "parquet":
        import pyarrow.parquet

        pyarrow.array([0])  # loading it, and pandas with it, is no part of the rate

    study, rows = Study.objects.get(slug="bench"), Counter[str]()
    pieces = (
        zip_pieces(study, EVERYBODY, "csv", rows)
        if form == "zip"
        else FORMATS[form].pieces(get_table("steps"), study, EVERYBODY, rows)
    )
    clock, processor = time.monotonic(), time.process_time()
    size = sum(map(len, pieces))
    clock, processor = time.monotonic() - clock, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if form == "zip":
        what = f"everything as a ZIP: {rows.total()} rows, {rows['steps']} of them steps"
    else:
        rate = int(rows["steps"] / processor)
        what = f"steps.{form}: {rows['steps']} rows ({rate} step rows a second of processor time)"
    print(f"{what}, {size / 1e6:.1f} MB, {processor:.1f} s (clock {clock:.1f} s), peak {peak} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
