"""Which process this is, in a way that another process on the machine can tell whether it is still there.

Plain Python. Where the system has no `/proc`, nobody is ever said to be gone.
"""

from __future__ import annotations

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS = Path("/proc/self/ns/pid")
_STATE, _STARTED = 0, 19
"""Fields of `/proc/PID/stat` behind the program's name."""


def process_name() -> str:
    """`boot/numbering/pid/start`: no other process ever has it, here or in a container beside. Empty where
    the system does not tell."""
    place, pid = _place(), os.getpid()
    started = _started(pid)
    return f"{place}/{pid}/{started}" if place and started else ""


def process_is_gone(name: str) -> bool:
    """Whether the process of this name has certainly ended. False for one that cannot be seen from here."""
    place, _, started = name.rpartition("/")
    place, _, pid = place.rpartition("/")
    if not place or place != _place() or not pid.isdecimal():
        return False
    return _started(int(pid)) != started


def process_is_here(name: str) -> bool:
    """Whether the process of this name certainly runs."""
    place, _, started = name.rpartition("/")
    place, _, pid = place.rpartition("/")
    return bool(place and started) and place == _place() and pid.isdecimal() and _started(int(pid)) == started


def _place() -> str:
    """This run of this machine, and the numbering of processes that we are in."""
    try:
        return f"{_BOOT.read_text().strip()}/{_NUMBERS.readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When the process began, in the kernel's count; empty if there is none, or only its remains."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[_STATE] in "ZX" else fields[_STARTED]
