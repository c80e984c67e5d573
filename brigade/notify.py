"""Telling whoever started this process that it does its work: `NOTIFY_SOCKET`, as systemd has it
(sd_notify(3), `Type=notify`) and `make run`, too. Plain Python."""

from __future__ import annotations

import contextlib
import os
import socket

READY = b"READY=1"


def say_ready() -> None:
    """Once, when all is loaded; nothing where nobody wants to know."""
    if where := os.environ.get("NOTIFY_SOCKET"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(READY, f"\0{where[1:]}" if where.startswith("@") else where)
