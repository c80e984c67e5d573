"""Keep child processes running: restart them when they die, end them together, and replace them one at a
time during an update.

To replace a process, the new one is started beside the old one. The old one is asked to end only when
the new one reports that it is ready (`brigade.process_startup`). So there is never one process too few.

No existing tool met all requirements of `make run` (tried in November 2026). honcho ends everything when
one program ends. supervisor starts nothing in its first second, lets go of the listening socket when
daphne dies, and leaves its children behind when it is killed. circus restarts a program that cannot run
every second, for ever. A thread of its own waits for each child.
"""

from __future__ import annotations

import asyncio
import contextlib
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
from typing import IO

from brigade.process_startup import READY
from kitchen.infra.os_processes import parent_death_hook

STEADY = 10.0
"""Seconds after which a child counts as running well: its next death is its first again."""
LONGEST_WAIT = 10.0
"""Seconds between two starts of a child that ends by itself again and again."""
KILLED_WAIT = 0.5
"""Seconds before the next start of a child that somebody killed again and again: the kill is no fault of its
own, and people wait for it."""
KILLS = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""What ends a child comes from somebody else then, such as the system where memory runs out."""
LARGEST_LOG = 5_000_000
"""Bytes of a log after which it is put aside as `<name>.log.1` when its child starts."""


@dataclass(eq=False)
class ChildProcess:
    """One program that is to be running."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    keep: tuple[int, ...] = ()
    """File descriptors that it inherits under the same numbers."""
    heard: bool = False
    """Whether it prints where we do; only what it complains of goes to the log then."""
    patience: float = 5.0
    """Seconds it may take to end when it is asked to."""
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    """How often it died without having run well in between, but for those times at which it was killed."""

    @property
    def running(self) -> bool:
        """True while its process has not ended."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the program, from the main thread: the system kills it when that ends. OSError."""
        with open_log(self.log) as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own programs
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=None if self.heard else log,
                stderr=log,
                pass_fds=self.keep,
                process_group=0,
                preexec_fn=parent_death_hook(os.getpid()),
            )
        return self.process

    def tell(self, number: int) -> None:
        """Send a signal to it and to all that it started."""
        if self.process is not None and self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


async def keep_running(child: ChildProcess, say: Callable[[str], None]) -> None:
    """Run it, again and again, until cancelled; it has ended then. `say` takes lines for who looks on."""
    clock = asyncio.get_running_loop().time
    while True:
        began, code = clock(), await run_once(child)
        steady = clock() - began > STEADY
        child.deaths = (0 if steady else child.deaths) + (not was_killed(code))
        wait = restart_delay(child.deaths) if not was_killed(code) else 0.0 if steady else KILLED_WAIT
        say(f"{child.name} {describe_exit(code)}: starting it again" + (f" in {wait:g} s" if wait else ""))
        for line in last_lines(child.log) if code >= 0 else []:
            say(f"  {child.name}: {line}")
        await asyncio.sleep(wait)


async def run_once(child: ChildProcess) -> int:
    """Run it to its end; its exit code. Cancelled, it is asked to end, and killed where it takes too long."""
    ended = asyncio.wrap_future(exit_code_of(child.start()))
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        child.tell(signal.SIGTERM)
        await asyncio.wait([ended], timeout=child.patience)
        child.tell(signal.SIGKILL)
        await ended
        raise


def exit_code_of(process: subprocess.Popen[bytes]) -> Future[int]:
    """Its exit code, once it has ended. No pool waits for it: children who live long would take all its
    threads, and nobody would hear of the end of the next one."""
    code: Future[int] = Future()
    code.set_running_or_notify_cancel()
    Thread(target=lambda: code.set_result(process.wait()), daemon=True).start()
    return code


def restart_delay(deaths: int) -> float:
    """Seconds before the next start after so many deaths in a row: none, then 0.5 doubling to the longest."""
    return 0.0 if deaths <= 1 else min(LONGEST_WAIT, 0.5 * 2 ** min(deaths - 2, 10))


def was_killed(code: int) -> bool:
    """Whether somebody else ended a process that ended with this code."""
    return -code in KILLS


def describe_exit(code: int) -> str:
    """A process's end in words."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def open_log(file: Path) -> IO[bytes]:
    """The log, open for more lines; one that grew large is put aside first."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists() and file.stat().st_size > LARGEST_LOG:
        file.replace(file.with_name(file.name + ".1"))
    return file.open("ab")


def last_lines(file: Path, count: int = 5) -> list[str]:
    """The last lines of a log that say something, without reading all of it."""
    with contextlib.suppress(OSError), file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - 8192))
        text = stream.read().decode(errors="replace")
        return [line for line in text.splitlines() if line.strip()][-count:]
    return []


START_SECONDS = 120.0
"""A program that does not work after so long will not come up."""
LAST_SECONDS = 90.0
"""An old one may take so long to finish what it does: longer than a decision takes."""


class ProcessGroup:
    """Programs that run in a task group; `say` takes lines for who looks on."""

    def __init__(self, group: asyncio.TaskGroup, say: Callable[[str], None]) -> None:
        self._group, self._say = group, say
        self._kept: dict[str, tuple[ChildProcess, asyncio.Task[None]]] = {}

    def keep(self, child: ChildProcess) -> None:
        """One more, or another one in place of that of this name."""
        self._kept[child.name] = child, self._group.create_task(keep_running(child, self._say))

    async def exchange(self) -> bool:
        """Have new ones in place of all; False where one does not come up: it is left out, and the old ones
        go on from there."""
        for child, task in list(self._kept.values()):
            with readiness_socket() as (line, environment):
                self.keep(
                    replace(child, process=None, deaths=0, environment={**child.environment, **environment})
                )
                if not await wait_until_ready(line):
                    self._say(f"{child.name}: no new one comes up, see {child.log}; the old one stays")
                    self._kept[child.name][1].cancel()
                    self._kept[child.name] = child, task
                    return False
            child.patience = LAST_SECONDS
            task.cancel()
            await asyncio.wait([task])
            self._say(f"{child.name}: a new one has taken over")
        return True


@contextmanager
def readiness_socket() -> Iterator[tuple[socket.socket, dict[str, str]]]:
    """Where a program can say that it works, and the environment that tells it."""
    with tempfile.TemporaryDirectory(prefix="brigade-") as folder:  # its path is short enough for a socket
        where = os.path.join(folder, "notify")  # noqa: PTH118 - what the environment takes is a text
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.bind(where)
            line.setblocking(False)
            yield line, {"NOTIFY_SOCKET": where}


async def wait_until_ready(line: socket.socket) -> bool:
    """Whether the program that was told of this line says in time that it works."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START_SECONDS):
            while await asyncio.get_running_loop().sock_recv(line, 256) != READY:
                pass
            return True
    return False
