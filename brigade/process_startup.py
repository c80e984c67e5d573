"""Prepare a process when it starts: share its metrics, limit its memory and threads, and report that it is
ready.

The metrics of all processes are stored in one folder and added up. All threads use one heap, because separate
heaps grow large. The process reports that it is ready over the socket `NOTIFY_SOCKET`, as systemd expects
(sd_notify(3), `Type=notify`). The module does not import Django.
"""

# glibc gives threads up to eight heaps per core, and each keeps its largest size. With a dozen threads, a
# worker grew by ten megabytes of unused memory in ten minutes. Readiness is reported over `NOTIFY_SOCKET`, as
# systemd expects (sd_notify(3), `Type=notify`). The module does not import Django.

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import socket

from brigade import paths


def share_metrics() -> None:
    """Store this process's metrics in the folder `paths.metrics_dir()`, where those of all processes are
    summed. Call this before anything is counted. If the folder cannot be written, a warning is logged, and
    `/metrics` omits this process."""
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
    """Let all threads that start from now on share one heap. This works with glibc only."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in (
            (_ARENA_MAX, 1),
            (_TRIM_THRESHOLD, MAX_FREE_BYTES),
            (_MMAP_THRESHOLD, MAX_FREE_BYTES),
        ):
            mallopt(option, value)


def use_one_blas_thread() -> None:
    """Let NumPy and SciPy compute in one thread, unless `OPENBLAS_NUM_THREADS` says otherwise. Call this
    before they are imported.

    The matrices of an analysis are small. With a thread for each core, it takes twice the processor time,
    because the threads wait for each other in busy loops.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


READY = b"READY=1"


def report_ready() -> None:
    """Report once that the process is ready. Do nothing if `NOTIFY_SOCKET` is not set."""
    if address := os.environ.get("NOTIFY_SOCKET"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(READY, f"\0{address[1:]}" if address.startswith("@") else address)
