"""Prepare a server process: share one heap between its threads, and share its metrics. Plain Python.

glibc gives threads up to eight heaps per core, and each keeps the largest size it ever had. With a dozen
threads a worker grew by ten megabytes in ten minutes, all of it free memory.
"""

from __future__ import annotations

import ctypes
import logging

from brigade import paths


def share_metrics() -> None:
    """Share this process's metrics; call this before anything is counted. If the folder cannot be written,
    the process counts alone and logs a warning."""
    from kitchen.infra import multiprocess_metrics  # only processes that count need it

    try:
        multiprocess_metrics.share_metrics(paths.metrics_dir())
    except OSError as error:
        said = "what this process does is not in /metrics: %s"
        logging.getLogger(__name__).warning(said, paths.unwritable_message(paths.metrics_dir(), error))


KEPT = 131_072
"""Free bytes from which memory is returned to the system, at the end of the heap and as a block."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""The numbers of these options in glibc's malloc.h."""


def share_one_heap() -> None:
    """Let all threads that start from now on share one heap. C libraries other than glibc are not changed."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in ((_ARENA_MAX, 1), (_TRIM_THRESHOLD, KEPT), (_MMAP_THRESHOLD, KEPT)):
            mallopt(option, value)
