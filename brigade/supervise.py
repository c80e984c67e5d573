"""Children that are kept alive: started, watched, started again when they die, stopped all together.

One thread and no event loop: `Keeper.watch` sleeps until a signal comes (a child's end is one) or a restart
is due. Each child leads a process group of its own, so that Ctrl-C in the terminal reaches the runner alone,
and is killed by the system when the runner dies, however it dies (Linux).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Self

STEADY = 10.0
"""Seconds after which a child counts as running well: its next death is its first again."""
LONGEST_WAIT = 10.0
"""Seconds between two starts of a child that dies again and again."""
LARGEST_LOG = 5_000_000
"""Bytes of a log after which it is put aside as `<name>.log.1` when its child starts."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that stop everything."""

_PR_SET_PDEATHSIG = 1
_prctl: Callable[..., int] | None = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """From now on this process gets this signal when the process that started it ends (Linux only)."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, int(number))


def tied_to(parent: int) -> Callable[[], None]:
    """What a child does before it becomes its program: die with this parent, even if it is gone already."""

    def tie() -> None:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    return tie


def waiting_time(deaths: int) -> float:
    """Seconds before the next start after so many deaths in a row: none, then 0.5 doubling to the longest."""
    return 0.0 if deaths <= 1 else min(LONGEST_WAIT, 0.5 * 2 ** min(deaths - 2, 10))


@dataclass(eq=False)
class Child:
    """One program that is to be running."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    keep: tuple[int, ...] = ()
    """File descriptors that it inherits under the same numbers."""
    rank: int = 1
    """The highest are stopped first."""
    patience: float = 5.0
    """Seconds it may take to end when it is asked to."""
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    """How often it died without having run well in between."""
    due: float | None = None
    """When to start it again, on the monotonic clock; None while it runs."""

    @property
    def running(self) -> bool:
        """True while its process has not ended."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the program; OSError if it cannot be."""
        with open_log(self.log) as log:
            self.process = spawn(self.command, self.environment, output=log, keep=self.keep)
        self.started, self.due = time.monotonic(), None

    def note_death(self) -> str:
        """Book its end and when it is started again; the line that says so."""
        now = time.monotonic()
        self.deaths = 1 if now - self.started > STEADY else self.deaths + 1
        wait = waiting_time(self.deaths)
        self.due = now + wait
        when = f"starting it again in {wait:g} s" if wait else "starting it again"
        return f"{self.name} {how_it_ended(self.process)}: {when}"

    def tell(self, number: int) -> None:
        """Send a signal to it and to all that it started."""
        if self.process is not None and self.running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


def spawn(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    output: IO[bytes] | int,
    errors: IO[bytes] | int | None = None,
    keep: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """A process in a group of its own that dies with this one; to be called from the main thread."""
    return subprocess.Popen(  # noqa: S603 - the callers' own programs
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output if errors is None else errors,
        pass_fds=keep,
        process_group=0,
        preexec_fn=tied_to(os.getpid()),
    )


def how_it_ended(process: subprocess.Popen[bytes] | None) -> str:
    """A process's end in words."""
    code = process.poll() if process is not None else None
    if code is None:
        return "did not start"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with code {code}"


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


class Signals:
    """While entered, endings are counted and every signal (a child's end too) wakes `wait`."""

    def __init__(self) -> None:
        self.endings = 0
        """How often this process was asked to end."""

    def __enter__(self) -> Self:
        self._ear, self._mouth = socket.socketpair()
        self._ear.setblocking(False)
        self._mouth.setblocking(False)
        self._fd_before = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._before: dict[int, Any] = {number: signal.signal(number, self._count) for number in ENDINGS}
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._fd_before)
        self._ear.close()
        self._mouth.close()

    def _count(self, number: int, frame: FrameType | None) -> None:
        self.endings += 1

    def wait(self, seconds: float | None) -> None:
        """Sleep until a signal comes or the time is over (None: until a signal comes)."""
        select.select([self._ear], [], [], None if seconds is None else max(0.0, seconds))
        with contextlib.suppress(BlockingIOError):
            self._ear.recv(4096)


@dataclass
class Keeper:
    """Keeps its children alive until this process is asked to end. `say` takes lines for who looks on."""

    signals: Signals
    say: Callable[[str], None]
    children: list[Child] = field(default_factory=list)

    @property
    def ending(self) -> bool:
        """True once this process was asked to end."""
        return self.signals.endings > 0

    def add(self, child: Child) -> None:
        """Start a child and keep it from now on."""
        self.children.append(child)
        child.start()

    def watch(self, until: Callable[[], bool] | None = None, every: float | None = None) -> None:
        """Keep the children alive until asked to end or, asked after each signal and `every` so many
        seconds, `until` says so."""
        while not self.ending and not (until and until()):
            self._look_after()
            self.signals.wait(self._next_wait(every))

    def _look_after(self) -> None:
        for child in self.children:
            if child.due is None and not child.running:
                self._report(child)
            if child.due is not None and child.due <= time.monotonic():
                child.start()

    def _report(self, child: Child) -> None:
        """Say that it died and, where nobody killed it, what it last said."""
        self.say(child.note_death())
        if child.process is not None and (child.process.returncode or 0) >= 0:
            for line in last_lines(child.log):
                self.say(f"  {child.name}: {line}")

    def _next_wait(self, every: float | None) -> float | None:
        now = time.monotonic()
        waits = [child.due - now for child in self.children if child.due is not None]
        return min(waits + ([every] if every is not None else []), default=None)

    def stop(self) -> None:
        """End all children, the highest rank first; those that take too long, or all when this process is
        asked to end once more, are killed."""
        for rank in sorted({child.rank for child in self.children}, reverse=True):
            self._stop([child for child in self.children if child.rank == rank])

    def _stop(self, children: Iterable[Child]) -> None:
        open_ones = [child for child in children if child.running]
        asked, begun = self.signals.endings, time.monotonic()
        for child in open_ones:
            child.tell(signal.SIGTERM)
        while any(child.running for child in open_ones):
            hurried = self.signals.endings > max(asked, 1)
            for child in open_ones:
                if hurried or time.monotonic() - begun > child.patience:
                    child.tell(signal.SIGKILL)
            self.signals.wait(0.1)
