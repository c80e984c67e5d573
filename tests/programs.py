"""Start the app's programs by forking a process with the app loaded, instead of by `python -m …`.

A new start takes two seconds of processor time, and tests kill the programs often.
`tests/house/test_runner.py` tests that they start as with `make run`.
"""

from __future__ import annotations

import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from brigade.process_supervisor import ChildProcess, open_log
from kitchen.infra.os_processes import parent_death_hook
from tests.commands import load
from tests.fork_server import ForkServer, serve


class Programs(ForkServer):
    """Forks programs. `forked` makes a child process object that starts its program by forking."""

    module = "tests.programs"

    def forked(self, child: ChildProcess) -> ChildProcess:
        """Return a child like this one, which starts by forking."""
        return ForkedChild(**vars(child), programs=self)


@dataclass(eq=False)
class ForkedChild(ChildProcess):
    """A program of the app that should run."""

    programs: Programs | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Fork the program."""
        assert self.programs
        open_log(self.log).close()
        request = {"command": [*self.command], "log": str(self.log), "environment": dict(self.environment)}
        self.process = cast(subprocess.Popen[bytes], Forked(self.programs.ask(request)))
        return self.process


class Forked:
    """A forked program's process, with the interface of a `subprocess` process."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self.pid = int(self._client.recv(100))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code; None while it runs."""
        if self.returncode is None and select.select([self._client], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the process has ended. Raises TimeoutError."""
        if self.returncode is None:
            self._client.settimeout(timeout)
            self.returncode = int(self._client.recv(100) or -signal.SIGKILL)
            self._client.close()
        return self.returncode


SERVING = (
    "autobahn.websocket.protocol",
    "channels.routing",
    "channels_redis.core",
    "kitchen.urls",
    "study.monitor.live_study_page",
    "twisted.internet.endpoints",
    "twisted.internet.ssl",
    "twisted.web.http",
)
"""Modules of daphne and its application. None of them installs a Twisted reactor, which cannot be forked."""
WORKING = ("celery.apps.worker", "celery.bin.celery", "celery.concurrency.thread", "celery.worker.control")
"""Modules of Celery's worker."""


def load_programs() -> None:
    """Import the programs' code, except daphne, which creates an event loop when it is imported."""
    from brigade.process_startup import share_metrics

    share_metrics()  # as in the programs: before anything counts
    load()

    from brigade.celery import app
    from kitchen.play.live.render_page import preload_pages

    app.loader.import_default_modules()
    preload_pages()
    for name in (*SERVING, *WORKING):
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules


def answer(client: socket.socket, request: dict[str, Any]) -> None:
    """Fork the program, and send its process id and later its exit code. In the forked program, the function
    returns."""
    answering = os.getpid()
    if (child := os.fork()) == 0:
        parent_death_hook(answering)()
        become(client, **request)
        return
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    client.sendall(str(code).encode())


def become(client: socket.socket, command: list[str], log: str, environment: dict[str, str]) -> None:
    """Run the program in this process until it ends, as leader of a process group, with its own log and
    environment."""
    os.setpgid(0, 0)
    with Path(log).open("ab") as file, Path(os.devnull).open("rb") as nothing:
        for stream, number in ((nothing, 0), (file, 1), (file, 2)):
            os.dup2(stream.fileno(), number)
    client.sendall(str(os.getpid()).encode())
    client.close()
    os.environ.update(environment)
    if command[0] == "nice":
        os.nice(10)
    sys.argv = command[command.index("-m") + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), load_programs, answer)
