"""Run commands of `manage.py` in processes that are forked from one process with the app loaded.

Loading the app again for each command would take most of a test's time. A request comes over a unix socket,
one connection for each command. Any number of commands can run at once. `tests/house` tests how `manage.py`
itself starts.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from typing import Any

from brigade.paths import base_dir
from kitchen.infra.os_processes import die_with_parent
from manage import main
from tests.fork_server import ForkServer, serve

APPS = ("kitchen", "study")
"""The apps whose commands are loaded in advance."""


class Commands(ForkServer):
    """`with Commands(environment) as commands: commands.run("check")`."""

    module = "tests.commands"

    def run(self, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` with these arguments, and return the result. Raises TimeoutError."""
        with self.ask(arguments) as client:
            client.settimeout(seconds)
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


if __name__ == "__main__":
    serve(int(sys.argv[1]), load, answer)
