"""Define functions that tests run in other processes. Importing this module imports nothing else."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


class FussyError(Exception):
    """Can be pickled and not be made again."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def packages() -> set[str]:
    """What was imported where this runs."""
    return {name.partition(".")[0] for name in sys.modules}


def main_file() -> str:
    """The program that runs there."""
    return str(sys.modules["__main__"].__file__)


def leave_a_mark(folder: str) -> int:
    """A file that is named as this process is numbered."""
    Path(folder, str(os.getpid())).touch()
    return os.getpid()


def wait_for(file: str) -> int:
    """The process, once there is such a file."""
    while not Path(file).exists():
        time.sleep(0.005)
    return os.getpid()


def end_at_once() -> None:
    """As if the system had killed it."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(word: str) -> None:
    """Raise what has words."""
    raise KeyError(word)


def fail_fussily() -> None:
    """Raise what cannot be sent."""
    raise FussyError("one", "two")
