"""Define functions that tests run in other processes. Importing this module imports nothing else."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


class FussyError(Exception):
    """An error that can be pickled, but not unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def packages() -> set[str]:
    """Return the names of the packages that are imported in this process."""
    return {name.partition(".")[0] for name in sys.modules}


def open_files() -> int:
    """Return the number of open files of this process, without the one that lists them."""
    return len([*Path("/proc/self/fd").iterdir()]) - 1


def children() -> list[int]:
    """Return the ids of the processes that the main thread and the other threads have started."""
    tasks = Path("/proc/self/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def main_file() -> str:
    """Return the path of the program that runs in this process."""
    return str(sys.modules["__main__"].__file__)


def leave_a_mark(folder: str) -> int:
    """Create a file that is named after the id of this process."""
    Path(folder, str(os.getpid())).touch()
    return os.getpid()


def wait_for(file: str) -> int:
    """Wait until a process has created its file, and return the id of the process."""
    while not Path(file).exists():
        time.sleep(0.005)
    return os.getpid()


def end_at_once() -> None:
    """End this process with SIGKILL, as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(word: str) -> None:
    """Raise an error with a message."""
    raise KeyError(word)


def fail_fussily() -> None:
    """Raise an error that cannot be sent to another process."""
    raise FussyError("one", "two")
