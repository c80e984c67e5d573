"""Keep child processes running: restart them when they end, stop them, or replace them one at a time.

A process that uses too much memory is replaced, too.

To replace a process, the supervisor first starts a new one. It stops the old process when the new one reports
that it is ready. In November 2026, existing supervisors (honcho, supervisor, circus) did not meet all
requirements.
"""

# To replace a process, a new one is started beside it. The old one is stopped once the new one reports that
# it is ready. No existing tool met all requirements (November 2026): honcho ends everything when one program
# ends; supervisor loses the listening socket when daphne dies, and leaves children when killed; circus
# restarts for ever each second.

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import IO, Protocol

from brigade.process_startup import READY
from kitchen.infra.os_processes import own_memory, parent_death_hook

STEADY = 10.0
"""Seconds after which a child counts as running well; its next death counts as its first."""
LONGEST_WAIT = 10.0
"""Maximum number of seconds before a child that keeps ending by itself is restarted."""
KILLED_WAIT = 0.5
"""Seconds before the restart of a child that is killed again and again, since people wait for it."""
KILLS = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""Signals that come from somebody else, such as the system when memory runs out."""
INTERRUPT_SECONDS = 5.0
"""Maximum number of seconds that a program has to end after Ctrl-C."""
LARGEST_LOG = 5_000_000
"""Bytes of a log from which it is moved to `<name>.log.1` when its child starts."""


class Process(Protocol):
    """A process as `subprocess` has it, as far as it is needed here."""

    @property
    def pid(self) -> int:
        """Return the process id."""

    @property
    def returncode(self) -> int | None:
        """Return the exit code that was last found."""

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return the exit code."""


@dataclass(eq=False)
class ChildProcess:
    """A program that must keep running, with its command, environment and log file."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    keep: tuple[int, ...] = ()
    """File descriptors that it inherits under the same numbers."""
    prints_output: bool = False
    """True if it prints to the output of this process; then only its errors go to the log."""
    seconds_to_end: float = 5.0
    """Seconds that it may take to end when asked."""
    interrupted: asyncio.Event | None = None
    """Set after Ctrl-C: it then has at most `INTERRUPT_SECONDS` to end."""
    most_memory: int | None = None
    """Bytes of memory of its own from which it is replaced. None if it may use any amount."""
    forked_by: Callable[[ChildProcess], Process | None] | None = None
    """Starts the program faster, by a fork, and returns None if it cannot (`fork_server`)."""
    process: Process | None = None
    log_start: int = 0
    """Size of the log, in bytes, when the program last started. Earlier starts wrote what is before."""
    deaths: int = 0
    """Number of deaths without a good run in between, not counting kills."""

    @property
    def running(self) -> bool:
        """Return True if the program's process is running."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> Process:
        """Start the program and return its process. Call this from the main thread, because the system kills
        the program when the calling thread ends.

        Raises OSError if it cannot be started.
        """
        with open_log(self.log) as log:
            self.log_start = log.tell()
            self.process = self.forked_by(self) if self.forked_by else None
            if self.process is not None:
                return self.process
            self.process = subprocess.Popen(  # noqa: S603 - our own programs
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=None if self.prints_output else log,
                stderr=log,
                pass_fds=self.keep,
                process_group=0,
                preexec_fn=parent_death_hook(os.getpid()),
            )
        return self.process

    def time_to_end(self) -> float:
        """Return how many seconds the program has to end after it was asked to."""
        hurried = self.interrupted is not None and self.interrupted.is_set()
        return min(self.seconds_to_end, INTERRUPT_SECONDS) if hurried else self.seconds_to_end

    def tell(self, number: int) -> None:
        """Send the signal with this number to the process and to all its children."""
        if self.process is not None and self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


_STARTED: set[int] = set()
"""Ids of the processes whose exit codes are waited for."""
ORPHAN_SECONDS = 2.0
"""Seconds between two looks for ended processes of others."""


async def collect_orphans() -> None:
    """Collect adopted processes that have ended, until this task is cancelled. They are children of programs
    that were killed; nobody else waits for them."""
    while True:
        await asyncio.sleep(ORPHAN_SECONDS)
        collect_ended_orphans()


