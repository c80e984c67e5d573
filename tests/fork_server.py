"""Load the app once in a process that forks a child for each request. Loading the app takes two seconds.

Requests come over a unix socket as one line of JSON, one connection each.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from brigade.paths import base_dir
from kitchen.infra.os_processes import parent_death_hook


class ForkServer:
    """The fork server, as its clients see it. It has this environment, and keeps these files open under the
    same numbers."""

    module: str
    """The module to run. It calls `serve` with the number of the listening socket."""

    def __init__(self, environment: Mapping[str, str], keep: tuple[int, ...] = ()) -> None:
        self._environment = dict(environment)
        self._keep = keep

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="brigade-fork-")
        self._at = f"{self._folder.name}/socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._at)
            listener.listen(64)  # whoever asks while the app is being loaded waits
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module, str(listener.fileno())],
                cwd=base_dir(),
                env=self._environment,
                pass_fds=[listener.fileno(), *self._keep],
                stdin=subprocess.DEVNULL,
                preexec_fn=parent_death_hook(os.getpid()),
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def ask(self, request: Any) -> socket.socket:
        """Send a request, and return the connection on which the answer comes."""
        client = socket.socket(socket.AF_UNIX)
        client.connect(self._at)
        client.sendall(json.dumps(request).encode() + b"\n")
        return client


def serve(number: int, load: Callable[[], None], answer: Callable[[socket.socket, Any], None]) -> None:
    """Load the app, then fork a process to answer each connection, without end. In a forked process, the
    function returns when `answer` returns."""
    load()
    signal.signal(signal.SIGCHLD, reap)
    server, listener = os.getpid(), socket.socket(fileno=number)
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            break
        client.close()
    parent_death_hook(server)()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    listener.close()
    asks = os.getpid()
    try:
        answer(client, json.loads(client.makefile("rb").readline()))
    except Exception:
        traceback.print_exc()
    if os.getpid() == asks:
        os._exit(0)


def reap(*_: object) -> None:
    """Collect the ended child processes, so that their processor time is counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
