"""`python -m tests.run test|check|bench`: what `make test`, `make check` and `make bench` do."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from brigade.places import base_dir
from tests.needs import install_missing, postgres, redis_server

Command = tuple[str, ...]

CHECKS: tuple[Command, ...] = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy", "."),
    ("-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache", "--no-logo"),
    ("manage.py", "check", "--fail-level", "WARNING"),
    ("manage.py", "check", "--deploy", "--fail-level", "ERROR"),
    ("manage.py", "makemigrations", "--check", "--dry-run"),
)
"""What `make check` runs, each with this Python."""

BENCHES: tuple[Command, ...] = (
    ("manage.py", "bench_engine", "tests/kitchen/data/cuisineworld.jsonl.gz"),
    ("-m", "tests.kitchen.llm.bench"),
    ("-m", "tests.kitchen.worlds.cuisine.bench_planner"),
    ("-m", "tests.study.exports.bench_exports"),
)
"""What `make bench` runs, each with this Python; add a line to add a benchmark."""


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 where all is well."""
    os.chdir(base_dir())
    doing = {"test": test, "check": check, "bench": bench}
    with own_var() as environment:
        return doing[arguments[0]](environment)


@contextmanager
def own_var() -> Iterator[dict[str, str]]:
    """An environment in which the app has its defaults and writes to a folder that is removed afterwards."""
    ours = {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
    plain = {key: value for key, value in os.environ.items() if key not in ours and "BRIGADE_" not in key}
    with tempfile.TemporaryDirectory(prefix="brigade-var-", ignore_cleanup_errors=True) as folder:
        yield {**plain, "BRIGADE_VAR": folder}


def check(environment: Mapping[str, str]) -> int:
    """Run every check, also after one has failed; how many failed."""
    return sum(run(command, environment) != 0 for command in CHECKS)


def bench(environment: Mapping[str, str]) -> int:
    """Run every benchmark; how many failed."""
    return sum(run(command, environment) != 0 for command in BENCHES)


def run(command: Command, environment: Mapping[str, str]) -> int:
    """Run one command with this Python, and say which; its exit code."""
    print(f"\n$ python {shlex.join(command)}", flush=True)
    return subprocess.run([sys.executable, *command], env=dict(environment), check=False).returncode


# Tests


def test(environment: Mapping[str, str]) -> int:
    """Checks, all tests on the defaults, then those that have to do with a database or broker (but the
    browser's) on PostgreSQL and Redis; 1 if any failed. The last line counts the tests."""
    began, notes = time.monotonic(), [note for note in [install_missing()] if note]
    failed_checks = check(environment)
    counts, reasons = suite("SQLite and Valkey", (), environment)
    try:
        with postgres() as (database, is_what), redis_server() as (broker, is_too):
            elsewhere = {**environment, "DATABASE_URL": database, "REDIS_URL": broker}
            more = suite(f"{is_what} and {is_too}", ("--servers", "-m", "not browser"), elsewhere)
            counts, reasons = counts + more[0], reasons + more[1]
    except LookupError as error:
        notes.append(f"nothing ran on PostgreSQL and Redis: {error}")
    conclude(counts, reasons, notes, failed_checks, time.monotonic() - began)
    return 1 if failed_checks or counts["failed"] or not counts["passed"] else 0


SIDE_BY_SIDE: Command = ("-n", "2", "--dist", "loadfile")
"""How pytest-xdist spreads the tests: whole files over two processes."""

Result = tuple[Counter[str], Counter[str]]
"""How many tests passed, failed, skipped; and the reasons for skipping."""


def suite(where: str, chosen: Command, environment: Mapping[str, str]) -> Result:
    """Run pytest once. A run that ends otherwise than by tests passing or failing counts as a failure."""
    print(f"\n=== the tests on {where}", flush=True)
    report = Path(environment["BRIGADE_VAR"]) / "report.xml"
    code = run(("-m", "pytest", "-q", *SIDE_BY_SIDE, f"--junitxml={report}", *chosen), environment)
    counts, reasons = read_report(report)
    if code not in {0, 1}:
        counts["failed"] += 1
    return counts, reasons


def read_report(report: Path) -> Result:
    """Count a JUnit file; nothing where there is none."""
    if not report.exists():
        return Counter(), Counter()
    cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314 - pytest's own file
    report.unlink()
    skips = [skip for case in cases if (skip := case.find("skipped")) is not None]
    return Counter(outcome(case) for case in cases), Counter(skip.get("message", "") for skip in skips)


def outcome(case: ET.Element) -> str:
    """What became of one test."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def conclude(
    counts: Counter[str], reasons: Counter[str], notes: Sequence[str], failed_checks: int, seconds: float
) -> None:
    """Say what was left out and why, and count."""
    print(f"\n=== {seconds:.0f} s in all; {len(CHECKS) - failed_checks} of {len(CHECKS)} checks are good")
    for note in notes:
        print(f"left out: {note}")
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
