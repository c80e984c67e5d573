"""Ending with the process that started this one, however that ends. Plain Python."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """From now on this process gets this signal when the thread that started it ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))


def tied_to(parent: int) -> Callable[[], None]:
    """What a child does before anything else: die with this parent, even if it is gone already."""

    def tie() -> None:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    return tie
