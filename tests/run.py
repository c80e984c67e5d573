"""Run checks, tests or benchmarks: `python -m tests.run test|test-all|check|bench [NAME…]`. `make` calls this
program.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from brigade.paths import base_dir
from tests.needs import install_missing, postgres, redis_server
from tests.processor_units import Cost, measured
from tests.template import kept_in

Command = tuple[str, ...]

Says = IO[str] | None
"""The stream to print to; None for standard output."""

CHECKS: tuple[Command, ...] = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy", "."),
    ("-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache", "--no-logo"),
    ("-m", "tests.django_checks"),
)
"""The commands of `make check`, run with this Python."""

BENCHES: Mapping[str, Command] = {
    "engine": ("manage.py", "bench_engine", "tests/kitchen/data/cuisineworld.jsonl.gz"),
    "models": ("-m", "tests.kitchen.llm.bench"),
    "planner": ("-m", "tests.kitchen.worlds.cuisine.bench_planner"),
    "grids": ("-m", "tests.kitchen.worlds.overcooked.bench_partners"),
    "released": ("-m", "tests.kitchen.worlds.overcooked.bench_released"),
    "environments": ("-m", "tests.kitchen.worlds.overcooked.bench_environments"),
    "exports": ("-m", "tests.study.exports.bench_exports"),
    "live": ("-m", "tests.live.bench"),
    "clicks": ("-m", "tests.live.clicks"),
    "setup": ("-m", "tests.live.setup_clicks"),
    "frames": ("-m", "tests.live.frames"),
    "drawing": ("-m", "tests.live.drawing"),
    "locks": ("-m", "tests.study.pilot.bench_locks"),
    "states": ("-m", "tests.kitchen.play.bench_states"),
    "ticks": ("-m", "tests.live.ticks"),
}
"""The commands of `make bench` and `make bench NAME`, run with this Python. The Makefile has the same
names."""


def main(arguments: Sequence[str]) -> int:
    """Run the command, and return the exit code: 0 if everything passed."""
    os.chdir(base_dir())
    doing = {"test": test, "test-all": test_all, "check": check}
    with own_var() as environment:
        if arguments[0] == "bench":
            return bench(environment, arguments[1:] or list(BENCHES))
        return doing[arguments[0]](environment)


@contextmanager
def own_var() -> Iterator[dict[str, str]]:
    """Provide an environment in which the app has its defaults, and writes to a folder that is removed
    afterwards. Bytecode is stored, because many processes load the app."""
    ours = {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE"}
    plain = {key: value for key, value in os.environ.items() if key not in ours and "BRIGADE_" not in key}
    with TemporaryDirectory(prefix="brigade-var-", ignore_cleanup_errors=True) as folder:
        yield {**plain, "BRIGADE_VAR": folder, "MYPY_CACHE_DIR": mypy_cache()}


def mypy_cache() -> str:
    """Return the folder of mypy's cache. All clones of this user share it, because mypy compares the files'
    contents."""
    return os.environ.get("MYPY_CACHE_DIR") or str(kept_in("mypy"))


def check(environment: Mapping[str, str], says: Says = None) -> int:
    """Run every check, also after one has failed. Return how many failed."""
    return sum(run(command, environment, says) != 0 for command in CHECKS)


def bench(environment: Mapping[str, str], names: Sequence[str]) -> int:
    """Run these benchmarks. Return how many failed."""
    return sum(run(BENCHES[name], environment) != 0 for name in names)


def run(command: Command, environment: Mapping[str, str], says: Says = None) -> int:
    """Print and run one command with this Python. Return its exit code."""
    print(f"\n$ python {shlex.join(command)}", flush=True, file=says)
    return subprocess.run(
        [sys.executable, *command], env=dict(environment), stdout=says, stderr=says, check=False
    ).returncode


# Tests


ON_DEFAULTS = "not nightly and (sqlite or browser or not servers)"
ON_SERVERS = "not nightly and servers and not browser"
"""Pytest's mark expressions for the tests that `make test` runs with the defaults (SQLite and Valkey), and on
PostgreSQL and Redis."""


def test(environment: Mapping[str, str]) -> int:
    """Run the checks and every test that is not marked `nightly`.

    Tests that depend on the database run on PostgreSQL and Redis. All other tests, and tests about SQLite,
    run with the defaults.
    """
    return checks_and_tests(environment, ("-m", ON_DEFAULTS), ("-m", ON_SERVERS, *marked()))


def test_all(environment: Mapping[str, str]) -> int:
    """Run the checks, and every test on both databases."""
    return checks_and_tests(environment, (), ())


def marked() -> list[str]:
    """Return the files with a test marked `servers`, so that the other files need not be imported."""
    files = (base_dir() / "tests").rglob("test_*.py")
    return [str(file) for file in sorted(files) if "mark.servers" in file.read_text(encoding="utf-8")]


def checks_and_tests(environment: Mapping[str, str], on_defaults: Command, on_servers: Command) -> int:
    """Run the checks and all tests, and return 1 if anything failed. The last line counts the tests.

    Both runs work at the same time, because tests often wait. The output of the run with the defaults is
    shown at once, the other output afterwards.
    """
    began = time.monotonic()
    with measured() as cost:
        notes = [note for note in [install_missing()] if note]
        with TemporaryFile("w+") as said, ThreadPoolExecutor(1) as pool:
            beside = pool.submit(checks_and_servers, environment, on_servers, said)
            counts, reasons = suite("SQLite and Valkey", on_defaults, environment, PROCESSES)
            failed_checks, (more, why), left_out = beside.result()
            said.seek(0)
            print(said.read())
    conclude(counts + more, reasons + why, notes + left_out, failed_checks, time.monotonic() - began, cost)
    return 1 if failed_checks or counts["failed"] + more["failed"] or not counts["passed"] else 0


def checks_and_servers(
    environment: Mapping[str, str], chosen: Command, says: IO[str]
) -> tuple[int, Result, list[str]]:
    """Run the checks, then the tests on PostgreSQL and Redis. Return the number of failed checks, the
    results, and why the defaults were used, if so."""
    own = {**environment, "BRIGADE_VAR": f"{environment['BRIGADE_VAR']}/beside"}
    failed_checks = check(own, says)
    try:
        with postgres() as (database, is_what), redis_server() as (broker, is_too):
            elsewhere = {**own, "DATABASE_URL": database, "REDIS_URL": broker}
            return failed_checks, suite(f"{is_what} and {is_too}", chosen, elsewhere, BESIDE, says), []
    except LookupError as error:
        instead = suite("SQLite and Valkey instead", chosen, own, BESIDE, says) if chosen else NOTHING
        return failed_checks, instead, [f"nothing ran on PostgreSQL and Redis: {error}"]


PROCESSES = min(8, 1 + (os.cpu_count() or 2))
BESIDE = PROCESSES // 2
"""The numbers of processes: for the tests, and for the tests that run at the same time."""
Result = tuple[Counter[str], Counter[str]]
"""The numbers of passed, failed and skipped tests, and the reasons for skipping."""
NOTHING: Result = (Counter(), Counter())


def suite(
    where: str, chosen: Command, environment: Mapping[str, str], processes: int, says: Says = None
) -> Result:
    """Run pytest once. If the run itself breaks off, count it as a failure."""
    print(f"\n=== the tests on {where}", flush=True, file=says)
    report = Path(environment["BRIGADE_VAR"]) / "report.xml"
    spread = ("-p", "tests.forked_processes", "--processes", str(processes), f"--junitxml={report}")
    code = run(("-m", "pytest", "-q", *spread, *chosen), environment, says)
    counts, reasons = read_report(report)
    if code not in {0, 1}:
        counts["failed"] += 1
    return counts, reasons


def read_report(report: Path) -> Result:
    """Count the results in a JUnit file; nothing if there is no file."""
    if not report.exists():
        return Counter(), Counter()
    cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314 - pytest's own file
    report.unlink()
    skips = [skip for case in cases if (skip := case.find("skipped")) is not None]
    return Counter(outcome(case) for case in cases), Counter(skip.get("message", "") for skip in skips)


def outcome(case: ET.Element) -> str:
    """Return the result of one test."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def conclude(
    counts: Counter[str],
    reasons: Counter[str],
    notes: Sequence[str],
    failed_checks: int,
    seconds: float,
    cost: Cost,
) -> None:
    """Print the cost, the skipped tests with reasons, and the counts."""
    print(f"\n=== {seconds:.0f} s in all; {len(CHECKS) - failed_checks} of {len(CHECKS)} checks are good")
    for note in notes:
        print(f"left out: {note}")
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    print(f"{cost.seconds:.0f} processor seconds, {cost.units:.0f} units (tests/processor_units.py)")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
