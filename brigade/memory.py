"""Memory that threads share, and that goes back to the system. Plain Python.

glibc gives threads heaps of their own, eight for each core, and each of them keeps what it held at most. Web
processes and workers have a dozen threads and more, of which Python lets one work at a time. So what a thread
once needed for a moment (to seal an episode, to make a page) lay there unused for good, in one heap after the
other: a worker grew by ten megabytes in as many minutes, all of it free memory.
"""

from __future__ import annotations

import ctypes

KEPT = 131_072
"""Free bytes at the end of the heap from which on they go back; a piece that is as large goes back as soon as
it is not needed."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Their numbers in glibc's malloc.h."""


def share_one_heap() -> None:
    """All threads that this program starts from now on share one heap. Other C libraries than glibc are left
    as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in ((_ARENA_MAX, 1), (_TRIM_THRESHOLD, KEPT), (_MMAP_THRESHOLD, KEPT)):
            mallopt(option, value)
