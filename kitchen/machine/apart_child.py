"""`python -m kitchen.machine.apart_child LINE PARENT`: answers what `kitchen/machine/apart.py` sends.

`LINE` is the number of an open socket. One call at a time is answered, until the parent is gone. Plain
Python.

Signals that ask it to end are not for it: they reach the whole group, and its parent may still need it.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import sys
from multiprocessing.connection import Connection

from kitchen.machine.failures import noted
from kitchen.machine.parent import tied_to


def main(line: int, parent: int) -> None:
    """Answer until the line is closed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tied_to(parent)()
    with Connection(line) as calls, contextlib.suppress(EOFError, OSError):
        while True:
            calls.send_bytes(answered(calls.recv_bytes()))


def answered(asked: bytes) -> bytes:
    """What came out of a call: (True, its result) or (False, what it raised)."""
    try:
        function, arguments = pickle.loads(asked)  # noqa: S301 - of our own parent
        return pickle.dumps((True, function(*arguments)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return failed(noted(error))


def failed(error: Exception) -> bytes:
    """What was raised, which says where; in its place, where it cannot be sent, one that says what it was."""
    try:
        sent = pickle.dumps((False, error))
        pickle.loads(sent)  # noqa: S301 - our own; some can be pickled and not be made again
    except Exception:
        return pickle.dumps((False, noted(RuntimeError(type(error).__name__), like=error)))
    return sent


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
