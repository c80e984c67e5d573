"""Start programs of the app by forking a process that has loaded the app: the fork server. Linux only.

Loading the app takes seconds, and a fork takes milliseconds. Forked programs also share the memory of the
loaded code. Their parent is the supervisor, so they continue if the fork server dies. Programs that are
started before the fork server is ready load the app themselves.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from brigade.process_startup import use_one_blas_thread
from brigade.process_supervisor import ChildProcess, Process, open_log
from kitchen.infra.forked_process import ForkedProcess
from kitchen.infra.os_processes import adopt_orphans, name_process, parent_death_hook

OWN_VARIABLES = {"BRIGADE_TICKERS", "NOTIFY_SOCKET"}
"""Environment variables that programs read when they start. All others are read while the app is loaded, so
a program with other values is not forked."""
FORK_SECONDS = 5.0
"""Maximum number of seconds that the fork server may take to fork a program."""
READY, GO = b"r", b"go\n"
"""Messages of the fork server and of the supervisor: the app is loaded, and the forked program may run."""
CAN_FORK = sys.platform == "linux"
"""Elsewhere, a process cannot become the parent of others."""
LOOK_SECONDS = 0.02
"""Seconds between two checks whether the fork server is ready, and whether a new parent has taken over."""


@dataclass(eq=False)
class ForkServer(ChildProcess):
    """The fork server, as the supervisor sees it. `keep` has the file descriptors that any program needs."""

    line: socket.socket | None = None
    """The connection to the process."""
    ready: bool = field(default=False, init=False)

    def start(self) -> Process:
        """Start to load the app, unless the process runs. From now on, programs that it forks are children of
        this process. Raises OSError."""
        if self.process is not None and self.running:
            return self.process
        adopt_orphans()
        self.close()
        self.line, theirs = socket.socketpair()
        with theirs, open_log(self.log) as log:
            self.log_start = log.tell()
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*self.command, str(theirs.fileno())],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno(), *self.keep],
                process_group=0,
                preexec_fn=parent_death_hook(os.getpid()),
            )
        return self.process

    def let_end(self) -> None:
        """Let the process end. The programs that it forked continue."""
        self.ready = False
        if self.line is not None:
            self.line.close()
            self.line = None

    def close(self) -> None:
        """End the process, and wait until it has ended."""
        self.let_end()
        if self.process is not None:
            self.tell(signal.SIGKILL)
            self.process.wait()

    def is_ready(self) -> bool:
        """Return whether the process has loaded the app."""
        if not self.ready and self.line is not None and select.select([self.line], [], [], 0)[0]:
            with contextlib.suppress(ConnectionError):
                self.ready = self.line.recv(len(READY)) == READY
        return self.ready

    def fork(self, child: ChildProcess) -> ForkedProcess | None:
        """Start a program by forking. Return None if the fork server is not ready, or if the program's
        environment is not the one with which the app was loaded."""
        if self.line is None or not self.is_ready() or self._differs(child.environment):
            return None
        asked = {
            "command": [*child.command],
            "log": str(child.log),
            "environment": dict(child.environment),
            "name": child.name,
            "unneeded": sorted({*self.keep} - {*child.keep}),
        }
        try:
            self.line.settimeout(FORK_SECONDS)
            self.line.sendall(json.dumps(asked).encode() + b"\n")
            forked = ForkedProcess(int(self.line.recv(20)))
            self.line.sendall(GO)
            return forked
        except (OSError, ValueError):  # it has died, or hangs
            self.let_end()
            self.tell(signal.SIGKILL)
            return None

    def _differs(self, environment: Mapping[str, str]) -> bool:
        ours, theirs = (
            {name: value for name, value in each.items() if name not in OWN_VARIABLES}
            for each in (self.environment, environment)
        )
        return ours != theirs


# In the process itself

SERVING = (
    "autobahn.websocket.protocol",
    "channels.routing",
    "channels_redis.core",
    "kitchen.urls",
    "study.monitor.live_study_page",
    "twisted.internet.endpoints",
    "twisted.internet.ssl",
    "twisted.web.client",
    "twisted.web.http",
)
"""Modules of web processes. None of them installs a Twisted reactor, which cannot be forked."""
WORKING = (
    "brigade.broker_reconnect",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.worker.control",
)
"""Modules of Celery workers."""
TICKING = ("kitchen.realtime.clock_owner",)
"""Modules of the processes of timed episodes."""


def main() -> None:
    """Load the app, then fork a program for each request until the supervisor closes the connection. In a
    forked program, the function returns when the program ends."""
    name_process("fork-server")
    line = socket.socket(fileno=int(sys.argv[1]))
    supervisor = os.getppid()
    load_app()
    gc.collect()
    gc.freeze()  # so that collections in forked programs do not copy this memory
    line.sendall(READY)
    requests = line.makefile("rb")
    while request := next_request(requests):
        reading, writing = os.pipe()  # a program whose supervisor does not know it must not run
        if pid := fork_child_of(supervisor):
            os.close(reading)
            line.sendall(str(pid).encode())
            if requests.readline() == GO:
                os.write(writing, GO)
            os.close(writing)
        else:
            os.close(writing)
            requests.close()
            line.close()
            if os.read(reading, 1):
                run_program(**json.loads(request))
            return


def next_request(requests: BinaryIO) -> bytes:
    """Wait for the next request. Return an empty value if the supervisor has closed the connection."""
    try:
        return requests.readline()
    except ConnectionResetError:  # closed before it read that this process is ready
        return b""


def load_app() -> None:
    """Import the code of all programs, except daphne, which creates an event loop when it is imported."""
    from brigade.process_startup import share_metrics, share_one_heap

    share_one_heap()
    share_metrics()  # before anything is counted, as in the programs
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    import django

    django.setup()
    from django.conf import settings

    from brigade.celery import app
    from kitchen.play.live.render_page import preload_pages
    from kitchen.registry.agent_registry import preload_agents

    import_module(settings.ROOT_URLCONF)
    app.loader.import_default_modules()
    preload_agents()
    preload_pages()
    for name in (*SERVING, *WORKING, *TICKING):
        import_module(name)


def fork_child_of(supervisor: int) -> int:
    """Fork a process whose parent is the process `supervisor`. Return its id, or 0 in the new process.

    A process between the two ends at once. The system then gives its child to the supervisor, which has
    called `adopt_orphans`.
    """
    reading, writing = os.pipe()
    if (between := os.fork()) == 0:
        between = os.getpid()
        if pid := os.fork():
            os.setpgid(pid, pid)  # before anybody can send a signal to this group
            os.write(writing, str(pid).encode())
            os._exit(0)
        os.close(reading)
        os.close(writing)
        while os.getppid() == between:
            time.sleep(LOOK_SECONDS / 20)
        parent_death_hook(supervisor)()
        return 0
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        pid = int(stream.read())
    os.waitpid(between, 0)
    return pid


def run_program(
    command: Sequence[str], log: str, environment: Mapping[str, str], name: str, unneeded: Sequence[int]
) -> None:
    """Run the program in this process until it ends, with its own name, log and environment. `unneeded` are
    file descriptors for other programs."""
    name_process(name)
    for number in unneeded:
        os.close(number)
    open_log(Path(log)).close()  # which renames a large one
    with Path(log).open("ab") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    use_one_blas_thread()
    if command[0] == "nice":
        os.nice(int(command[2]))
    sys.argv = [*command[command.index("-m") + 1 :]]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
