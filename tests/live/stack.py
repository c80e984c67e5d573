"""Start the whole app as `make run` does, in a folder and on a port of its own. Also measure what its
processes use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from brigade.paths import base_dir
from brigade.server_limits import raise_open_file_limit
from kitchen.infra.os_processes import parent_death_hook
from tests.needs import free_port, postgres, redis_server
from tests.servers import wait_until

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
SERVERS = {"postgres", "redis"}
_OURS = re.compile(r"brigade\.(runner|web|ticker)")
_FORKED = {
    "daphne": "web",
    "experiments": "experiments",
    "fork": "fork-server",
    "planner": "planner",
    "staff": "staff",
    "ticker": "ticker",
    "worker": "worker",
}
"""Kinds of the fork server and of forked programs, by the first word of their names."""
UNIX_SOCKET = "unix-socket:"
"""An option of the staff process only."""
_WORKER = re.compile(r"\b([a-z]+)(?:-\d+)?@")


@dataclass(frozen=True, slots=True)
class Running:
    """The running app."""

    url: str
    pid: int
    """The process id of the runner."""
    environment: dict[str, str]
    told: str
    """The names of the database and the broker."""

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` with these arguments, and return its output. Raises CalledProcessError."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=base_dir(), env=self.environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    def processes(self) -> dict[int, str]:
        """Return the names of all processes that the runner started, and of our database server and broker,
        by process id."""
        runners = family_of(self.pid)
        all_of_us = {pid: what_is(pid) for pid in family_of(os.getpid())}
        return {pid: name for pid, name in all_of_us.items() if pid in runners or name in SERVERS}

    def left_behind(self) -> dict[int, str]:
        """Return the processes with our folder in their environment that have lost their parents, by process
        id."""
        ours, var = family_of(os.getpid()), self.environment["BRIGADE_VAR"]
        return {pid: what_is(pid) for pid in all_pids() if pid not in ours and works_in(pid, var)}

    def seconds(self) -> dict[str, float]:
        """Return the processor seconds so far, by kind of process."""
        used: dict[str, float] = defaultdict(float)
        for pid, name in self.processes().items():
            used[name] += seconds_of(pid)
        return used

    def is_calm(self) -> bool:
        """Return whether the app uses hardly any processor time during half a second."""
        before = sum(self.seconds().values())
        time.sleep(0.5)
        return sum(self.seconds().values()) - before < 0.05

    def memory(self) -> dict[str, float]:
        """Return the bytes of resident memory, by kind of process."""
        used: dict[str, float] = defaultdict(float)
        for pid, name in self.processes().items():
            used[name] += memory_of(pid)
        return used


@contextmanager
def running(database: str, kept: bool = False, /, **variables: str) -> Iterator[Running]:
    """Run `make run` with these variables until the block ends, on `sqlite` or `postgres` (with a Redis).

    If `kept` is true, both servers are started again when they die. Raises LookupError if PostgreSQL is
    missing.
    """
    raise_open_file_limit()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="brigade-live-"))
        environment, told = plain_environment(folder) | variables, "SQLite and Valkey"
        if database == "postgres":
            environment["DATABASE_URL"], first = stack.enter_context(postgres(kept))
            environment["REDIS_URL"], second = stack.enter_context(redis_server(kept))
            told = f"{first} and {second}"
        process = stack.enter_context(app_process(environment))
        wait_until_ready(process, environment)
        url = f"http://127.0.0.1:{environment['BRIGADE_PORT']}"
        ours = {**environment, "BRIGADE_URL": url, "DJANGO_SETTINGS_MODULE": "brigade.settings"}
        if database != "postgres":
            ours["REDIS_URL"] = f"unix://{folder}/valkey.sock?db=0"
        stack_running = Running(url, process.pid, ours, told)
        wait_until(stack_running.is_calm, "a stack that has come up and rests")
        yield stack_running


@contextmanager
def app_process(environment: Mapping[str, str], *prefix: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `make run` with this environment until the block ends. `prefix` is a program with its arguments
    that starts it."""
    with runner_log(environment).open("w+") as log:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "brigade.runner"],
            cwd=base_dir(),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=parent_death_hook(os.getpid()),
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def runner_log(environment: Mapping[str, str]) -> Path:
    """Return the file with the output of the runner."""
    return Path(environment["BRIGADE_VAR"]) / "runner.log"


def wait_until_ready(process: subprocess.Popen[bytes], environment: Mapping[str, str]) -> None:
    """Wait until the app says that it serves pages. Raises RuntimeError if it ends instead."""
    log = str(runner_log(environment))
    wait_until(lambda: process.poll() is not None or "ready after" in said(log), "a stack that is ready")
    if process.poll() is not None:
        raise RuntimeError(f"the stack does not come up:\n{said(log)}")


@contextmanager
def background_module(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run a module of the tests in a process of its own, until the block ends. By default, its environment
    is ours."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=base_dir(),
        env=environment,
        preexec_fn=parent_death_hook(os.getpid()),
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Let this number of processes use the processor until the block ends."""
    with ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen(
                [sys.executable, "-S", "-c", "while True: pass"], preexec_fn=parent_death_hook(os.getpid())
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def plain_environment(folder: str) -> dict[str, str]:
    """Return our environment without variables that would change the app."""
    ours = {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "MAKELEVEL"}
    plain = {key: value for key, value in os.environ.items() if key not in ours and "BRIGADE_" not in key}
    return {**plain, "BRIGADE_VAR": folder, "BRIGADE_PORT": str(free_port())}


def said(log: str) -> str:
    """Return all output of the runner."""
    return Path(log).read_text()


# Of one process, from /proc


def all_pids() -> list[int]:
    """Return the ids of all processes."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def family_of(pid: int) -> set[int]:
    """Return the ids of a process and of all its descendants."""
    parents = {child: parent_of(child) for child in all_pids()}
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def numbers_of(pid: int) -> list[str]:
    """Return the fields of `/proc/<pid>/stat` from the state on; empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def parent_of(pid: int) -> int:
    """Return the id of a process's parent, or 0 if the process is gone."""
    numbers = numbers_of(pid)
    return int(numbers[1]) if numbers else 0


def seconds_of(pid: int) -> float:
    """Return the processor seconds of a process so far, without its children's."""
    numbers = numbers_of(pid)
    return (int(numbers[11]) + int(numbers[12])) / TICK if numbers else 0.0


def memory_of(pid: int) -> int:
    """Return the bytes of resident memory of a process."""
    numbers = numbers_of(pid)
    return int(numbers[21]) * PAGE if numbers else 0


def what_is(pid: int) -> str:
    """Return the kind of a process: web, staff, worker, ticker, experiments, planner, valkey, runner,
    postgres, redis, helper (a child of one of these), or gone."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "gone"
    if command.startswith("postgres: ") or "/postgres " in command:
        return "postgres"
    if "redis-server" in command:
        return "redis"
    if "brigade.fork_server" in command:
        return _FORKED.get(name.partition("-")[0], "helper")
    if ours := _OURS.search(command):
        return "staff" if UNIX_SOCKET in command else ours[1]
    if "process_pool_worker" in command:
        return "planner"
    if "celery" in command and (named := _WORKER.search(command)):
        return named[1]
    return "valkey" if "valkey" in command else "helper"


def works_in(pid: int, var: str) -> bool:
    """Return whether the process has this folder as `BRIGADE_VAR`."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"BRIGADE_VAR={var}".encode() in environment
