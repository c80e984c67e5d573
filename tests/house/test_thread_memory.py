"""Threads that work one after the other need memory once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

THREADS, MEGABYTES = 12, 4
WORK = f"""
import threading
from pathlib import Path
from brigade.process_startup import share_one_heap

def mine():
    line, = (line for line in Path("/proc/self/smaps_rollup").open() if line.startswith("Anonymous:"))
    return int(line.split()[1]) // 1024

def work(turn):
    with turn:
        pieces = [bytearray(1024) for _ in range({MEGABYTES} * 1024)]
        kept.append(pieces.pop())
        del pieces
    done.wait()

kept, turn, done = [], threading.Lock(), threading.Barrier({THREADS} + 1)
{{}}
before = mine()
threads = [threading.Thread(target=work, args=(turn,)) for _ in range({THREADS})]
[thread.start() for thread in threads]
done.wait()
[thread.join() for thread in threads]
print(mine() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads /proc")
def test_threads_that_work_one_after_the_other_need_memory_once() -> None:
    alone, together = (held_after(first) for first in ("", "share_one_heap()"))
    assert together < 2 * MEGABYTES
    assert alone > 2 * together, "there is another C library: does it need this?"


def held_after(first: str) -> int:
    """Megabytes that are still held when all threads have let go of all but a piece."""
    return int(subprocess.check_output([sys.executable, "-c", WORK.format(first)], text=True))
