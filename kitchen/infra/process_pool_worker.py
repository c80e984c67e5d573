"""Run one child process of `process_pool`: `python -m kitchen.infra.process_pool_worker LINE PARENT MEMORY
NICE`.

`LINE` is the file descriptor of the connection to the parent, and `PARENT` is the parent's process id.
`MEMORY` and `NICE` are those of `process_pool.ChildLimits`. The child answers one call at a time until the
connection closes. It ignores the signals SIGINT, SIGTERM and SIGHUP, because the parent may still need it.
Imports no Django.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from kitchen.infra.log_context import with_location
from kitchen.infra.os_processes import name_process, parent_death_hook

FIRST_FILE = 3
"""The lowest file descriptor that is no standard stream."""
OUT_OF_MEMORY = pickle.dumps((False, MemoryError()))
"""The answer of a call that had not enough memory. It is made here, because then there is no memory left."""


def main(line: int, parent: int, memory: int, nice: int) -> None:
    """Answer calls from the file descriptor `line` until the connection closes, or until the process
    `parent` ends. `memory` and `nice` limit what this process may use."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent_death_hook(parent)()
    os.nice(nice)
    limit_memory(memory)
    with Connection(line) as calls, contextlib.suppress(EOFError, OSError):
        while True:
            calls.send_bytes(run_call(calls.recv_bytes()))


def run_forked(line: int, parent: int, memory: int, nice: int) -> None:
    """Answer calls as `main` does, in a process that was just forked. Close all files of the parent, except
    `line` and the standard streams."""
    gc.freeze()  # objects of the parent are not collected, as this could close its files a second time
    os.closerange(FIRST_FILE, line)
    os.closerange(line + 1, os.sysconf("SC_OPEN_MAX"))
    name_process("planner")
    main(line, parent, memory, nice)


def limit_memory(most: int) -> None:
    """Let this process allocate at most `most` more bytes, if the system can limit that. 0: no limit."""
    if most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (address_space() + most,) * 2)


def address_space() -> int:
    """Return the bytes of address space that this process uses. 0 if the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def run_call(request: bytes) -> bytes:
    """Run a pickled (function, arguments) pair. Return (True, result) or (False, error), pickled."""
    try:
        function, arguments = pickle.loads(request)  # noqa: S301 - of our own parent
        return pickle.dumps((True, function(*arguments)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return OUT_OF_MEMORY
    except Exception as error:
        return pickled_error(with_location(error))


def pickled_error(error: Exception) -> bytes:
    """Return the pickled pair (False, error), with the error's location. If the error cannot be pickled, a
    RuntimeError with the name of its type is used instead."""
    try:
        sent = pickle.dumps((False, error))
        pickle.loads(sent)  # noqa: S301 - some errors can be pickled but not restored
    except Exception:
        return pickle.dumps((False, with_location(RuntimeError(type(error).__name__), like=error)))
    return sent


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
