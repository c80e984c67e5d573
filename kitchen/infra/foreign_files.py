"""Read files from outside in a child process, with limits of time and memory. Imports no Django.

A hostile file then delays nobody who plays, and cannot fill the memory of a server process. The child process
returns plain data, which `kitchen.contract.data_limits` has limited, or an error that says what is wrong. If
a file takes too long or needs too much memory, the child is killed, and the next file gets a new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, TypeVarTuple

from kitchen.contract.data_limits import DataLimitError, reading_with
from kitchen.infra.process_pool import (
    BusyError,
    ChildDiedError,
    ChildLimits,
    ChildMemoryError,
    ChildTimeoutError,
    ProcessPool,
)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LIMITS = ChildLimits(seconds=10.0, memory=512 * 2**20, nice=10)
MAX_WAITING_FILES = 50
"""Maximum number of files that wait in one server process. More staff pages are not answered at once."""

TOO_SLOW = "takes longer than {seconds:g} s to read"
TOO_MUCH_MEMORY = "needs more than {memory} MiB of memory to be read"
NOT_NOW = "cannot be read now, because many files are being read. Try again in a minute"

_pool = ProcessPool(lambda: 1, waiting=MAX_WAITING_FILES, limits=LIMITS)
os.register_at_fork(after_in_child=_pool.forget)


@contextmanager
def reading_in_pool() -> Iterator[None]:
    """Let `data_limits.read_foreign` parse data in the child process within the block."""
    with reading_with(read_in_pool):
        yield


def read_in_pool(read: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Return `read(*arguments)`, computed in the child process. Raises the errors of `read`, and
    DataLimitError if reading takes too long, needs too much memory, or if too many files wait."""
    limits = _pool.limits
    try:
        return _pool.submit(read, *arguments).result()
    except ChildTimeoutError:
        raise DataLimitError(TOO_SLOW.format(seconds=limits.seconds)) from None
    except (ChildMemoryError, ChildDiedError):  # the system may kill a child that needs much memory
        raise DataLimitError(TOO_MUCH_MEMORY.format(memory=limits.memory // 2**20)) from None
    except (BusyError, OSError):
        raise DataLimitError(NOT_NOW) from None
