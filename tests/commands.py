"""Commands of `manage.py`, each in a process of its own that is forked from one with the app loaded.

Where tests ask for many commands, most of their time would go into loading the app anew for each one. What
`manage.py` itself does when it starts is tested in `tests/house`.

A command is asked for on a unix socket, one connection each, and any number may run at once.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, Self

from brigade.places import base_dir
from kitchen.machine.parent import tied_to
from manage import main

APPS = ("kitchen", "study")
"""Whose commands are loaded beforehand."""


class Commands:
    """`with Commands(environment) as commands: commands.run("check")`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="brigade-commands-")
        self._at = f"{self._folder.name}/socket"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._at)
            listener.listen(64)  # whoever asks while the app is being loaded waits
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.commands", str(listener.fileno())],
                cwd=base_dir(),
                env=self._environment,
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
                preexec_fn=tied_to(os.getpid()),
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def run(self, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """What became of `manage.py` with these arguments; TimeoutError."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(seconds)
            client.connect(self._at)
            client.sendall(json.dumps(arguments).encode() + b"\n")
            said = client.makefile("rb").read()
        assert said, f"no answer to {arguments}: the process of the commands has ended"
        return subprocess.CompletedProcess(arguments, **json.loads(said))


def serve(listener: socket.socket) -> None:
    """Load the app; then fork for everybody who asks, for ever."""
    load()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who answer
    tie = tied_to(os.getpid())
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            try:
                tie()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(client)
            finally:
                os._exit(0)
        client.close()


def load() -> None:
    """Everything that is the same for every command; nothing is asked of the database."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brigade.settings")
    import django  # the settings read the environment, which is whole only now

    django.setup()
    from django.core.management import get_commands, load_command_class
    from django.urls import get_resolver

    assert get_resolver().url_patterns
    for name, app in get_commands().items():
        if app in APPS:
            load_command_class(app, name)


def answer(client: socket.socket) -> None:
    """Run the one command that this connection asks for, and say how it ended."""
    arguments = json.loads(client.makefile("rb").readline())
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        tie = tied_to(os.getpid())
        if (child := os.fork()) == 0:
            tie()
            become(arguments, out.fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said: dict[str, Any] = {"returncode": code, "stdout": text(out), "stderr": text(err)}
    client.sendall(json.dumps(said).encode())


def text(stream: Any) -> str:
    """All that was written to it."""
    stream.seek(0)
    return str(stream.read().decode())


def become(arguments: list[str], out: int, err: int) -> None:
    """Be `manage.py` with these arguments until it ends."""
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


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
