"""Run commands of `manage.py` in processes that are forked from a fork server, which has loaded the app.

Loading the app again for each command would take most of a test's time. `tests/house` tests how `manage.py`
itself starts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Lock
from typing import Any

from brigade.fork_server import ForkServer
from brigade.paths import base_dir
from brigade.process_supervisor import ChildProcess
from manage import main

OUT, ERR = "out", "err"
"""The files in which a command's output is stored."""


class Commands:
    """`Commands(forks).run("check")`. All commands have the environment of the fork server, which must be
    ready."""

    def __init__(self, forks: ForkServer) -> None:
        self._forks = forks
        self._lock = Lock()

    def run(self, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` with these arguments, and return the result. Raises TimeoutError."""
        with tempfile.TemporaryDirectory(prefix="brigade-command-") as folder:
            command = [sys.executable, "-m", "tests.commands", folder, *arguments]
            child = ChildProcess("command", command, Path(folder) / "log", self._forks.environment)
            with self._lock:
                child.process = self._forks.fork(child)
            assert child.process is not None, f"{arguments}: the fork server is not ready"
            try:
                code = child.process.wait(seconds)
            except subprocess.TimeoutExpired:
                child.tell(signal.SIGKILL)
                raise TimeoutError(f"not within {seconds:g} s: {arguments}") from None
            out, err = (Path(folder, name).read_text(encoding="utf-8") for name in (OUT, ERR))
        return subprocess.CompletedProcess(arguments, code, out, err)


def run_here(folder: str, arguments: list[str]) -> None:
    """Run `manage.py` with these arguments in this process, and end it. Output goes to files in `folder`."""
    for name, number in ((OUT, 1), (ERR, 2)):
        with Path(folder, name).open("wb") as file:
            os.dup2(file.fileno(), number)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)  # the fork server writes metrics to files
    os.chdir(base_dir())
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
    run_here(sys.argv[1], sys.argv[2:])