def collect_ended_orphans() -> None:
    """Collect all ended child processes whose exit code nobody waits for."""
    with contextlib.suppress(ChildProcessError):  # there are no children
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in _STARTED:
                return  # its own thread collects it now; the others come with the next look
            os.waitpid(ended.si_pid, os.WNOHANG)


async def keep_running(child: ChildProcess, say: Callable[[str], None]) -> None:
    """Run the program, and restart it whenever it ends, until this task is cancelled. Then end the program.
    `say` prints lines at the terminal."""
    clock = asyncio.get_running_loop().time
    while True:
        began, code = clock(), await run_once(child)
        steady = clock() - began > STEADY
        child.deaths = (0 if steady else child.deaths) + (not was_killed(code))
        wait = restart_delay(child.deaths) if not was_killed(code) else 0.0 if steady else KILLED_WAIT
        say(f"{child.name} {describe_exit(code)}: starting it again" + (f" in {wait:g} s" if wait else ""))
        for line in last_lines(child.log, since=child.log_start) if code >= 0 else []:
            say(f"  {child.name}: {line}")
        await asyncio.sleep(wait)


async def run_once(child: ChildProcess) -> int:
    """Run the program once and return its exit code. If this asyncio task is cancelled, ask the program to
    end, and kill it if it does not. To cancel the task again does not extend that time."""
    clock = asyncio.get_running_loop().time
    ended = asyncio.wrap_future(exit_code_of(child.start()))
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        child.tell(signal.SIGTERM)
        asked = clock()
        while not ended.done() and (left := asked + child.time_to_end() - clock()) > 0:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([ended], timeout=left)
        child.tell(signal.SIGKILL)
        await ended
        raise


def exit_code_of(process: Process) -> Future[int]:
    """Return an asyncio future of the exit code of the process. A separate thread waits for the exit;
    long-lived processes would occupy all threads of a pool."""
    code: Future[int] = Future()
    code.set_running_or_notify_cancel()
    _STARTED.add(process.pid)

    def wait() -> None:
        code.set_result(process.wait())
        _STARTED.discard(process.pid)

    Thread(target=wait, daemon=True).start()
    return code


def restart_delay(deaths: int) -> float:
    """Return the number of seconds to wait before a program is restarted. `deaths` is how often it has ended
    in a row. The first restart is immediate. Later delays begin at 0.5 s and double up to a limit."""
    return 0.0 if deaths <= 1 else min(LONGEST_WAIT, 0.5 * 2 ** min(deaths - 2, 10))


def was_killed(code: int) -> bool:
    """Return True if this exit code shows that the process was killed from outside."""
    return -code in KILLS


def describe_exit(code: int) -> str:
    """Return how a process ended, as text: `was killed by SIGKILL`, `ended with code 1`."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def open_log(file: Path) -> IO[bytes]:
    """Return the log file, open for appending. A large log file is renamed first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and file.stat().st_size > LARGEST_LOG:
        file.replace(file.with_name(file.name + ".1"))
    return file.open("ab")


def last_lines(file: Path, count: int = 5, *, since: int = 0) -> list[str]:
    """Return the last `count` lines of a log that are not empty, without reading the whole file. Lines before
    the byte `since` are left out."""
    with contextlib.suppress(OSError), file.open("rb") as stream:
        stream.seek(max(since, file.stat().st_size - 8192))
        text = stream.read().decode(errors="replace")
        return [line for line in text.splitlines() if line.strip()][-count:]
    return []


START_SECONDS = 120.0
"""Seconds after which a program that is not ready is given up."""
REST_SECONDS = 600.0
"""Minimum number of seconds between two replacements of a program because of its memory."""
MEMORY_LOOK_SECONDS = 15.0
"""Seconds between two looks at the memory of all programs."""
LAST_SECONDS = 90.0
"""Seconds that an old program has to finish its work: longer than a decision takes."""


