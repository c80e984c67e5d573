"""Report over `NOTIFY_SOCKET` that a process is ready, as systemd wants it (sd_notify(3), `Type=notify`).

Plain Python.
"""

from __future__ import annotations

import contextlib
import os
import socket

READY = b"READY=1"


def say_ready() -> None:
    """Report once that the process is ready; do nothing without `NOTIFY_SOCKET`."""
    if where := os.environ.get("NOTIFY_SOCKET"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(READY, f"\0{where[1:]}" if where.startswith("@") else where)
