"""Read and replay files from outside in child processes, with limits of time and memory. Imports no Django.

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
REPLAY_LIMITS = ChildLimits(seconds=30.0, memory=2**30, nice=10)
"""Limits of a replay. They include loading the app in a new child process, which takes some seconds."""
MAX_WAITING_FILES = 50
"""Maximum number of files that wait to be read in one server process."""
MAX_WAITING_REPLAYS = 2
"""Maximum number of replays that wait in one server process. With the one that runs, they leave a thread for
the other pages of staff (`server_limits.MOST_AT_ONCE`)."""

TOO_SLOW = "takes longer than {seconds:g} s to read"
TOO_MUCH_MEMORY = "needs more than {memory} MiB of memory to be read"
NOT_NOW = "cannot be read now, because many files are being read. Try again in a minute"

_pool = ProcessPool(lambda: 1, waiting=MAX_WAITING_FILES, limits=LIMITS)
_replay_pool = ProcessPool(lambda: 1, waiting=MAX_WAITING_REPLAYS, limits=REPLAY_LIMITS)
for _each in (_pool, _replay_pool):
    os.register_at_fork(after_in_child=_each.forget)


@contextmanager
def reading_in_pool() -> Iterator[None]:
    """Let `data_limits.read_foreign` and `replay_foreign` run in child processes within the block."""
    with reading_with(read_in_pool, replay_in_pool):
        yield


def read_in_pool(read: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Return `read(*arguments)`, computed in the child process. Raises the errors of `read`, and
    DataLimitError if reading takes too long, needs too much memory, or if too many files wait."""
    return _run_in(_pool, read, *arguments)


def replay_in_pool(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Return `function(*arguments)`, computed in the child process for replays. Raises like
    `read_in_pool`."""
    return _run_in(_replay_pool, function, *arguments)


def _run_in(pool: ProcessPool, read: Callable[[*Ts], T], *arguments: *Ts) -> T:
    limits = pool.limits
    try:
        return pool.submit(read, *arguments).result()
    except ChildTimeoutError:
        raise DataLimitError(TOO_SLOW.format(seconds=limits.seconds)) from None
    except (ChildMemoryError, ChildDiedError):  # the system may kill a child that needs much memory
        raise DataLimitError(TOO_MUCH_MEMORY.format(memory=limits.memory // 2**20)) from None
    except (BusyError, OSError):
        raise DataLimitError(NOT_NOW) from None
