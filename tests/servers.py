"""Start servers for tests: a Valkey, and the whole app as `make run` starts it.

Start and restart them from the main thread, because they end with the thread that started them.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from brigade.app_processes import (
    children_environment,
    experiment_worker,
    fork_server,
    people_worker,
    staff_process,
    ticker_processes,
    valkey_command,
    web_processes,
)
from brigade.listen_address import Address, listen, listen_at, socket_address
from brigade.paths import STAFF_SOCKET_VARIABLE, unix_url
from brigade.process_supervisor import ChildProcess, last_lines
from brigade.runner import is_serving
from tests.commands import Commands
from tests.template import Template, drop_database

PATIENCE = 180.0
"""Seconds that any program here may take to start; an idle machine needs far less."""


def wait_until(true: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Wait until a condition is true. Raises TimeoutError, which names the condition."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.05)


def answers(at: Path) -> bool:
    """Return whether something accepts connections on this unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(at)) == 0


class Valkey:
    """A Valkey server for tests, on a unix socket in a temporary folder with a short path. It stores no
    files."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="brigade-test-")
        self.socket = Path(self._folder.name) / "valkey.sock"
        log = self.socket.with_name("valkey.log")
        self.child = ChildProcess("valkey", valkey_command(self.socket), log, os.environ)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        kill(self.child)
        self._folder.cleanup()

    @property
    def url(self) -> str:
        """Return the server's address, in the form of `REDIS_URL`."""
        return unix_url(self.socket)

    def start(self) -> None:
        """Start the server, also after it was killed, and wait until it answers."""
        self.child.start()
        wait_until(lambda: answers(self.socket), "an answer from Valkey")


def kill(child: ChildProcess) -> None:
    """Kill the process with SIGKILL, and wait until it has ended."""
    child.tell(signal.SIGKILL)
    if child.process is not None:
        child.process.wait(PATIENCE)


class Stack:
    """The whole app: Valkey, two web processes and a worker, on a database of its own with the demo study.

    The worker of experiments and the clock process are started on demand. `environment` is added to the
    environment of all processes. With `DATABASE_URL`, the database is a new one on that server; with
    `REDIS_URL`, that server is used.
    """

    def __init__(self, var: Path, environment: Mapping[str, str] | None = None) -> None:
        self.var = var
        self._extra = dict(environment or {})
        self._listener = listen(Address("127.0.0.1", 0))
        self._folder = tempfile.TemporaryDirectory(prefix="brigade-stack-")
        self._staff_listener = listen_at(Path(self._folder.name) / "staff.sock")
        self.url = socket_address(self._listener).url
        self._valkey: Valkey | None = None

    def __enter__(self) -> Self:
        self._database = new_database(self.var)
        if not os.environ.get("REDIS_URL"):
            self._valkey = Valkey().__enter__()
        self.environment = self._make_environment()
        self._forks = fork_server(self.environment, self._listener.fileno(), self._staff_listener.fileno())
        self._forks.log = self.var / "log" / self._forks.log.name
        self._forks.start()
        wait_until(self._forks.is_ready, "a fork server that has loaded the app")
        self._commands = Commands(self._forks)
        self.manage("prepare")
        self.webs = [self._forked(web) for web in web_processes(self.environment, self._listener.fileno(), 2)]
        self.staff = self._forked(staff_process(self.environment, self._staff_listener.fileno()))
        self.worker = self._forked(people_worker(self.environment))
        self.experimenter = self._forked(experiment_worker(self.environment))
        self.ticker = self._forked(*ticker_processes(self.environment, 1))
        self.restart()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_daphne()
        self.kill_worker()
        for child in (self.staff, self.experimenter, self.ticker):
            kill(child)
        self._forks.close()
        if self._valkey is not None:
            self._valkey.__exit__()
        self._listener.close()
        self._staff_listener.close()
        self._folder.cleanup()
        drop_database(self._database)

    def _forked(self, child: ChildProcess) -> ChildProcess:
        child.log = self.var / "log" / child.log.name
        child.forked_by = self._forks.fork
        return child

    def _make_environment(self) -> dict[str, str]:
        found = children_environment(socket_address(self._listener))
        found |= {"BRIGADE_VAR": str(self.var), "BRIGADE_URL": self.url, "DATABASE_URL": self._database}
        found[STAFF_SOCKET_VARIABLE] = str(self._staff_listener.getsockname())
        if self._valkey:
            found["REDIS_URL"] = self._valkey.url
        else:  # the server of all tests: queues, channels and cache of this stack have names of their own
            found["BRIGADE_PREFIX"] = f"stack-{secrets.token_hex(4)}"
        found["DJANGO_SETTINGS_MODULE"] = "brigade.settings"
        return {name: value for name, value in (found | self._extra).items() if value}

    def command(self, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` with these arguments, and return the result. Raises TimeoutError."""
        return self._commands.run(*arguments, seconds=seconds)

    def manage(self, *arguments: str) -> str:
        """Run `manage.py` with these arguments, and return its output. Raises AssertionError, with the whole
        output, if it fails."""
        done = self.command(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def start_experimenter(self) -> None:
        """Start the worker of experiments and dry runs, unless it runs. Few tests need it."""
        if not self.experimenter.running:
            self.experimenter.start()

    def start_ticker(self) -> None:
        """Start the program that computes the steps of real-time episodes, unless it runs."""
        if not self.ticker.running:
            self.ticker.start()

    def leave(self) -> None:
        """End all running episodes and the clock process, because they use processor time in later tests."""
        playing = "Episode.objects.filter(status='playing').update(status='aborted')"
        self.manage("shell", "-v", "0", "-c", f"from kitchen.play.models import Episode; {playing}")
        kill(self.ticker)

    def kill_worker(self) -> None:
        """Kill the worker with SIGKILL, as when memory runs out. It is not started again."""
        kill(self.worker)

    def kill_daphne(self) -> None:
        """Kill all web processes with SIGKILL. Connections wait until `restart`."""
        for child in self.webs:
            kill(child)

    def kill_one_daphne(self, number: int) -> None:
        """Kill this web process with SIGKILL. The other one continues to serve."""
        kill(self.webs[number])

    def kill_valkey(self) -> None:
        """Kill the Valkey with SIGKILL; queued tasks are lost. Only possible if it is our own
        (`has_own_valkey`)."""
        assert self._valkey is not None, "the Redis of REDIS_URL is not ours to kill"
        kill(self._valkey.child)

    @property
    def has_own_valkey(self) -> bool:
        """Return whether the stack started its own Valkey, because `REDIS_URL` names no server."""
        return self._valkey is not None

    def restart(self) -> None:
        """Start all processes that do not run, as the runner does, and wait until pages are served."""
        if self._valkey is not None and not self._valkey.child.running:
            self._valkey.start()
        for child in (*self.webs, self.staff, self.worker):
            if not child.running:
                child.start()
        wait_until(lambda: is_serving(socket_address(self._listener)), "a first page")

    def last_words(self) -> str:
        """Return the last output of daphne and the worker, for the report of a failure."""
        said = (*self.webs, self.staff, self.worker)
        return "\n".join(f"{child.name}: {line}" for child in said for line in last_lines(child.log, 30))


def new_database(var: Path) -> str:
    """Create a database with all migrations for one stack.

    With `DATABASE_URL`, it is another database on that server; its address is returned. Otherwise it is an
    SQLite file in `var`.
    """
    template = Template()
    if template.server:
        return template.copy_to_server(f"brigade_live_{secrets.token_hex(4)}")
    template.copy_to_file(var / "db.sqlite3")
    return ""