class ProcessGroup:
    """The programs that a task group keeps running. `say` prints lines for the person at the terminal.
    `forked_by` starts them by a fork if it can. `interrupted` is set after Ctrl-C."""

    def __init__(
        self,
        group: asyncio.TaskGroup,
        say: Callable[[str], None],
        forked_by: Callable[[ChildProcess], Process | None] | None = None,
        interrupted: asyncio.Event | None = None,
    ) -> None:
        self._group, self._say, self._forked_by, self._interrupted = group, say, forked_by, interrupted
        self._kept: dict[str, tuple[ChildProcess, asyncio.Task[None]]] = {}
        self._exchanging = asyncio.Lock()
        self._replaced_at: dict[str, float] = {}
        """When a program was last replaced because of its memory, by name."""

    def keep(self, child: ChildProcess) -> None:
        """Start a program and keep it running. An older process with the same name continues until the caller
        stops it."""
        child.forked_by, child.interrupted = self._forked_by, self._interrupted
        self._kept[child.name] = child, self._group.create_task(keep_running(child, self._say))

    async def watch_memory(self) -> None:
        """Replace programs whose memory grows too large (`replace_large`), until this task is cancelled."""
        while True:
            await asyncio.sleep(MEMORY_LOOK_SECONDS)
            await self.replace_large()

    async def exchange(self) -> bool:
        """Replace all programs by new processes, one after another. Return True if all were replaced.

        If a new process cannot start or does not become ready, it is stopped, the remaining old processes
        stay, and the result is False.
        """
        async with self._exchanging:
            for name in list(self._kept):
                if not await self._exchange_one(name):
                    return False
        return True

    async def replace_large(self) -> None:
        """Replace the programs that use more memory than they may (`most_memory`), as `exchange` does.

        Each is replaced at most once in `REST_SECONDS`, because it may need the memory for what it does.
        """
        for name in list(self._kept):
            if self._excessive_memory(name):
                async with self._exchanging:  # a restart may have replaced it meanwhile
                    if used := self._excessive_memory(name):
                        self._say(f"{name}: replacing it, because it uses {used // 2**20} MB of memory")
                        self._replaced_at[name] = asyncio.get_running_loop().time()
                        await self._exchange_one(name)

    def _excessive_memory(self, name: str) -> int:
        """Return how many bytes of memory the program uses if that is too much, and 0 otherwise. Also return
        0 if it was replaced for this reason in the last `REST_SECONDS`."""
        child, _ = self._kept[name]
        age = asyncio.get_running_loop().time() - self._replaced_at.get(name, -math.inf)
        if child.most_memory is None or child.process is None or age <= REST_SECONDS or not child.running:
            return 0
        used = own_memory(child.process.pid)
        return used if used > child.most_memory else 0

    async def _exchange_one(self, name: str) -> bool:
        child, task = self._kept[name]
        why = f"no new one comes up, see {child.log}"
        try:
            with readiness_socket() as (line, environment):
                fresh = {**child.environment, **environment}
                self.keep(replace(child, process=None, deaths=0, environment=fresh))
                is_ready = await wait_until_ready(line)
        except OSError as error:  # such as a full disk
            is_ready, why = False, f"no new one can be started: {error}"
        if not is_ready:
            self._say(f"{name}: {why}; the old one stays")
            if self._kept[name][1] is not task:
                self._kept[name][1].cancel()
            self._kept[name] = child, task
            return False
        child.seconds_to_end = max(child.seconds_to_end, LAST_SECONDS)
        task.cancel()
        await asyncio.wait([task])
        self._say(f"{name}: a new one has taken over")
        return True


@contextmanager
def readiness_socket() -> Iterator[tuple[socket.socket, dict[str, str]]]:
    """Context manager: yield a socket on which a program can report that it is ready, and the environment
    variables that name the socket."""
    with tempfile.TemporaryDirectory(prefix="brigade-") as folder:  # its path is short enough for a socket
        where = os.path.join(folder, "notify")  # noqa: PTH118 - the environment needs a text
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.bind(where)
            line.setblocking(False)
            yield line, {"NOTIFY_SOCKET": where}


async def wait_until_ready(line: socket.socket) -> bool:
    """Wait until the program reports on the socket `line` that it is ready. Return True then, or False if
    there is no report in time."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while await asyncio.get_running_loop().sock_recv(line, 256) != READY:
                pass
            return True
    return False
