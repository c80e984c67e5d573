"""Give processes names, check whether they run, read their memory, and end children with their parent.

The module also reads from environment variables how many processes to start, and raises ValueError if such a
variable is not a valid number. Whether a process runs is read from `/proc`. On systems without `/proc`, an
ended process goes unnoticed. The module does not import Django.
"""

from __future__ import annotations

import contextlib
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
    """Return a name of this process that no other process has: boot id, namespace, process id and start
    time, separated by `/`. Empty without `/proc`."""
    place, pid = _place(), os.getpid()
    started = _started(pid)
    return f"{place}/{pid}/{started}" if place and started else ""


def process_is_gone(name: str) -> bool:
    """Return whether a process has certainly ended. `name` is the result of `process_name`. False if the
    process runs, or may run on another machine or in another container."""
    pid, started = _seen_from_here(name)
    return pid > 0 and _started(pid) != started


def process_is_here(name: str) -> bool:
    """Return whether a process certainly runs. `name` is the result of `process_name`. False if the process
    has ended, or is on another machine or in another container."""
    pid, started = _seen_from_here(name)
    return pid > 0 and _started(pid) == started


def _seen_from_here(name: str) -> tuple[int, str]:
    """Return the process id and start time in a process name. The id is 0 if the process cannot be seen from
    here."""
    rest, _, started = name.rpartition("/")
    place, _, pid = rest.rpartition("/")
    return (int(pid) if place and place == _place() and pid.isdecimal() else 0), started


def machine_run_of(name: str) -> str:
    """Return the boot id in this process name. It identifies the machine and its last start."""
    return name.partition("/")[0]


def current_machine_run() -> str:
    """Return the boot id of this machine, which changes at each start. Empty if the system does not
    provide it."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _place() -> str:
    """Return a text that identifies where this process runs: the machine's boot id and the process id
    namespace."""
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


TICKER_NICENESS = -5
"""Niceness of processes that take the steps of timed episodes: people see late ticks."""


def raise_priority(niceness: int) -> None:
    """Give this process at most this niceness, if the system allows it (`LimitNICE` in systemd)."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(niceness, os.getpriority(os.PRIO_PROCESS, 0)))


def own_memory(pid: int) -> int:
    """Return how many bytes of memory this process shares with no other one. 0 if it has ended, and without
    `/proc`. A forked process shares the code that its parent had loaded."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Let the system send this process the signal `number` when the thread that started it ends (Linux
    only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(number))


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends first (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def name_process(name: str) -> None:
    """Set the name of this process that `ps -A` and `top` show, at most 15 bytes of it (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode()[:15])


def parent_death_hook(parent: int) -> Callable[[], None]:
    """Return a function that a child process must call first. It makes the system kill the child when the
    process `parent` ends. It exits if `parent` has already ended."""

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
    """Return how many processes serve pages and websockets on this machine (`BRIGADE_WEB`). By default one
    per core, at most 8."""
    return _number("BRIGADE_WEB", min(usable_cores(), MAX_WEB_PROCESSES))


def ticker_processes() -> int:
    """Return how many clock processes for real-time episodes run on this machine (`BRIGADE_TICKERS`). By
    default one per core, from 2 to 8."""
    return _number("BRIGADE_TICKERS", min(max(2, usable_cores()), MAX_WEB_PROCESSES))


def planner_processes() -> int:
    """Return how many child processes of one web process run agents (`BRIGADE_PLANNERS`). By default the
    cores are divided among the web processes."""
    return _number("BRIGADE_PLANNERS", max(1, usable_cores() // web_processes()))


def _number(name: str, default: int) -> int:
    given = os.environ.get(name, "").strip()
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= MAX_PROCESSES):
        raise ValueError(f"{name}: {given!r} is not a number from 1 to {MAX_PROCESSES}")
    return int(given)
