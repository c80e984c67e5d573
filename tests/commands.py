"""Run commands of `manage.py` in processes that are forked from one process with the app loaded.

Loading the app again for each command would take most of a test's time. A request comes over a unix socket as
one line of JSON, one connection for each command. Any number of commands can run at once. `tests/house` tests
how `manage.py` itself starts.
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
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from brigade.paths import base_dir
from kitchen.infra.os_processes import die_with_parent, parent_death_hook
from manage import main

APPS = ("kitchen", "study")
"""The apps whose commands are loaded in advance."""


class Commands:
    """`with Commands(environment) as commands: commands.run("check")`. All commands have this environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="brigade-commands-")
        self._at = f"{self._folder.name}/socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._at)
            listener.listen(64)  # requests wait while the app is being loaded
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.commands", str(listener.fileno())],
                cwd=base_dir(),
                env=self._environment,
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
                preexec_fn=parent_death_hook(os.getpid()),
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def run(self, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` with these arguments, and return the result. Raises TimeoutError."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(seconds)
            client.connect(self._at)
            client.sendall(json.dumps(arguments).encode() + b"\n")
            said = client.makefile("rb").read()
        assert said, f"no answer to {arguments}: the process of the commands has ended"
        return subprocess.CompletedProcess(arguments, **json.loads(said))


def load() -> None:
    """Load everything that all commands need. Do not query the database."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    import django  # the settings read the environment, which is whole only now

    django.setup()
    from django.core.management import get_commands, load_command_class
    from django.urls import get_resolver

    assert get_resolver().url_patterns
    for name, app in get_commands().items():
        if app in APPS:
            load_command_class(app, name)


def answer(client: socket.socket, arguments: list[str]) -> None:
    """Run the command that a connection requests, and send its result."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        if (child := os.fork()) == 0:
            become(arguments, out.fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said: dict[str, Any] = {"returncode": code, "stdout": text(out), "stderr": text(err)}
    client.sendall(json.dumps(said).encode())


def text(stream: Any) -> str:
    """Return all that was written to the stream."""
    stream.seek(0)
    return str(stream.read().decode())


def become(arguments: list[str], out: int, err: int) -> None:
    """Run `manage.py` with these arguments in this process, until it ends."""
    die_with_parent()
    for mine, theirs in ((out, 1), (err, 2)):
        os.dup2(mine, theirs)
    sys.argv = [str(base_dir() / "manage.py"), *arguments]
    code: Any = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def serve(number: int) -> None:
    """Load the app, then fork a process to answer each connection, without end."""
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
    try:
        answer(client, json.loads(client.makefile("rb").readline()))
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(0)


def reap(*_: object) -> None:
    """Collect the ended child processes, so that their processor time is counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    serve(int(sys.argv[1]))
