"""Run one child process of `process_pool`: `python -m kitchen.infra.process_pool_worker LINE PARENT`.

`LINE` is the file descriptor of the connection to the parent, and `PARENT` is the parent's process id. The
child answers one call at a time until the connection closes. It ignores the signals SIGINT, SIGTERM and
SIGHUP, because the parent may still need it. Imports no Django.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import sys
from multiprocessing.connection import Connection

from kitchen.infra.log_context import with_location
from kitchen.infra.os_processes import parent_death_hook


def main(line: int, parent: int) -> None:
    """Answer calls from the file descriptor `line` until the connection closes, or until the process
    `parent` ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent_death_hook(parent)()
    with Connection(line) as calls, contextlib.suppress(EOFError, OSError):
        while True:
            calls.send_bytes(run_call(calls.recv_bytes()))


def run_call(request: bytes) -> bytes:
    """Run a pickled (function, arguments) pair. Return (True, result) or (False, error), pickled."""
    try:
        function, arguments = pickle.loads(request)  # noqa: S301 - of our own parent
        return pickle.dumps((True, function(*arguments)), pickle.HIGHEST_PROTOCOL)
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
    main(int(sys.argv[1]), int(sys.argv[2]))
