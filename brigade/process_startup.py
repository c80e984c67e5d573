"""Prepare a server process: share its metrics, share one heap between threads, report it as ready.

glibc gives threads up to eight heaps per core, and each keeps the largest size it ever had. With a dozen
threads a worker grew by ten megabytes in ten minutes, all of it free memory. Readiness is reported over
`NOTIFY_SOCKET`, as systemd wants it (sd_notify(3), `Type=notify`). No Django.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import socket

from brigade import paths


def share_metrics() -> None:
    """Count this process's metrics together with those of the other processes, in files of
    `paths.metrics_dir()`. Call this before anything is counted. If the folder cannot be written, a warning is
    logged and `/metrics` omits this process."""
    from kitchen.infra import multiprocess_metrics  # only processes that count need it

    try:
        multiprocess_metrics.share_metrics(paths.metrics_dir())
    except OSError as error:
        message = "what this process does is not in /metrics: %s"
        logging.getLogger(__name__).warning(message, paths.unwritable_message(paths.metrics_dir(), error))


MAX_FREE_BYTES = 131_072
"""Free bytes from which memory is returned to the system, at the end of the heap and as a block."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""The numbers of these options in glibc's malloc.h."""


def share_one_heap() -> None:
    """Let all threads that start from now on share one heap. C libraries other than glibc are not changed."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in (
            (_ARENA_MAX, 1),
            (_TRIM_THRESHOLD, MAX_FREE_BYTES),
            (_MMAP_THRESHOLD, MAX_FREE_BYTES),
        ):
            mallopt(option, value)


READY = b"READY=1"


def report_ready() -> None:
    """Report once that the process is ready; do nothing without `NOTIFY_SOCKET`."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(READY, f"\0{address[1:]}" if address.startswith("@") else address)
