"""Identify processes, end them with their parent, and decide how many to start. No Django.

Every process has a name, from which other processes of the machine see whether it still runs. Where the
system has no `/proc`, none is reported as gone. The numbers of processes come from the environment. A wrong
value raises a ValueError whose message is one line.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NUMBERS = Path("/proc/self/ns/pid")
_STATE, _STARTED = 0, 19
"""Fields of `/proc/PID/stat` after the program's name."""


def process_name() -> str:
    """Return `boot/namespace/pid/start`, unique also among containers; empty if the system lacks it."""
    place, pid = _place(), os.getpid()
    started = _started(pid)
    return f"{place}/{pid}/{started}" if place and started else ""


def process_is_gone(name: str) -> bool:
    """Return True if this process has certainly ended; False for one that cannot be seen from here."""
    pid, started = _seen_from_here(name)
    return pid > 0 and _started(pid) != started


def process_is_here(name: str) -> bool:
    """Return True if the process of this name certainly runs. False for one that cannot be seen from here."""
    pid, started = _seen_from_here(name)
    return pid > 0 and _started(pid) == started


def _seen_from_here(name: str) -> tuple[int, str]:
    """Return pid and start time in this name; the pid is 0 if the process cannot be seen from here."""
    rest, _, started = name.rpartition("/")
    place, _, pid = rest.rpartition("/")
    return (int(pid) if place and place == _place() and pid.isdecimal() else 0), started


def machine_run_of(name: str) -> str:
    """Return the boot id of the machine on which the process of this name runs."""
    return name.partition("/")[0]


def current_machine_run() -> str:
    """Return the boot id of this machine. Empty if the system does not provide it."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _place() -> str:
    """Return the boot id of this machine and this process's process id namespace."""
    try:
        return f"{_BOOT.read_text().strip()}/{_NUMBERS.readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Return the start time of the process in kernel ticks. Empty if it does not exist or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[_STATE] in "ZX" else fields[_STARTED]


PR_SET_PDEATHSIG = 1


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Send this process the signal when the thread that started it ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))


def parent_death_hook(parent: int) -> Callable[[], None]:
    """Return a function for a child to call first: it dies with this parent, even if already gone."""

    def tie() -> None:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    return tie


MAX_PROCESSES = 64
"""Maximum number of processes of one kind that can be configured."""
MAX_WEB_PROCESSES = 8
"""Maximum number of web processes by default. Each takes memory even without visitors."""


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def web_processes() -> int:
    """Return `BRIGADE_WEB`: the number of processes that serve pages and websockets on this machine."""
    return _number("BRIGADE_WEB", min(usable_cores(), MAX_WEB_PROCESSES))


def ticker_processes() -> int:
    """Return `BRIGADE_TICKERS`: clock processes on this machine, at least two by default."""
    return _number("BRIGADE_TICKERS", min(max(2, usable_cores()), MAX_WEB_PROCESSES))


def planner_processes() -> int:
    """Return `BRIGADE_PLANNERS`: the number of child processes in which one web process runs agents."""
    return _number("BRIGADE_PLANNERS", max(1, usable_cores() // web_processes()))


def _number(name: str, default: int) -> int:
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= MAX_PROCESSES):
        raise ValueError(f"{name}: {given!r} is not a number from 1 to {MAX_PROCESSES}")
    return int(given)
